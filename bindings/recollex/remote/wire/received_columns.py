"""The memories of a received recall, as columns; each column is read when it is first used."""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from recollex_engine.domain.roles import ROLES
from recollex_engine.domain.schema import NETWORKS
from recollex_engine.errors import ProtocolError
from recollex_engine.fork import cached_property
from recollex_engine.recall.memory_columns import Columns
from recollex_engine.storage.dictionary import split_strings
from recollex_kernels.memories.gathering import END, NETWORK, RECORDED, SAID, START, TOKENS

_BYTES = {"numbers": 48, "ends": 16, "score": 8}
"""Column of numbers -> its bytes for each memory."""
_RANK = 4
"""Bytes of a rank."""
_LISTS: Mapping[str, Any] = {
    **dict.fromkeys(("entities", "tags", "collapsed", "repeated_at"), ()),
    **dict.fromkeys(("passage", "passages", "context", "document", "speaker", "source")),
    **dict.fromkeys(("metadata", "valid_until", "closed", "replaces", "scores", "parts")),
    "role": 0,
    "trust": 0,
}
"""Column of one value for each memory -> the value if the column was not sent."""
_NONE: dict[str, bytes] = {}


class ReceivedColumns:
    """The columns of ``count`` memories, each an attribute as `MemoryColumns` has it.

    columns: those that the server's `MemoryColumns` gave. Columns that this version does not
    know are ignored. Raises `ProtocolError` for a column that is missing, or has another size.
    """

    def __init__(self, columns: Columns, count: int) -> None:
        for name, each in _BYTES.items():
            _check(name, columns.get(name), each * count)
        if type(columns.get("strings")) is not bytes:
            raise ProtocolError("the strings of memories must be bytes")
        if type(ranks := columns.get("ranks", _NONE)) is not dict:
            raise ProtocolError("the ranks of memories must be a map")
        for column in ranks.values():
            _check("ranks", column, _RANK * count)
        for name, column in columns.items():
            if name in _LISTS and (type(column) is not list or len(column) != count):
                raise ProtocolError(f"{name} of {count} memories must be as many values")
        if not all(
            type(role) is int and 0 <= role < len(ROLES) for role in columns.get("role", ())
        ):
            raise ProtocolError(f"roles are numbers below {len(ROLES)}")
        for ends in columns.get("passages", ()):
            if ends is not None and (type(ends) is not list or len(ends) % 2):
                raise ProtocolError("passages are a start and an end each, or nil")
        self._columns = columns
        self._count = count

    def __getattr__(self, name: str) -> Any:
        """Return a column of one value for each memory."""
        if name not in _LISTS:
            raise AttributeError(name)
        column = self._columns.get(name) or [_LISTS[name]] * self._count
        setattr(self, name, column)
        return column

    @cached_property
    def _strings(self) -> list[str]:
        strings = self._columns["strings"]
        if not strings.isascii():
            strings.decode()  # `split_strings` mends bytes that are no UTF-8; here they are refused
        return split_strings(strings, self._read("q", self._columns["ends"]))

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
        return self._read("d", self._columns["score"])

    @cached_property
    def ranks(self) -> dict[str, Sequence[int]]:
        """Arm -> the rank of each memory in it; 0 if the arm did not find the memory."""
        return {
            arm: self._read("I", ranks) for arm, ranks in self._columns.get("ranks", _NONE).items()
        }

    @cached_property
    def _numbers(self) -> Sequence[Sequence[int]]:
        all = self._read("q", self._columns["numbers"])
        count = self._count
        return [all[row * count : (row + 1) * count] for row in range(_BYTES["numbers"] // 8)]

    @property
    def said(self) -> Sequence[int]:
        """When each was said, in microseconds."""
        return self._numbers[SAID]

    @property
    def start(self) -> Sequence[int]:
        """When the event of each began, in microseconds."""
        return self._numbers[START]

    @property
    def end(self) -> Sequence[int]:
        """When the event of each ended, in microseconds."""
        return self._numbers[END]

    @property
    def recorded(self) -> Sequence[int]:
        """When each was recorded, in microseconds."""
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
        """The number of tokens of the returned text of each."""
        return self._numbers[TOKENS]

    def _read(self, kind: str, data: bytes) -> tuple[Any, ...]:
        """Return the little-endian numbers of ``data``; kind: their letter in `struct`."""
        return struct.unpack(f"<{len(data) // struct.calcsize(kind)}{kind}", data)


def _check(name: str, column: object, size: int) -> None:
    if type(column) is not bytes or len(column) != size:
        raise ProtocolError(f"{name} of these memories must be {size} bytes")
