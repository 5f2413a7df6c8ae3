"""Opens a store, a folder of agents."""

import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload
from weakref import WeakValueDictionary

from recollex.api.agent import Agent
from recollex.api.argument_groups import ArgumentGroup
from recollex.api.jobs import read_mode
from recollex.api.joint_recalls import agent_ids, recall_together
from recollex.api.keys import Key, key_bytes
from recollex.api.progress import opening_bar, progress_bar
from recollex_engine import fork
from recollex_engine.agents import store as engine
from recollex_engine.agents.summary import AgentSummary
from recollex_engine.backup import backup
from recollex_engine.backup.backup import BackupRun
from recollex_engine.backup.target import BackupPlace, open_target
from recollex_engine.clock import system_clock, to_micros
from recollex_engine.dates.locales import DAY_FIRST
from recollex_engine.domain.checks import check_flag
from recollex_engine.errors import InputError
from recollex_engine.log.durability import Durability
from recollex_engine.models.embedder import Embedder
from recollex_engine.recall.joint_recall import JointRecall
from recollex_engine.storage.lock import absolute
from recollex_engine.text.type_rule import Naming
from recollex_engine.waiting import waiting
from recollex_kernels.machine.jit import tell_of_compiling
from recollex_mind.job_log import Mode

if TYPE_CHECKING:
    from recollex_engine.agents.agent import Agent as EngineAgent
    from recollex_mind.extraction import BackgroundExtraction
    from recollex_mind.llm.language_model import LanguageModel


# The arguments of `open` that count for the agents which are made through it.
class NewAgents(TypedDict, total=False):
    """The settings of new agents; an agent that exists keeps those that it was made with.

    language: for stemming and stop words. locale: a language tag. In "en-US" 5/7/2023 is 7 May, in
    every other locale 5 July, in questions and in retained texts; 25.12. and 12/25 are read in
    either.
    zone: in which days begin where a time has none of its own, "Europe/Paris" or "+02:00"; UTC, if
    not given.
    entity_rule: when two names are one entity. "alike": if they are alike by themselves and
    Memora's sum of likeness, company and recency (2.3.2) reaches 0.75. "memora": the sum alone, as
    printed; and names that differ in a legal form or a diminutive ("Google Inc" and "Google",
    "Bob" and "Robert") are one.
    """

    language: str
    locale: str
    zone: str | None
    entity_rule: Literal["alike", "memora"]


DEFAULTS: NewAgents = {
    "language": "english",
    "locale": DAY_FIRST,
    "zone": None,
    "entity_rule": "alike",
}
NEW_AGENTS = ArgumentGroup(
    NewAgents,
    dict(DEFAULTS),
    {
        "model": "embedder",
        "embedding_model": "embedder",
        "embedding_function": "embedder",
        "readonly": "read_only",
        "sync": "durability",
    },
)


# Say that kernels are compiled: what it takes, how to do it ahead, and that it goes on.
LONG = 1.0
"""Seconds of compiling that nothing is said about."""
MESSAGE = (
    "compiling kernels, about a minute of CPU, once for this version and processor; "
    "`recollex warmup` does it ahead"
)


class Announcement:
    """Says once that kernels are compiled, when that has taken `LONG` seconds; see `MESSAGE`.

    On a terminal it is a line on standard error, and another tells while they are compiled how
    long that has taken; elsewhere it is a warning of the logger "recollex". `started` and `ended`
    nest, as a kernel's compilation compiles the kernels that it calls.
    """

    def __init__(self) -> None:
        self.quiet: bool = False
        self._said = False
        self._depth = 0
        self._since = 0.0
        self._spent = 0.0
        self._shown = ExitStack()

    def started(self) -> None:
        """Note that a kernel is about to be compiled."""
        if self._depth == 0:
            self._since = time.monotonic()
            if not self.quiet:
                self._shown.enter_context(waiting(lambda: "compiling kernels"))
        self._depth += 1
        self._say_if_long()

    def ended(self) -> None:
        """Note that a kernel was compiled."""
        self._say_if_long()
        self._depth -= 1
        if self._depth == 0:
            self._spent += time.monotonic() - self._since
            self._shown.close()

    def _say_if_long(self) -> None:
        spent = self._spent + time.monotonic() - self._since
        if self._said or self.quiet or spent < LONG:
            return
        self._said = True
        if sys.stderr.isatty():
            print(f"\rrecollex: {MESSAGE}\x1b[K", file=sys.stderr)
        else:
            logging.getLogger("recollex").warning("%s", MESSAGE)


ANNOUNCEMENT = Announcement()
"""That of this process."""


@contextmanager
def unannounced() -> Iterator[None]:
    """Say nothing about what is compiled in the body, whose caller shows it."""
    before = ANNOUNCEMENT.quiet
    ANNOUNCEMENT.quiet = True
    try:
        yield
    finally:
        ANNOUNCEMENT.quiet = before


