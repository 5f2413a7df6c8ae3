"""What came of a recall's memories? Columns, of which each is read when it is first looked at."""

import struct
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from recollex_engine.domain.schema import NETWORKS
from recollex_engine.errors import ProtocolError
from recollex_engine.recall.memory_columns import Columns
from recollex_engine.storage.dictionary import split_strings
from recollex_kernels.memories.gathering import END, NETWORK, RECORDED, SAID, START, TOKENS

_BYTES = {"numbers": 48, "ends": 16, "score": 8}
"""Columns of numbers, and their bytes for each memory."""
_RANK = 4
"""Bytes of a rank."""
_LISTS: Mapping[str, Any] = {
    **dict.fromkeys(("entities", "tags", "collapsed"), ()),
    **dict.fromkeys(("passage", "context", "document", "speaker", "metadata")),
    **dict.fromkeys(("valid_until", "closed", "scores", "parts")),
}
"""Columns of a value for each memory, and what it is where they were left out."""
_NONE: dict[str, bytes] = {}


class ReceivedColumns:
    """The columns of ``count`` memories, each an attribute as `MemoryColumns` has it.

    told: what `MemoryColumns.told` gave; columns that this version does not know are passed over.
    Raises `ProtocolError` for those that are of another size, or not there.
    """

    def __init__(self, told: Columns, count: int) -> None:
        for name, each in _BYTES.items():
            _check(name, told.get(name), each * count)
        if type(told.get("strings")) is not bytes:
            raise ProtocolError("the strings of memories must be bytes")
        if type(ranks := told.get("ranks", _NONE)) is not dict:
            raise ProtocolError("the ranks of memories must be a map")
        for column in ranks.values():
            _check("ranks", column, _RANK * count)
        for name, column in told.items():
            if name in _LISTS and (type(column) is not list or len(column) != count):
                raise ProtocolError(f"{name} of {count} memories must be as many values")
        self._told = told
        self._count = count

    def __getattr__(self, name: str) -> Any:
        """Return a column of a value for each memory."""
        if name not in _LISTS:
            raise AttributeError(name)
        column = self._told.get(name) or [_LISTS[name]] * self._count
        setattr(self, name, column)
        return column

    @cached_property
    def _strings(self) -> list[str]:
        return split_strings(self._told["strings"], self._read("q", self._told["ends"]))

    @property
    def id(self) -> list[str]:
        """The ids."""
        return self._strings[: self._count]

    @property
    def text(self) -> list[str]:
        """The texts, or passages."""
        return self._strings[self._count :]

    @cached_property
    def score(self) -> Sequence[float]:
        """The scores."""
        return self._read("d", self._told["score"])

    @cached_property
    def ranks(self) -> dict[str, Sequence[int]]:
        """Arm -> the ranks in it; 0 where it did not bring the memory."""
        return {
            arm: self._read("I", ranks) for arm, ranks in self._told.get("ranks", _NONE).items()
        }

    @cached_property
    def _numbers(self) -> Sequence[Sequence[int]]:
        all, count = self._read("q", self._told["numbers"]), self._count
        return [all[row * count : (row + 1) * count] for row in range(_BYTES["numbers"] // 8)]

    @property
    def said(self) -> Sequence[int]:
        """When they were said."""
        return self._numbers[SAID]

    @property
    def start(self) -> Sequence[int]:
        """When what they speak of began."""
        return self._numbers[START]

    @property
    def end(self) -> Sequence[int]:
        """When it ended."""
        return self._numbers[END]

    @property
    def recorded(self) -> Sequence[int]:
        """When they were recorded."""
        return self._numbers[RECORDED]

    @cached_property
    def network(self) -> list[str]:
        """The networks."""
        try:
            return [NETWORKS[number] for number in self._numbers[NETWORK]]
        except IndexError:
            raise ProtocolError(f"networks are numbers below {len(NETWORKS)}") from None

    @property
    def tokens(self) -> Sequence[int]:
        """The tokens of what is returned of each."""
        return self._numbers[TOKENS]

    def _read(self, kind: str, data: bytes) -> tuple[Any, ...]:
        """Return little-endian numbers; ``kind``: a letter of `struct`."""
        return struct.unpack(f"<{len(data) // struct.calcsize(kind)}{kind}", data)


def _check(name: str, column: object, size: int) -> None:
    if type(column) is not bytes or len(column) != size:
        raise ProtocolError(f"{name} of these memories must be {size} bytes")
