"""Which agents of a store are open? At most so many, those used last, and every one in use."""

import resource
from typing import Protocol

from recollex_engine import fork

MOST = 256
LEAST = 4
PART = 4
"""A store opens up to a `PART` of the files that the process may open, within these bounds."""


class Openable(Protocol):
    """An agent whose files can be closed while they are not in use."""

    @property
    def last_used(self) -> int:
        """A number that grows with each use; of all agents."""

    @property
    def in_use(self) -> bool:
        """Whether a call is in progress, or work in the background."""

    @property
    def has_failed(self) -> bool:
        """Whether closing the files failed, which no caller has been told yet."""

    def rest(self) -> bool:
        """Close the files until the next use, unless they are in use; return whether."""


def default_most() -> int:
    """Return how many agents a store keeps open if its caller does not say."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit == resource.RLIM_INFINITY:
        return MOST
    return max(LEAST, min(MOST, limit // PART))


class OpenAgents:
    """The open agents of a store. They are held here, so that no agent is open twice.

    Threads: any number.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = fork.lock()
        self._open: dict[Openable, None] = {}
        self._failed: set[Openable] = set()

    def __len__(self) -> int:
        return len(self._open)

    def add(self, agent: Openable) -> None:
        """Note that an agent was opened; its caller has it in use."""
        with self._lock:
            self._open[agent] = None
            self._failed.discard(agent)

    def discard(self, agent: Openable) -> None:
        """Note that an agent was closed."""
        with self._lock:
            self._open.pop(agent, None)
            self._failed.discard(agent)

    def make_room(self) -> None:
        """Close agents that are not in use, the least recently used first, while too many are open.

        Cost: 0.1 us while there is room.
        """
        tried: set[Openable] = set()
        while len(self._open) > self._most:
            with self._lock:
                idle = [each for each in self._open if each not in tried and not each.in_use]
            if not idle:
                return
            oldest = min(idle, key=lambda each: each.last_used)
            tried.add(oldest)
            if oldest.rest():
                self.discard(oldest)
                if oldest.has_failed:
                    self._failed.add(oldest)
