"""Which surfaces does a copy of the past lack, if its agent has moved to another model since?

A move drops all surfaces, since their vectors are of the former model; records after it add them
again (see `writing.surface_making`). A copy of an earlier time gets those of its own versions.
"""

from typing import Any

import orjson

from recollex_engine.domain.schema import HOLE
from recollex_engine.domain.settings import REEMBED
from recollex_engine.domain.surfaces import EVENTS, FACTS, SURFACE
from recollex_engine.log.reader import LogOperation

_FIELDS = ("of", "version", "name", "words", "vector", "synonyms")


class LaterSurfaces:
    """The surfaces of the copy's versions among later operations.

    First `count` every operation of the copy, then `read` every later one, both in order.

    records: those to add to the copy's log, after the one that moves it to the other model.
    """

    def __init__(self) -> None:
        self._versions = {"fact": 0, "event": 0, "entity": 0}
        self.records: list[tuple[str, bytes]] = []

    def count(self, operation: LogOperation) -> None:
        """Count the versions that an operation of the copy makes."""
        if (table := _table(operation.kind)) is not None:
            self._versions[table] += 1
        for _, _, entity in (operation.payload or {}).get("names", ()):
            self._versions["entity"] = max(self._versions["entity"], entity + 1)

    def read(self, operation: LogOperation) -> None:
        """Read an operation that the copy does not hold."""
        payload: Any = operation.payload
        if operation.kind == REEMBED:
            self.records.clear()
        elif operation.kind == SURFACE and payload is not None and HOLE not in payload:
            said = {name: payload[name] for name in _FIELDS if name in payload}
            if said["version"] < self._versions[said["of"]]:
                self.records.append((SURFACE, orjson.dumps(said)))


def _table(kind: str) -> str | None:
    return "fact" if kind in FACTS else "event" if kind in EVENTS else None
