"""A store: a folder with a folder for each agent, isolated from the others."""

import os
import stat
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import orjson

from recollex_engine import fork
from recollex_engine.agents.agent import Agent
from recollex_engine.agents.agent_files import OpenAgents, default_most
from recollex_engine.agents.folder_names import (
    AGENTS,
    agent_folder,
    agents_in,
    delete_folder,
    kept_name,
    remove_left_over,
)
from recollex_engine.agents.summary import AgentSummary, summarize
from recollex_engine.clock import Clock, named_zone, system_clock
from recollex_engine.dates.locales import DAY_FIRST, check_locale
from recollex_engine.deferred_signals import defer_signals
from recollex_engine.domain.checks import check_count, check_flag
from recollex_engine.errors import (
    ClosedError,
    CorruptError,
    EncryptionError,
    InputError,
    ReadOnlyError,
    StoreFullError,
    UnknownIdError,
)
from recollex_engine.log.durability import MODES, Durability
from recollex_engine.log.home import LogHomes
from recollex_engine.log.reader import StartProgress
from recollex_engine.models.embedder import Embedder, checked
from recollex_engine.state.access_journal import AccessCounting
from recollex_engine.storage.disk import make_folder, replace_file, system_errors
from recollex_engine.storage.encryption import Cipher, is_encrypted, unlock
from recollex_engine.storage.formats import (
    STORE,
    VERSION,
    numbers,
    unknown_format,
    writer_of,
)
from recollex_engine.storage.lock import HeldFolder, absolute
from recollex_engine.text.analyzer import check_language
from recollex_engine.text.type_rule import Naming
from recollex_engine.writing.contexts import StoreContext

FORMAT = 1
MAX_OPEN = 1_000_000
"""The most agents that a store may be told to keep open."""

_CREATING = fork.lock()

defer_signals()


