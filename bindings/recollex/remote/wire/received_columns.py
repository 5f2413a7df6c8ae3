"""The memories of a received recall, as columns; each column is read when it is first used."""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from recollex_engine.errors import ProtocolError
from recollex_engine.fork import cached_property
from recollex_engine.recall.memory import FIELDS
from recollex_engine.recall.memory_columns import COLUMNS, ColumnReading, ColumnValues
from recollex_engine.storage.dictionary import split_strings
from recollex_kernels.memories.gathering import ROWS, TOKENS

_BYTES = {"numbers": 8 * ROWS, "ends": 16, "score": 8}
"""Column of numbers -> its bytes for each memory."""
_RANK = 4
"""Bytes of a rank."""
_NONE: dict[str, bytes] = {}
_NAMED = {name: told for name, told in FIELDS.items() if told.form.names}
"""Fields whose values are sent as numbers of names."""


class ReceivedColumns(ColumnReading):
    """The columns of ``count`` memories, each an attribute as `MemoryColumns` has it.

    columns: those that the server's `MemoryColumns` gave. Columns that this version does not
    know are ignored. Raises `ProtocolError` for a column that is missing, or has another size.
    """

    def __init__(self, columns: ColumnValues, count: int) -> None:
        for name, each in _BYTES.items():
            _check(name, columns.get(name), each * count)
        if type(columns.get("strings")) is not bytes:
            raise ProtocolError("the strings of memories must be bytes")
        if type(ranks := columns.get("ranks", _NONE)) is not dict:
            raise ProtocolError("the ranks of memories must be a map")
        for column in ranks.values():
            _check("ranks", column, _RANK * count)
        for name, column in columns.items():
            if name in COLUMNS and (type(column) is not list or len(column) != count):
                raise ProtocolError(f"{name} of {count} memories must be as many values")
        for ends in columns.get("passages", ()):
            if ends is not None and (type(ends) is not list or len(ends) % 2):
                raise ProtocolError("passages are a start and an end each, or nil")
        self._columns = columns
        self._count = count
        for name, told in _NAMED.items():
            numbers = self.numbers[told.row] if told.row >= 0 else columns.get(name, ())
            most = len(told.form.names)
            if not all(type(each) is int and 0 <= each < most for each in numbers):
                raise ProtocolError(f"{name} of a memory is a number below {most}")

    def __len__(self) -> int:
        return self._count

    def _column(self, name: str) -> Sequence[Any]:
        return self._columns.get(name) or [COLUMNS[name].absent] * self._count

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

    @property
    def tokens(self) -> Sequence[int]:
        """The number of tokens of the returned text of each."""
        return self.numbers[TOKENS]

    @cached_property
    def score(self) -> Sequence[float]:
        """The scores."""
        return self._read("d", self._columns["score"])

    @cached_property
    def ranks(self) -> Mapping[str, Sequence[int]]:
        """Arm -> the rank of each memory in it; 0 if the arm did not find the memory."""
        return {
            arm: self._read("I", ranks) for arm, ranks in self._columns.get("ranks", _NONE).items()
        }

    @cached_property
    def numbers(self) -> Sequence[Sequence[int]]:
        """The rows that `gather_memories` names."""
        all = self._read("q", self._columns["numbers"])
        count = self._count
        return [all[row * count : (row + 1) * count] for row in range(ROWS)]

    def _read(self, kind: str, data: bytes) -> tuple[Any, ...]:
        """Return the little-endian numbers of ``data``; kind: their letter in `struct`."""
        return struct.unpack(f"<{len(data) // struct.calcsize(kind)}{kind}", data)


def _check(name: str, column: object, size: int) -> None:
    if type(column) is not bytes or len(column) != size:
        raise ProtocolError(f"{name} of these memories must be {size} bytes")
