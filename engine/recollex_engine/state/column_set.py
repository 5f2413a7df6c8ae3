"""Which columns does an agent have in memory, and which entries of one have the same key?

Do the numbers in operations of a log name what exists? Kernels index by them unchecked.
The chain of a log says that nothing was changed since, not that one of ours wrote it.

Which entries have this key, newest first? Linked lists through a flat array of keys.
`head[key]` is the index of the newest entry with that key. `previous[i]` is the entry before entry
`i` with the same key, or NONE at the end of the chain. Appending costs one store an entry. A reader
that sees only the first n entries skips newer ones as it walks.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.schema import CLOSED, schema
from recollex_engine.storage.column import Column, no_items
from recollex_engine.storage.commit_word import fence
from recollex_kernels.memories.columns import newest_entries


def check_below(what: str, numbers: Sequence[int], end: int, *, first: int = 0) -> None:
    """Raise `ValueError` unless all ``numbers`` lie in [first, end)."""
    if numbers and not first <= min(numbers) <= max(numbers) < end:
        raise ValueError(
            f"{what} must lie in [{first}, {end}), got {min(numbers)} to {max(numbers)}"
        )


def check_earlier(
    what: str, numbers: Sequence[int], of: Sequence[int], *, none: bool = False
) -> None:
    """Raise `ValueError` unless each number lies in [0, its item of ``of``), or is `NONE`."""
    for number, end in zip(numbers, of, strict=True):
        if not 0 <= number < end and not (none and number == NONE):
            raise ValueError(f"{what} must lie in [0, {end}), got {number}")


NONE = 0xFFFFFFFF
FEW = 16
"""Up to so many keys are looked at one by one: to sort them takes longer."""


def newest(keys: npt.NDArray[np.uint32], count: int) -> npt.NDArray[np.uint32]:
    """Return uint32[count]: the newest entry of each key, NONE without any.

    Raises `IndexError` for a key beyond them: the keys may come from a damaged column.
    """
    found = np.empty(count, np.uint32)
    if not newest_entries(keys, found):
        raise IndexError(f"a key is {int(keys.max())}, and there are {count}")
    return found


def put_newest(head: npt.NDArray[np.uint32], keys: Sequence[int], first: int) -> None:
    """Make the entries from ``first`` on the newest of their ``keys``; of equal ones the last."""
    if len(keys) <= FEW:
        for place, key in enumerate(keys, first):
            head[key] = place
    else:
        head[np.asarray(keys, np.int64)] = np.arange(first, first + len(keys), dtype=np.uint32)


class Chain:
    """The heads of one set of chains, and the operations that extend them.

    Threads: one writer extends. Readers take `head` first and the flat arrays after it. When the
    flat arrays were moved to larger ones, the writer copies `head` before it changes it. So the
    heads that a reader holds never point beyond the arrays that it holds. Kernels walk beside the
    writer, without a lock: `publish` puts a barrier between entries and heads, and a reader's loads
    are in order because the index of each comes from the one before it.
    """

    def __init__(self, keys: npt.NDArray[np.uint32], count: int) -> None:
        self.head: npt.NDArray[np.uint32] = newest(keys, max(16, count))

    def previous(self, keys: Sequence[int], first: int) -> list[int] | npt.NDArray[np.uint32]:
        """Return the previous entries of ``keys``, to be appended from ``first`` on."""
        if len(keys) <= FEW:
            return self._previous_of_few(keys, first)
        numbers = np.asarray(keys, np.uint32)
        order = np.argsort(numbers, kind="stable")
        ordered = numbers[order]
        before = np.empty(len(keys), np.uint32)
        before[0] = NONE
        before[1:] = order[:-1] + first
        starts = np.ones(len(keys), bool)
        starts[1:] = ordered[1:] != ordered[:-1]
        before[starts] = NONE
        old = starts & (ordered < len(self.head))
        before[old] = self.head[ordered[old]]
        result = np.empty(len(keys), np.uint32)
        result[order] = before
        return result

    def _previous_of_few(self, keys: Sequence[int], first: int) -> list[int]:
        """Return what `previous` does, one key after another."""
        head = self.head
        newest: dict[int, int] = {}
        found: list[int] = []
        for place, key in enumerate(keys, first):
            known = newest.get(key)
            found.append(
                known if known is not None else head.item(key) if key < len(head) else NONE
            )
            newest[key] = place
        return found

    def publish(self, keys: Sequence[int], first: int, count: int, moved: bool) -> None:
        """Make the entries from ``first`` on the heads of their chains.

        ``count`` keys exist now. ``moved``: whether a flat array was copied to a larger one.
        """
        if count > len(self.head):
            grown = np.full(max(count, len(self.head) * 2), NONE, np.uint32)
            grown[: len(self.head)] = self.head
            self.head = grown
        elif moved:
            self.head = self.head.copy()
        fence()  # a kernel of a reader that loads a new head loads what it leads to
        put_newest(self.head, keys, first)


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