class Store:
    """A folder of agents.

    ::

        store.json         {"recollex_store": 1, "written_by": VERSION}, see `storage.formats`
        agents/<name>/     one agent; see `folder_names`
        .deleted-<n>/      what is left of an agent that was deleted; see `deleting`

    ``on_flush(seconds)`` is called after each flush of a log, in the thread that flushed.
    ``start_progress``: progress callback for slow openings. ``key``: all agents are encrypted with
    it, see `storage.encryption`. ``max_open``: the files of at most so many agents are open, those
    used last and those in use; an `Agent` that a caller holds opens its files again by itself. None
    for a quarter of the files that the process may open, from 4 to 256. ``naming``: how names
    become entities. ``llm``: see `mind`.

    Threads: any number. Nothing is put on disk before the first write. In a child of `os.fork`
    every call raises `ClosedError`: the child opens the store anew.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        embedder: Callable[[], Embedder],
        *,
        read_only: bool = False,
        durability: Durability = "always",
        language: str = "english",
        locale: str = DAY_FIRST,
        zone: str | None = None,
        naming: Naming = Naming(),  # noqa: B008 - it never changes
        threads: int = 1,
        clock: Clock = system_clock,
        on_flush: Callable[[float], None] | None = None,
        start_progress: StartProgress | None = None,
        key: bytes | None = None,
        max_open: int | None = None,
        llm: Any = None,
    ) -> None:
        if durability not in MODES:
            raise InputError(f"durability must be one of {', '.join(MODES)}, got {durability!r}")
        check_flag(read_only, "read_only")
        check_language(language)
        check_locale(locale)
        named_zone(zone)
        if max_open is not None:
            check_count(max_open, "max_open", 1, MAX_OPEN)
        self.path: Path = _folder_path(path)
        self._folders = [HeldFolder(self.path), HeldFolder(self.path / AGENTS)]
        self.read_only = read_only
        self._check_format()
        if not read_only:
            remove_left_over(self.path)
        self.key = key
        self._agents: WeakValueDictionary[str, Agent] = WeakValueDictionary()
        self._open_agents = OpenAgents(default_most() if max_open is None else max_open)
        self._lock = threading.Lock()
        self._closed = False
        self._inherited = False
        fork.register(self)
        self._background = ThreadPoolExecutor(1, thread_name_prefix="recollex checkpoint")
        self._building = ThreadPoolExecutor(1, thread_name_prefix="recollex graph")
        self._accesses = AccessCounting(clock)
        self._context = StoreContext(
            create=self._create,
            check_place=self.check_place,
            embedder=checked(embedder),
            clock=clock,
            durability=durability,
            read_only=read_only,
            language=language,
            locale=locale,
            zone=zone,
            naming=naming,
            threads=threads,
            background=self._background,
            building=self._building,
            on_flush=on_flush,
            start_progress=start_progress,
            llm=llm,
            accesses=self._accesses,
        )

    def live_in(self, homes: LogHomes) -> None:
        """Let the logs of agents be durable in homes; called before any agent is opened."""
        self._context = replace(self._context, homes=homes)

    def after_writes(self, tell: Callable[[Agent], None]) -> None:
        """Call ``tell`` with the agent after each transaction, in the thread that wrote."""
        self._context.written.append(tell)

    def count_accesses(self) -> None:
        """Count what recalls return from now on; see `state.access_journal`."""
        self._accesses.is_on = True

    @property
    def clock(self) -> Clock:
        """Returns the present, in microseconds."""
        return self._context.clock

    def after_fork(self) -> None:
        """Refuse every later call in the child, where neither its threads nor its locks work."""
        self._closed = self._inherited = True
        self._agents = WeakValueDictionary()

    def check_place(self) -> None:
        """Raise `StoreMovedError` if the path does not lead to the folder that was opened."""
        for folder in self._folders:
            folder.check()

    def check_agents(self) -> None:
        """Raise `StoreMovedError` also if an open agent's folder was moved."""
        self.check_place()
        with self._lock:
            agents = list(self._agents.values())
        for agent in agents:
            with suppress(ClosedError):  # it was deleted
                agent.check_open()
                agent.files.check_place()

    def _create(self) -> None:
        self.check_place()
        create_store(self.path)
        self.check_place()  # holds what was made

    def _check_open(self) -> None:
        if self._closed:
            if self._inherited:
                raise fork.refusal(f"the store {self.path}")
            raise ClosedError(f"the store {self.path} was closed: open it again")

    def _check_format(self) -> None:
        path = self.path / "store.json"
        try:
            with system_errors(path):
                found = orjson.loads(path.read_bytes())["recollex_store"]
        except FileNotFoundError:
            return
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise CorruptError(path, '{"recollex_store": 1}', repr(error)) from error
        if found != FORMAT:
            raise unknown_format(path, found, FORMAT, f"the store {self.path}")

    def agent(self, name: str, key: bytes | None = None) -> Agent:
        """Return the agent ``name``, the same object each time.

        ``key``: of this agent, if it is not the store's. Raises `LockedError` if another writer has
        it open, unless the store is read-only, and `EncryptionError` for a wrong or missing key.
        """
        name = kept_name(self.path, name)
        folder = agent_folder(self.path, name)
        given = self.key if key is None else key
        with self._lock:
            self._check_open()
            agent = self._agents.get(name)
            if agent is None or agent.files.is_closed or not self._fits(agent, key):
                agent = Agent(name, folder, self._context, given, self._open_agents)
                self._agents[name] = agent
        agent.files.open()  # not under the lock: other agents are opened meanwhile
        with self._lock:
            if not self._closed:
                self._agents[name] = agent  # another thread may have come with a wrong key
                return agent
        agent.close()
        self._check_open()
        raise AssertionError  # not reached: a closed store stays closed

    def _fits(self, agent: Agent, key: bytes | None) -> bool:
        """Return whether an agent has this key, or has not been opened with its own."""
        if key is None or key == agent.files.key:
            return True
        if agent.files.was_opened:
            raise EncryptionError(f"agent {agent.name!r} is open with another key, or with none")
        return False

    def unlock_all(self) -> list[Cipher]:
        """Return the ciphers of the encrypted agents whose key is known: unlocked while held."""
        held = []
        keys = self._keys()
        for name in self.agents():
            folder = agent_folder(self.path, name)
            if is_encrypted(folder):
                with suppress(EncryptionError, CorruptError):  # who reads its files says so
                    held.append(unlock(folder, keys.get(name, self.key)))
        return held

    def _keys(self) -> dict[str, bytes | None]:
        """Return the keys of the agents that callers hold."""
        with self._lock:
            return {name: agent.files.key for name, agent in self._agents.items()}

    def close_agent(self, name: str) -> None:
        """Close an agent that is not in use, if it is open; `agent` opens it again.

        `agent` must not be called with the same name meanwhile.
        """
        if self._inherited:
            return
        with self._lock:
            agent = self._agents.pop(kept_name(self.path, name), None)
        if agent is not None:
            agent.close()

    def delete_agent(self, name: str) -> None:
        """Delete an agent with all its files, whatever is in them; see `deleting.delete_folder`.

        Waits for calls in progress. Raises `UnknownIdError` if there is none of that name.
        """
        name = kept_name(self.path, name)
        folder = agent_folder(self.path, name)
        self._check_open()
        self.check_place()
        if self.read_only:
            raise ReadOnlyError(
                f"{self.path} was opened with read_only=True: open it without it to delete an agent"
            )
        homes = self._context.homes
        if homes is not None:
            self.agent(name)  # its folder is made, if there is such an agent
        with self._lock:
            self._check_open()
            agent = self._agents.get(name)
        if agent is not None and agent.files.is_closed:
            agent = None
        if not folder.is_dir():
            raise UnknownIdError(name, name, "agent")
        with nullcontext() if agent is None else agent.being_deleted(), system_errors(folder):
            delete_folder(self.path, folder)
            if homes is not None:
                homes.delete(name)

    def agents(self) -> list[str]:
        """Return the names of the agents that hold something, sorted."""
        self._check_open()
        self.check_place()
        if self._context.homes is not None:
            return self._context.homes.agents()
        with system_errors(self.path):
            return agents_in(self.path)

    def summaries(self) -> list[AgentSummary]:
        """Return how much each of these agents holds, by name; see `summary.summarize`."""
        if self._context.homes is not None:
            raise InputError("a cluster counts no memories of all agents: ask each for its stats")
        keys = self._keys()
        found = []
        for name in self.agents():
            with suppress(FileNotFoundError):  # it was deleted meanwhile
                folder = agent_folder(self.path, name)
                found.append(summarize(name, folder, keys.get(name, self.key)))
        return found

    def close(self) -> None:
        """Close every agent; a second call does nothing, and none in a forked child.

        Waits for the opinions that are being formed.
        """
        if self._inherited:
            return
        self._context.work.close()
        with self._lock:
            self._closed = True
            agents = list(self._agents.values())
        self._accesses.close()
        failures = []
        for agent in agents:
            try:
                agent.close()
            except Exception as error:  # the other agents must be closed too
                failures.append(error)
        self._background.shutdown()
        self._building.shutdown()
        for folder in self._folders:
            folder.close()
        if failures:
            raise failures[0]


