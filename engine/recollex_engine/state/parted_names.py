"""Which entity has a name? The one that it first named, until it became one of its own.

Each such name is an item of the columns `parted_name`, `parted_entity` and `parted_op`: from that
operation on, that entity has the name.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from recollex_engine.state.column_set import ColumnSet


class PartedNames:
    """The names of one agent that became entities of their own.

    Threads: one writer extends; any number read.
    """

    def __init__(self, columns: ColumnSet) -> None:
        self._columns = columns
        self._since: dict[int, list[tuple[int, int]]] = {}  # name -> (operation, entity)
        self._note(self)

    def __bool__(self) -> bool:
        return bool(self._since)

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        """Yield (name, entity, operation), in the order of the log."""
        names = ("parted_name", "parted_entity", "parted_op")
        yield from zip(*(self._columns.array(each).tolist() for each in names), strict=True)

    def entity(self, name: int, op: int) -> int | None:
        """Return the entity that a name became by operation ``op``; None if it did not."""
        since = self._since.get(name, ())
        place = bisect_right(since, op, key=lambda each: each[0])
        return since[place - 1][1] if place else None

    def extend(self, parted: Iterable[tuple[int, int, int]]) -> None:
        """Append items (name, entity, operation)."""
        items = list(parted)
        if items:
            for name, column in zip(
                ("parted_name", "parted_entity", "parted_op"), zip(*items, strict=True), strict=True
            ):
                self._columns.extend(name, column)
            self._note(items)

    def _note(self, parted: Iterable[tuple[int, int, int]]) -> None:
        for name, entity, op in parted:
            self._since[name] = [*self._since.get(name, ()), (op, entity)]
