"""A folder that several MCP servers share, and a server of `recollex serve`."""

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import recollex
from recollex_engine.errors import LockedError, ReadOnlyError

Result = TypeVar("Result")

PATIENCE = 10.0
"""Seconds for which a write waits for another process that writes the agent."""
IDLE = 0.25
"""Seconds after its last write for which an agent stays open for writing."""
_PAUSE = 0.05


class SharedFolder:
    """The agents of a folder, read at any time and locked only while they are written.

    Each session of an assistant starts an MCP server of its own, and one process at a time may
    write an agent. So an agent is opened for a write, and closed once it is idle; another process
    that wants to write meanwhile waits. Reading needs no lock, and sees the writes of all.

    options: of `recollex.open`. Threads: any number; writes of one agent queue.
    """

    def __init__(self, path: str, *, read_only: bool, **options: Any) -> None:
        self._reads = recollex.open(path, read_only=True, **options)
        self._writes = None if read_only else recollex.open(path, **options)
        self._lock = threading.Lock()
        self._agents: dict[str, _Written] = {}

    def reading(self, name: str) -> recollex.Agent:
        """Return an agent to read from, which holds nothing if there is none of that name."""
        return self._reads.agent(name)

    def write(self, name: str, work: Callable[[recollex.Agent], Result]) -> Result:
        """Return what ``work`` returns of an agent. Raises `LockedError` if others keep it open."""
        if self._writes is None:
            raise ReadOnlyError("the server was started with --read-only: start it without it")
        with self._lock:
            written = self._agents.setdefault(name, _Written(self._writes, name))
        return written.write(work)

    def close(self) -> None:
        """Close every agent; all that was written is on disk."""
        for written in self._agents.values():
            written.close()
        if self._writes is not None:
            self._writes.close()
        self._reads.close()


class _Written:
    """One agent that is opened to be written, and closed after `IDLE` seconds without a write."""

    def __init__(self, store: recollex.Store, name: str) -> None:
        self._store = store
        self._name = name
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def write(self, work: Callable[[recollex.Agent], Result]) -> Result:
        deadline = time.monotonic() + PATIENCE
        with self._lock:
            self._stop()
            while True:
                try:
                    result = work(self._store.agent(self._name))
                    break
                except LockedError:  # raised before anything is written
                    self._store.close_agent(self._name)
                    if time.monotonic() >= deadline:
                        raise
                except BaseException:
                    self._close_later()
                    raise
                time.sleep(_PAUSE)
            self._close_later()
        return result

    def close(self) -> None:
        with self._lock:
            self._stop()
            self._store.close_agent(self._name)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_later(self) -> None:
        self._timer = threading.Timer(IDLE, self._close_idle)
        self._timer.daemon = True
        self._timer.start()

    def _close_idle(self) -> None:
        with self._lock:
            if self._timer is threading.current_thread():
                self._timer = None
                self._store.close_agent(self._name)


class Served:
    """The agents of a server of `recollex serve`, at its address."""

    def __init__(self, address: str, token: str | None, *, read_only: bool) -> None:
        self._store = recollex.connect(address, token=token)
        self._read_only = read_only

    def reading(self, name: str) -> Any:
        """Return an agent to read from."""
        return self._store.agent(name)

    def write(self, name: str, work: Callable[[Any], Result]) -> Result:
        """Return what ``work`` returns of an agent."""
        if self._read_only:
            raise ReadOnlyError("the server was started with --read-only: start it without it")
        return work(self._store.agent(name))

    def close(self) -> None:
        """Close the connections."""
        self._store.close()