def create_store(path: Path) -> None:
    """Make the folder of a store if it is missing, and note this version as its newest writer.

    Threads and processes may do so at once.
    """
    with _CREATING, system_errors(path):
        if (path / "store.json").exists() and is_noted(path):
            return
        make_folder(path, private=True)
        make_folder(path / AGENTS, private=True)
        try:
            write_store_file(path)
        except StoreFullError:
            if not (path / "store.json").exists():  # or another process has just made it
                raise


def is_noted(path: Path) -> bool:
    """Return whether a store names this version, or a newer one, as its newest writer."""
    return numbers(writer_of(path) or "") >= numbers(VERSION)


def write_store_file(path: Path) -> None:
    """Write store.json, with this version as the store's newest writer.

    Several processes may do so at once: `replace_file` writes a file of its own for each.
    """
    replace_file(path / STORE, orjson.dumps({"recollex_store": FORMAT, "written_by": VERSION}))


def _folder_path(path: str | os.PathLike[str]) -> Path:
    """Return the path, from the root, of a folder that exists or can be made."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise InputError(f"path must be a folder's name, got {type(path).__name__}")
    if not os.fspath(path):
        raise InputError('path is empty: write "." for the folder that you are in')
    try:
        found = absolute(path)
        kind = found.stat().st_mode
    except FileNotFoundError:
        return found
    except (OSError, ValueError) as error:  # a part of the path is a file, or not a valid name
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"path {os.fspath(path)!r} cannot be a folder: {reason}") from None
    if not stat.S_ISDIR(kind):
        raise InputError(f"{found} is a file: a store is a folder")
    return found
