"""One agent's memory: the methods that retain and recall."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar, Unpack, overload

import numpy as np
import numpy.typing as npt

from recollex.api import dsl
from recollex.api.arguments import as_list, checked_id, checked_note, one_or_more, optional_micros
from recollex.api.conversation import Conversing
from recollex.api.events import Events
from recollex.api.facts import Facts
from recollex.api.filters import FILTERS, Filters, read_filter
from recollex.api.history import History
from recollex.api.jobs import Extracting, Jobs
from recollex.api.memory_changes import AccessCounts, MemoryChanges, RetentionMethods
from recollex.api.opinions import AgentProfile, Opinions
from recollex.api.progress import progress_bar
from recollex.api.retaining import Retaining
from recollex.api.sessions import Sessions
from recollex.api.thinking import Investigating, ThinkingMethods
from recollex.api.tools import Tools
from recollex.api.transaction import Transaction, alone
from recollex_engine.agents.cut import AgentOrCut, Cut
from recollex_engine.agents.log_head import LogHead, read_head
from recollex_engine.agents.stats import Stats
from recollex_engine.agents.verification import Verification, verify
from recollex_engine.clock import Moment, from_micros, to_micros, zone_said
from recollex_engine.domain.checks import check_count, check_embedding, check_flag
from recollex_engine.domain.filter import Filter
from recollex_engine.domain.question import (
    KINDS,
    MAX_LIMIT,
    MEMORIES,
    UNBOUNDED,
    Packing,
    Question,
    find_packing,
)
from recollex_engine.domain.trust import stamp
from recollex_engine.errors import InputError, UnknownIdError
from recollex_engine.ranking.presets import DEFAULT, Preset, find_preset
from recollex_engine.recall.lookups import check_field
from recollex_engine.recall.memory import Memory
from recollex_engine.recall.recall import Recall
from recollex_mind.job_log import Mode
from recollex_mind.profile import Profile


class PaperNames:
    """The methods of `Agent` under their names in Memora."""

    profile: AgentProfile

    def get_agent_profile(self) -> Profile:
        """Return `Agent.profile.get` (Memora 4.2)."""
        return self.profile.get()

    def merge_agent_background(self, new_info: str) -> Profile:
        """Return `Agent.profile.merge_background` (Memora 4.4)."""
        return self.profile.merge_background(new_info)


# Reads the arguments of `Agent.recall` as a question to the engine.
def read_question(
    query: str,
    wanted: Filter,
    *,
    thinking_budget: int,
    max_tokens: int | None,
    limit: int | None,
    now: Moment | None,
    exact: bool,
    embedding: npt.NDArray[np.float32] | None,
    min_confidence: float,
    packing: Packing | None,
    kinds: str | Sequence[str],
) -> Question:
    """Return the question that a recall's arguments ask; raises `InputError`.

    embedding: of the caller, checked.
    """
    check_flag(exact, "exact")
    return Question(
        query,
        thinking_budget=thinking_budget,
        max_tokens=UNBOUNDED if max_tokens is None else max_tokens,
        limit=limit,
        filter=wanted,
        now=optional_micros(now, "now"),
        zone=zone_said(now),
        exact=exact,
        embedding=embedding,
        min_confidence=min_confidence,
        packing=packing,
        kinds=MEMORIES if kinds is MEMORIES else _kinds(kinds),
    )


def _kinds(given: str | Sequence[str]) -> tuple[str, ...]:
    """Return the kinds that are asked for, in the order of `KINDS`, each once."""
    wanted = one_or_more(given, "kinds")
    for kind in wanted:
        if kind not in KINDS:
            raise InputError(f"kinds must be some of {', '.join(KINDS)}, got {kind!r}")
    return tuple(kind for kind in KINDS if kind in wanted)


Default = TypeVar("Default")
REQUIRED: Final = object()
"""Stands for a default that was not given."""


class Agent(
    History,
    Retaining,
    MemoryChanges,
    RetentionMethods,
    ThinkingMethods,
    Investigating,
    Extracting,
    PaperNames,
    AccessCounts,
    Conversing,
):
    """The memory of one agent, from `Store.agent`.

    Threads: any number may retain and recall at once.
    """

    def __init__(
        self,
        agent: AgentOrCut,
        heard: "Callable[[Agent], None] | None" = None,
        extraction: Mode | None = None,
    ) -> None:
        super().__init__(agent)
        self._extraction_mode = extraction
        self.facts: Facts = Facts(agent, alone(agent))
        self.events: Events = Events(agent, alone(agent))
        self.profile: AgentProfile = AgentProfile(agent)
        self.opinions: Opinions = Opinions(agent)
        self.jobs: Jobs = Jobs(agent, extraction)
        self.tools: Tools = Tools(agent)
        self.sessions: Sessions = Sessions(
            agent, self.recall, None if heard is None else partial(heard, self)
        )

    @property
    def name(self) -> str:
        """The agent's id."""
        return self.engine.name

    @FILTERS.shown
    def recall(
        self,
        query: str,
        *,
        thinking_budget: int = 100,
        max_tokens: int | None = 4096,
        limit: int | None = None,
        now: Moment | None = None,
        exact: bool = False,
        query_embedding: Any = None,
        preset: Preset | str = DEFAULT,
        min_confidence: float = 0.0,
        explain: bool = False,
        as_recorded: Moment | None = None,
        pack: Packing | str | None = None,
        kinds: str | Sequence[str] = MEMORIES,
        **filters: Unpack[Filters],
    ) -> Recall:
        """Return the memories that answer ``query``, best first.

        max_tokens: the most tokens of `Recall.to_prompt`; None for no budget. limit: the most
        memories; None for as many as fit. thinking_budget: the most memories that each arm may
        find; more find more, and take longer.
        filters: see `Filters`; a memory must meet all of them. With a filter the query may be "":
        then the memories that meet it are returned, the newest recorded first. now: the
        time that words such as "last week" in the query are relative to. exact: compare with every
        vector, even where an index is faster. query_embedding: float[dimension]; computed, if not
        given. preset: how to rank, one of `recollex.presets` or its name. min_confidence: in [0,
        1]; if `Recall.confidence`, the probability that there is an answer, is lower or not known,
        no memories are returned. explain: fill in each arm's scores and what each part of the
        ranking added.
        A query that is all in "double quotes" returns the memories that hold these words in this
        order.
        as_recorded: recall as of this recorded time, without what was recorded later; see `at`.
        With ``as_world``, one of the filters: what was believed then about that time.
        pack: "subgraph" or a `Packing` also fills `Recall.subgraph` with the events and facts
        around these memories, and their evidence, within ``max_tokens`` of their own.
        kinds: some of "memory", "fact", "event" and "episode". Beside memories, `Recall.hits` and
        `Recall.to_prompt` then have what else the question asks for, in one order and within one
        ``max_tokens`` and ``limit``. With filters, facts must cite a memory that meets them.

        Raises `errors.InputError`.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> ids = alice.retain_many(["Bob moved to Oslo.", "Ann plays the cello."])
        >>> alice.recall("Who makes music?", max_tokens=30)[0].text
        'Ann plays the cello.'
        """
        wanted = read_filter("recall", filters)
        check_flag(explain, "explain")
        agent: AgentOrCut = self.engine
        if as_recorded is not None:
            agent = Cut.at(agent, to_micros(as_recorded, "as_recorded"))
        vector = None
        if query_embedding is not None:
            vector = check_embedding(query_embedding, "query_embedding", self.engine.dimension)
        question = read_question(
            query,
            wanted,
            thinking_budget=thinking_budget,
            max_tokens=max_tokens,
            limit=limit,
            now=now,
            exact=exact,
            embedding=vector,
            min_confidence=min_confidence,
            packing=find_packing(pack),
            kinds=kinds,
        )
        return agent.recall(question, find_preset(preset), explain)

    def recall_many(self, /, queries: Iterable[str], **options: Any) -> list[Recall]:
        """Return a recall for each query, in order; the options are those of `recall`.

        query_embedding: an array of one row for each query. Raises `errors.InputError`.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> ids = alice.retain_many(["Bob moved to Oslo.", "Ann plays the cello."])
        >>> recalls = alice.recall_many(["Where is Bob?", "Who makes music?"], max_tokens=30)
        >>> [recall[0].text for recall in recalls]
        ['Bob moved to Oslo.', 'Ann plays the cello.']
        """
        questions = as_list(queries, "queries", "a list of str")
        given = options.pop("query_embedding", None)
        vectors = (
            [None] * len(questions)
            if given is None
            else as_list(given, "query_embedding", "a list of one row a query")
        )
        if len(vectors) != len(questions):
            raise InputError(
                f"query_embedding must have one row a query: {len(questions)} queries, "
                f"got {len(vectors)} rows"
            )
        return [
            self.recall(query, query_embedding=vector, **options)
            for query, vector in zip(questions, vectors, strict=True)
        ]

    @overload
    def get(self, id: str) -> Memory: ...
    @overload
    def get(self, id: str, default: Default) -> Memory | Default: ...
    def get(self, id: str, default: Any = REQUIRED) -> Any:
        """Return the memory with this id, archived or not.

        For an id that does not exist, or was forgotten or replaced, returns ``default`` if it is
        given, and otherwise raises `errors.UnknownIdError`.
        """
        checked = checked_id(id)
        try:
            return self.engine.get(checked)
        except UnknownIdError:
            if default is REQUIRED:
                raise
            return default

    @FILTERS.shown
    def list(
        self,
        *,
        after: str | None = None,
        limit: int = 100,
        newest: bool = False,
        **filters: Unpack[Filters],
    ) -> list[Memory]:
        """Return up to ``limit`` memories in the order in which they were recorded.

        after: the id of the last memory of the page before. newest: in the opposite order.
        filters: see `Filters`.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> texts, numbers = ["Tea for two.", "Tea for ten."], [{"n": 2}, {"n": 10}]
        >>> ids = alice.retain_many(texts, metadata=numbers)
        >>> [memory.text for memory in alice.list(where={"n": {"gt": 2}})]
        ['Tea for ten.']
        """
        wanted = read_filter("list", filters)
        check_count(limit, "limit", 1, MAX_LIMIT)
        check_flag(newest, "newest")
        last = None if after is None else checked_id(after)
        return self.engine.list(last, limit, wanted, newest)

    @FILTERS.shown
    def count(self, **filters: Unpack[Filters]) -> int:
        """Return how many memories there are, archived ones not counted.

        filters: see `Filters`.
        """
        wanted = read_filter("count", filters)
        return self.engine.count(wanted)

    @FILTERS.shown
    def value_counts(self, field: str, **filters: Unpack[Filters]) -> dict[str, int]:
        """Return the distinct values of a field, and how many memories have each.

        The most frequent first; archived memories and those without a value are not counted. field:
        "tags", "document_id", "speakers", "roles", "network", "source" or "trust". filters: see
        `Filters`. Raises `errors.InputError`. Cost: 1 ns a memory; no memory is read.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> ids = alice.retain_many(["Tea.", "Call Bob."], tags=[["home"], ["home", "todo"]])
        >>> alice.value_counts("tags")
        {'home': 2, 'todo': 1}
        """
        return self.engine.value_counts(check_field(field), read_filter("value_counts", filters))

    def transaction(
        self,
        *,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> Transaction:
        """Return a `with` block whose operations are recorded together, or not at all.

        by, why: of every operation, for the log. See `Transaction`.
        """
        return Transaction(self.engine, by, why, recorded_at)

    def apply(
        self,
        operations: Iterable[Mapping[str, Any]],
        *,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
        source: str | None = None,
        trust: str | None = None,
    ) -> int:
        """Record operations given as JSON objects, as one transaction; see `recollex.api.dsl`.

        source, trust: of the memories, as for `retain`; no operation can give its own.
        Returns the number of records that they made; an operation that changes nothing makes none.
        Raises `errors.OperationError`, naming the operation that was refused; then nothing is
        recorded.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> alice.apply([{"op": "UPSERT_EDGE", "subject": "Alice", "predicate": "works_at",
        ...               "object": "Google", "valid": ["2023-11-06", None]}], by="doctest")
        1
        """
        at = optional_micros(recorded_at, "recorded_at")
        given = as_list(operations, "operations", "a list of dicts")
        parser = dsl.OperationParser(
            now=self.engine.clock, locale=self.engine.locale, stamped=stamp(source, trust)
        )
        group = parser.parse_transaction(given, checked_note(by, why), at)
        write = self.engine.writable().transact
        return write(group.operations, group.notes, group.recorded_at, group.where)

    def stats(self) -> Stats:
        """Return how much the agent holds: memories, facts, bytes."""
        return self.engine.stats()

    def checkpoint(self) -> None:
        """Merge what was retained lately into the indexes now, not later in the background."""
        self.engine.writable().checkpoint()

    def head(self) -> LogHead:
        """Return the end of the log, for `verify`: the last operation and the hash of all up to it.

        Keep it, or its str, where the folder of the store is not: then `verify` shows it if later
        the log was cut off, altered, or replaced by an older copy. On an agent that can be written,
        everything recorded so far is on the disk once this returns.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> head = alice.head()
        >>> head.op, alice.verify(head=str(head)).ok
        (0, True)
        """
        return LogHead.of(self.engine.head())

    def verify(self, *, head: LogHead | str | None = None) -> Verification:
        """Check the hash chain of the log, and the columns and indexes against the log.

        head: what `head` returned earlier, or its str; the log must hold its operation with the
        same hash. Without it, the file HEAD in the agent's folder shows a log that was cut off.
        """
        kept = None if head is None else read_head(head)
        with progress_bar(None, "verifying") as progress:
            return verify(self.engine, progress, kept)

    def __repr__(self) -> str:
        moment = (
            f" as of {from_micros(self.engine.recorded_at)}" if isinstance(self.engine, Cut) else ""
        )
        return f"<recollex.Agent {self.name!r}{moment}>"