class Store:
    """A folder of agents; see `recollex.open`. Usable as a context manager."""

    def __init__(self, store: engine.Store, extraction: Mode | None = None) -> None:
        self._store = store
        self._extraction = None if extraction is None else _in_background(store, extraction)
        self._lock = fork.lock()
        self._agents: WeakValueDictionary[str, Agent] = WeakValueDictionary()
        self._heard: dict[str, Agent] = {}  # held, since their sessions may hold turns

    @property
    def path(self) -> Path:
        """The store's folder."""
        return self._store.path

    def agent(self, agent_id: str, *, key: Key | None = None) -> Agent:
        """Return one agent's memory; nothing is put on disk before it retains something.

        key: of this agent, if it is another one than the store's; see `recollex.open`.

        Agents are isolated: no call reads or writes another agent. Raises `errors.LockedError` if
        another writer has the agent open, and `errors.EncryptionError` for an encrypted agent
        without its key, or a plain one with a key.

        >>> import recollex, tempfile
        >>> with recollex.open(tempfile.mkdtemp()) as store:
        ...     store.agent("alice").stats().memories
        0
        """
        engine_agent = self._store.agent(agent_id, key_bytes(key))
        with self._lock:
            agent = self._agents.get(engine_agent.name)
            if agent is None or agent.engine is not engine_agent:
                mode = None if self._extraction is None else self._extraction.mode
                agent = Agent(engine_agent, self._hold, mode)
                self._agents[agent.name] = agent
        if self._extraction is not None:
            self._extraction.opened(engine_agent)
        if (llm := engine_agent.context.llm) is not None:
            _form_what_is_left(engine_agent, llm)
        return agent

    def _hold(self, agent: Agent) -> None:
        """Keep an agent open that no caller holds any more: turns wait in its sessions."""
        self._heard[agent.name] = agent

    @overload
    def agents(self, *, counts: Literal[False] = False) -> list[str]: ...
    @overload
    def agents(self, *, counts: Literal[True]) -> list[AgentSummary]: ...
    @overload
    def agents(self, *, counts: bool) -> list[str] | list[AgentSummary]: ...
    def agents(self, *, counts: bool = False) -> list[str] | list[AgentSummary]:
        """Return the ids of the agents that hold something, sorted.

        counts: return an `AgentSummary` of each: how many memories it has, when it was last
        written, its bytes. None is opened for that; see `AgentSummary` for what is not known.

        >>> import recollex, tempfile
        >>> with recollex.open(tempfile.mkdtemp()) as store:
        ...     id = store.agent("alice").retain("Bob likes tea.")
        ...     [(each.id, each.memories) for each in store.agents(counts=True)]
        [('alice', 1)]
        """
        check_flag(counts, "counts")
        return self._store.summaries() if counts else self._store.agents()

    def recall(
        self,
        query: str,
        *,
        agents: Iterable[str],
        max_tokens: int | None = 4096,
        limit: int | None = None,
        min_confidence: float = 0.0,
        **options: Any,
    ) -> JointRecall:
        """Return the memories of several agents that answer ``query``, best first, in one order.

        agents: the ids of 1 to 64 agents, such as a user's own and one that all users share; one
        that holds nothing adds nothing. max_tokens, limit, min_confidence: of all of them together;
        the confidence is that of the likeliest agent. options: those of `Agent.recall`, but
        ``pack``; they are the same for each agent.

        `Memory.agent` names the agent: ids may be equal in two. See `JointRecall` for what is
        compared. The question is embedded once. Raises `errors.InputError`.

        >>> import recollex, tempfile
        >>> with recollex.open(tempfile.mkdtemp()) as store:
        ...     id = store.agent("ann").retain("I like green tea.")
        ...     id = store.agent("team").retain("The office kitchen is on the second floor.")
        ...     found = store.recall("Where is the kitchen?", agents=["ann", "team"], limit=1)
        >>> [(memory.agent, memory.text) for memory in found]
        [('team', 'The office kitchen is on the second floor.')]
        """
        asked = {agent.name: agent for agent in map(self.agent, agent_ids(agents))}
        return recall_together(
            list(asked.values()),
            query,
            max_tokens=max_tokens,
            limit=limit,
            min_confidence=min_confidence,
            **options,
        )

    def backup(
        self, target: BackupPlace, *, keep: int | None = None, fresh: bool = False
    ) -> BackupRun:
        """Back up every agent to a folder or an object store; later calls add what is new since.

        target: a folder, an address (s3://, gs:// or az:// with a bucket and a prefix), or an
        object of `obstore.store`. Object stores need ``pip install 'recollex[cloud]'``; addresses
        take their credentials from the environment.

        Writers may write meanwhile, in any process, and a store that was opened with
        ``read_only=True`` is backed up as well. Each call makes one backup, whole by itself, whose
        objects are named by their SHA-256 and shared by all backups of the target. A call that is
        interrupted leaves the backups before as they were, and the next one goes on.

        keep: remove all but the newest ``keep`` backups afterwards; None keeps all. fresh: read
        and write everything again, for damaged objects, and for a store that is no continuation of
        what the target holds: that is refused otherwise.

        Raises `errors.InputError` for a target that cannot be written, or holds other files, and
        `errors.StoreFullError`. Agents that cannot be read are named in ``problems``; they stay in
        the backup as they were. See `recollex.restore`, `recollex.verify_backup` and
        `recollex.backups`.

        >>> import recollex, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> with recollex.open(folder + "/memory") as store:
        ...     ids = store.agent("alice").retain("Bob likes tea.")
        ...     first = store.backup(folder + "/backup")
        ...     again = store.backup(folder + "/backup")
        >>> first.number, first.new_operations, again.number, again.new_operations
        (1, 3, 2, 0)
        """
        names = self._store.agents()
        clock = self._store.clock
        place = open_target(target)
        held = self._store.unlock_all()
        with progress_bar(None, "backing up", "bytes") as progress:
            run = backup.back_up(
                self.path,
                names,
                place,
                clock,
                keep=keep,
                fresh=fresh,
                progress=progress,
                check=self._store.check_agents,
            )
        del held  # encrypted agents are read as long as it is held
        return run

    def delete_agent(self, agent_id: str) -> None:
        """Delete an agent with all that it holds; it cannot be brought back.

        Calls in progress are finished, and later ones on its `Agent` objects raise
        `errors.ClosedError`; `agent` gives a new one of that id. A crash leaves all of the agent or
        nothing. Backups, snapshots and exported files keep what they have.

        Raises `errors.UnknownIdError` for an id that the store does not hold, `errors.LockedError`
        while another process writes the agent, and `errors.ReadOnlyError`. Cost: that of removing
        the files; no key and no model is needed.

        >>> import recollex, tempfile
        >>> with recollex.open(tempfile.mkdtemp()) as store:
        ...     id = store.agent("alice").retain("Bob likes tea.")
        ...     store.delete_agent("alice")
        ...     store.agents()
        []
        """
        self._store.delete_agent(agent_id)
        self._heard.pop(agent_id, None)

    def close_agent(self, agent_id: str) -> None:
        """Close one agent, which frees its memory; `agent` opens it again.

        Turns that its `sessions` have not written are lost. No other thread may use the agent
        during the call.
        """
        self._heard.pop(agent_id, None)
        self._store.close_agent(agent_id)

    def close(self) -> None:
        """Close every agent; all that was retained is on disk afterwards.

        Waits for opinions that are being formed, and for the chunk from which facts are being
        drawn.
        """
        if self._extraction is not None:
            self._extraction.close()
        self._store.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<recollex.Store at {self.path}>"


