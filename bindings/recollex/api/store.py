"""Opens a store, a folder of agents."""

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from recollex.api.agent import Agent
from recollex.api.compiling import ANNOUNCEMENT
from recollex.api.keys import Key, key_bytes
from recollex.api.progress import opening_bar, progress_bar
from recollex_engine.agents import store as engine
from recollex_engine.backup import backup
from recollex_engine.backup.backup import BackupRun
from recollex_engine.backup.opening import Place, open_target
from recollex_engine.clock import system_clock, to_micros
from recollex_engine.errors import InputError
from recollex_engine.log.durability import Durability
from recollex_engine.models.embedder import Embedder
from recollex_kernels.machine.jit import tell_of_compiling


class Store:
    """A folder of agents; see `recollex.open`. Usable as a context manager."""

    def __init__(self, store: engine.Store) -> None:
        self._store = store
        self._agents: dict[str, Agent] = {}

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
        agent = self._store.agent(agent_id, key_bytes(key))
        if agent_id not in self._agents or self._agents[agent_id].engine is not agent:
            self._agents[agent_id] = Agent(agent)
        return self._agents[agent_id]

    def agents(self) -> list[str]:
        """Return the ids of the agents that hold something, sorted."""
        return self._store.agents()

    def backup(self, target: Place, *, keep: int | None = None, fresh: bool = False) -> BackupRun:
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
        names, clock = self._store.agents(), self._store.clock
        place = open_target(target)
        held = self._store.unlock_all()
        with progress_bar(None, "backing up", "bytes") as progress:
            run = backup.back_up(
                self.path, names, place, clock, keep=keep, fresh=fresh, progress=progress
            )
        del held  # encrypted agents are read as long as it is held
        return run

    def close_agent(self, agent_id: str) -> None:
        """Close one agent, which frees its memory; `agent` opens it again.

        Turns that its `sessions` have not written are lost. No other thread may use the agent
        during the call.
        """
        self._agents.pop(agent_id, None)
        self._store.close_agent(agent_id)

    def close(self) -> None:
        """Close every agent; all that was retained is on disk afterwards."""
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


def open(
    path: str | os.PathLike[str],
    *,
    read_only: bool = False,
    embedder: str | os.PathLike[str] | Embedder | None = None,
    durability: Durability = "always",
    language: str = "english",
    locale: str = "en-GB",
    threads: int = 1,
    clock: Callable[[], datetime] | None = None,
    key: Key | None = None,
) -> Store:
    """Open the store in folder ``path``, which is made when something is first retained.

    read_only: neither write nor wait for the writer, which may be in another process.
    embedder: None for all-MiniLM-L6-v2, the name or folder of another BERT-family encoder, or an
    object such as `GivenVectors` if every vector comes from the caller.
    durability: "always" writes each call to the disk before it returns; "interval" does so within
    100 ms; "off" leaves it to the operating system. A crash of the process alone loses nothing in
    any of the three.
    language: of new agents, for stemming and stop words.
    locale: of new agents, a language tag. In "en-US" 5/7/2023 is 7 May, in every other locale 5
    July, in questions and in retained texts; 25.12. and 12/25 are read in either.
    threads: the number of threads that embed texts while retaining.
    clock: returns the present as a datetime with a zone; for imports and tests.
    key: new agents are encrypted with it, and existing ones opened: 32 bytes, or an object such as
    `recollex.encryption.KeyringKey`. Needs ``pip install 'recollex[crypto]'``. Without the key
    nothing of an agent can be read, ever; see docs/encryption.md.

    Raises `errors.InputError` for an argument that cannot be used, and `errors.FormatError` for a
    folder of another version of the format.

    >>> import recollex, tempfile
    >>> store = recollex.open(tempfile.mkdtemp(), durability="interval")
    >>> store.agents()
    []
    >>> store.close()
    """
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 256:
        raise InputError(f"threads must be an int in [1, 256], got {threads!r}")
    if clock is not None and not callable(clock):
        raise InputError(
            f"clock must be a function that returns a datetime, got {type(clock).__name__}"
        )
    return Store(
        engine.Store(
            path,
            read_embedder(embedder),
            read_only=read_only,
            durability=durability,
            language=language,
            locale=locale,
            threads=threads,
            clock=system_clock if clock is None else lambda: to_micros(clock(), "clock()"),
            start_progress=opening_bar,
            key=key_bytes(key),
        )
    )


tell_of_compiling(ANNOUNCEMENT.started, ANNOUNCEMENT.ended)


def _name_or_folder(given: str | os.PathLike[str]) -> str | Path:
    return given if isinstance(given, str) else Path(given)


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

    def load() -> Embedder:
        from recollex_engine.models.encoder import load_encoder

        return load_encoder() if given is None else load_encoder(_name_or_folder(given))

    return load
