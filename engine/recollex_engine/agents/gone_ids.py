"""Which ids were forgotten, archived or erased in an agent? A source that is read again asks."""

from collections.abc import Iterable

from recollex_engine.agents.logbook import LogEntry
from recollex_engine.domain.ids import ERASED_IDS, digest
from recollex_engine.domain.schema import ERASE

GONE = ("forget", "archive", ERASE)
"""The kinds of operation that take memories out of later views."""


class GoneIds:
    """The ids of memories that operations of the kinds `GONE` have taken away.

    An id stays among them if a caller retains it again: the caller of this looks for an open
    memory first.
    """

    def __init__(self, entries: Iterable[LogEntry]) -> None:
        self._closed: set[str] = set()
        self._erased: dict[str, set[str]] = {}  # key -> digests
        for entry in entries:
            self._closed.update(entry.ids)
            if said := (entry.payload or {}).get(ERASED_IDS):
                self._erased.setdefault(said["key"], set()).update(said["digests"])

    def __contains__(self, id: str) -> bool:
        return id in self._closed or self.was_erased("memory", id)

    def was_erased(self, kind: str, id: str) -> bool:
        """Return whether a memory, a fact or an event with an id was erased."""
        return any(digest(key, kind, id) in known for key, known in self._erased.items())