@NEW_AGENTS.shown
def open(
    path: str | os.PathLike[str],
    *,
    read_only: bool = False,
    embedder: str | os.PathLike[str] | Embedder | None = None,
    durability: Durability = "always",
    entity_types: Literal["rule", "auto", "spacy"] = "rule",
    threads: int = 1,
    clock: Callable[[], datetime] | None = None,
    key: Key | None = None,
    max_open: int | None = None,
    llm: "LanguageModel | None" = None,
    count_accesses: bool = False,
    extraction: Literal["narrative", "atomic", "episodic"] | None = None,
    **new_agents: Unpack[NewAgents],
) -> Store:
    """Open the store in folder ``path``, which is made when something is first retained.

    path: made absolute here, with ``~`` expanded and links followed, so that it goes on to mean
    this folder. If the folder is moved, replaced or removed, calls raise `errors.StoreMovedError`.
    read_only: neither write nor wait for the writer, which may be in another process.
    embedder: None for all-MiniLM-L6-v2, the name or folder of another BERT-family encoder, with
    ":fp16" and the like after it for another precision than int8, or an object such as
    `GivenVectors` if every vector comes from the caller.
    durability: "always" writes each call to the disk before it returns; "interval" does so within
    100 ms; "off" leaves it to the operating system. A crash of the process alone loses nothing in
    any of the three.
    entity_types: who says what names are, where no caller does: a rule, or spaCy with a model of
    the agent's language (``pip install 'recollex[spacy]'``), which costs some 4 ms a text. "auto":
    spaCy if both are installed, else the rule. See docs/entities.md.
    threads: the number of threads that embed texts while retaining.
    clock: returns the present as a datetime with a zone; for imports and tests.
    key: new agents are encrypted with it, and existing ones opened: 32 bytes, or an object such as
    `recollex.encryption.KeyringKey`. Needs ``pip install 'recollex[crypto]'``. Without the key
    nothing of an agent can be read, ever; see docs/encryption.md.
    max_open: the files of at most so many agents are open at once: of those used last, and of all
    that a call is using. An `Agent` that you hold opens its files again by itself; until then
    another process may write it. An open agent takes a descriptor, two for reading. None for a
    quarter of the descriptors that this process may open (``ulimit -n``), from 4 to 256.
    llm: a language model, from `recollex.llm`, with which agents think; without one they keep to
    rules. It stays the caller's to close.
    count_accesses: count which memories recalls return, for `Agent.accesses` and the preset
    `heuristic`. It is written beside the log once a second, also by a read-only store, and is no
    part of any cut's answer but that preset's; see docs/recall.md.
    extraction: draw facts from what agents retain, in the background after each write, as
    `Agent.extract` does: "narrative", "atomic" or "episodic". Retaining is as fast as without. See
    `Agent.jobs` and docs/extraction.md.
    new_agents: ``language``, ``locale``, ``zone`` and ``entity_rule`` of the agents that are made
    through this store; see `NewAgents`.

    Raises `errors.InputError` for an argument that cannot be used, and `errors.FormatError` for a
    folder of another version of the format.

    >>> import recollex, tempfile
    >>> store = recollex.open(tempfile.mkdtemp(), durability="interval")
    >>> store.agents()
    []
    >>> store.close()
    """
    NEW_AGENTS.refuse_unknown("open", new_agents)
    settings = DEFAULTS | new_agents
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 256:
        raise InputError(f"threads must be an int in [1, 256], got {threads!r}")
    if clock is not None and not callable(clock):
        raise InputError(
            f"clock must be a function that returns a datetime, got {type(clock).__name__}"
        )
    if llm is not None:
        check_llm(llm)
    check_flag(count_accesses, "count_accesses")
    mode = None if extraction is None else read_mode(extraction)
    opened = engine.Store(
        path,
        read_embedder(embedder),
        read_only=read_only,
        durability=durability,
        language=settings["language"],
        locale=settings["locale"],
        zone=settings["zone"],
        naming=Naming(settings["entity_rule"], entity_types),
        threads=threads,
        clock=system_clock if clock is None else lambda: to_micros(clock(), "clock()"),
        start_progress=opening_bar,
        key=key_bytes(key),
        max_open=max_open,
        llm=llm,
    )
    if count_accesses:
        opened.count_accesses()
    return Store(opened, mode)


