"""Which columns does an agent have in memory? Those with a file, and those already used."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from recollex_engine.domain.schema import CLOSED, schema
from recollex_engine.storage.column import Column, no_items


class ColumnSet(dict[str, Column]):
    """The columns of one agent by name; a column without a file is created on first use.

    An agent without facts never needs half of them. Iteration goes over the created columns only;
    `all` creates the others. ``counts``: how many items each file under ``folder`` holds.

    Threads: any number may look columns up; all get the same column.

    >>> columns = ColumnSet(Path("columns"), {})
    >>> len(columns), columns["text"].count, len(columns), columns["text"] is columns["text"]
    (0, 0, 1, True)
    """

    def __init__(self, folder: Path, counts: Mapping[str, int]) -> None:
        super().__init__()
        for name, dtype in schema().items():
            if count := counts.get(name):
                self[name] = Column(dtype, f"{folder}/{name}", count, fixed=name not in CLOSED)

    def __missing__(self, name: str) -> Column:
        return self.setdefault(name, Column(schema()[name], fixed=name not in CLOSED))

    def array(self, name: str) -> npt.NDArray[Any]:
        """Return a column's items so far."""
        column = self.get(name)
        return no_items(schema()[name]) if column is None else column.array

    def extend(self, name: str, items: Sequence[Any]) -> None:
        """Append items to one column."""
        if items:
            self[name].extend(items)

    def extend_all(self, items: Mapping[str, Sequence[Any] | npt.NDArray[Any]]) -> bool:
        """Append items to several columns; return whether an array was copied to a larger one."""
        moved = False
        for name, new in items.items():
            column = self[name]
            before = column.buffer
            column.extend(new)
            moved |= before is not column.buffer
        return moved

    def all(self) -> dict[str, Column]:
        """Return every column of the schema, in its order."""
        return {name: self[name] for name in schema()}
