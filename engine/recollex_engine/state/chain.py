"""Which entries have this key, newest first? Linked lists through a flat array of keys.

`head[key]` is the index of the newest entry with that key. `previous[i]` is the entry before entry
`i` with the same key, or NONE at the end of the chain. Appending costs one store an entry. A reader
that sees only the first n entries skips newer ones as it walks.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recollex_engine.storage.commit_word import fence
from recollex_kernels.memories.columns import newest_entries

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