def check_llm(given: object) -> None:
    """Raise `InputError` unless ``given`` is a language model from `recollex.llm`."""
    from recollex_mind.llm.language_model import LanguageModel

    if not isinstance(given, LanguageModel):
        raise InputError(f"llm must be a model from recollex.llm, got {type(given).__name__}")


def _in_background(store: engine.Store, mode: Mode) -> "BackgroundExtraction":
    """Let facts follow each write of a store's agents."""
    from recollex_mind.extraction import BackgroundExtraction

    extraction = BackgroundExtraction(mode)
    store.after_writes(extraction.wake)
    return extraction


def _form_what_is_left(agent: "EngineAgent", llm: "LanguageModel") -> None:
    """Form the opinions that an earlier process has left."""
    from recollex_mind.opinion_forming import go_on

    go_on(agent, llm)


tell_of_compiling(ANNOUNCEMENT.started, ANNOUNCEMENT.ended)


def _name_or_folder(given: str | os.PathLike[str]) -> str | Path:
    """Return a model's name, or its folder from the root: it is loaded later."""
    from recollex_engine.models.weights import is_folder

    if not isinstance(given, str):
        return absolute(given)
    path = os.path.expanduser(given)  # noqa: PTH111 - a name stays one
    without_precision = path.rpartition(":")[0]
    is_path = is_folder(path) or (bool(without_precision) and is_folder(without_precision))
    return os.path.abspath(path) if is_path else given  # noqa: PTH100


_EMBEDDER = ("embed", "embed_query", "count_tokens", "dimension", "fingerprint", "thresholds")


def read_embedder(given: Any) -> Callable[[], Embedder]:
    """Return a function that loads the embedder, called when it is first needed."""
    if given is not None and not isinstance(given, str | os.PathLike):
        if any(not hasattr(given, name) for name in _EMBEDDER):
            raise InputError(
                "embedder must be the name or folder of a model, or an object with "
                f"{', '.join(_EMBEDDER)}; got {type(given).__name__}"
            )
        return lambda: given

    named = None if given is None else _name_or_folder(given)

    def load() -> Embedder:
        from recollex_engine.models.encoder import load_encoder

        return load_encoder() if named is None else load_encoder(named)

    return load
