"""Finds where a client's message ends, and checks that it may be decoded, before it is decoded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from recollex.remote.wire.codec import MAX_DEPTH, RECORD, encode
from recollex.remote.wire.received import ReceivedFacts, ReceivedRecall
from recollex_engine.errors import OverloadedError, ProtocolError
from recollex_engine.facts.facts import FactList
from recollex_kernels.wire import message
from recollex_kernels.wire.message import AT, FRAMES, INCOMPLETE, TOO_LARGE, WHOLE, value_end

# Encodes a result as bytes for a socket, on the thread that made it.
_LISTS = (list, FactList)


class EncodedResult(NamedTuple):
    """A result as bytes: the encoded chunks of its list, and the rest, which follows them."""

    chunks: Sequence[bytes]
    result: bytes


@dataclass(frozen=True, slots=True)
class ResultEncoder:
    """Encodes a result; a list in chunks of ``chunk_items``, if it has more.

    The response to a list in chunks holds no items: `remote.wire.chunks.joined` joins them.
    deflate: compress arrays.
    """

    chunk_items: int | None
    deflate: bool

    def __call__(self, result: Any) -> EncodedResult:
        """Return a result as bytes."""
        most = self.chunk_items
        if most is None or not isinstance(result, _LISTS) or len(result) <= most:
            return EncodedResult((), encode(result, self.deflate))
        chunks = [
            encode(list(result[first : first + most]), self.deflate)
            for first in range(0, len(result), most)
        ]
        rest = ReceivedFacts.emptied(result) if isinstance(result, FactList) else []
        return EncodedResult(chunks, encode(rest))


UNDEFLATED = ResultEncoder(None, False)
DEFLATED = ResultEncoder(None, True)


MAX_ITEMS = 1_000_000
"""The most values in one message: each takes memory, however few bytes it has."""
_WRONG = {
    message.MALFORMED: "a message is not MessagePack",
    message.TOO_DEEP: f"a message may be nested {MAX_DEPTH} deep",
    message.TOO_MANY: f"a message may hold {MAX_ITEMS:,} values",
}


class Framing:
    """Finds the end of one value after another in the bytes of one client.

    Threads: one at a time.

    >>> framing, data = Framing(), bytes([0x93, 1, 2, 3, 4])
    >>> framing.end(data[:3], 100), framing.end(data, 100, fresh=False)
    (0, 4)
    """

    def __init__(self) -> None:
        self._state = np.zeros(FRAMES + 2 * MAX_DEPTH, np.int64)

    def end(self, data: bytes | bytearray | memoryview, most: int, fresh: bool = True) -> int:
        """Return where the value at the start of ``data`` ends, 0 if that is not in ``data``.

        most: the most bytes that the value may have. fresh: search from the start of the value; if
        False, search on from where the last call for the same value stopped. Raises `ProtocolError`
        for bytes that are not a value, or for a value that may not be decoded.
        """
        state = self._state
        if fresh:
            state[:] = 0
        found = value_end(np.frombuffer(data, np.uint8), most, MAX_ITEMS, RECORD, state)
        if found == WHOLE:
            return int(state[AT])
        if found == INCOMPLETE:
            return 0
        if found == TOO_LARGE:
            raise ProtocolError(f"a message may have {most:,} bytes: send less at once")
        raise ProtocolError(_WRONG[found])

    def is_value(self, data: bytes) -> bool:
        """Return whether the bytes are exactly one value."""
        try:
            return self.end(data, len(data)) == len(data) > 0
        except ProtocolError:
            return False


def prepare() -> None:
    """Compile the kernel that finds messages, for both kinds of input, before clients wait."""
    for data in (b"\xc0", bytearray(b"\xc0")):
        Framing().end(data, 1)


def check_recall(recall: object) -> None:
    """Check the memories of a recall in a message: they are bytes that hold messages themselves.

    Raises `ProtocolError` for bytes that may not be decoded.
    """
    if isinstance(recall, ReceivedRecall) and not Framing().is_value(recall.packed):
        raise ProtocolError("the memories of a recall are not those of a server")


# Keeps the bytes of one client until they are whole messages.
MAX_HELLO = 64 << 10
"""The most bytes of a message from a client that has not said hello yet."""


class MessageBuffer:
    """Keeps the beginning of a message until the rest of it has arrived.

    count_bytes: is told how many more bytes are kept (fewer, if negative), and returns whether all
    clients together keep few enough. max_bytes: of one message. Threads: the event loop's.
    """

    def __init__(self, count_bytes: Callable[[int], bool]) -> None:
        self._count_bytes = count_bytes
        self._kept = bytearray()
        self._framing = Framing()
        self.max_bytes: int = MAX_HELLO

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, data: bytes) -> bytes:
        """Return the bytes to read now: none while the message that was begun is not whole.

        Raises `ProtocolError` for a message that may not be decoded, `OverloadedError` as `keep`
        does.
        """
        if not self._kept:
            return data
        self.keep(data)
        if not self._framing.end(self._kept, self.max_bytes, fresh=False):
            return b""
        data = bytes(self._kept)
        self.drop()
        return data

    def end(self, data: memoryview) -> int:
        """Return where the first message of ``data`` ends, 0 if it is not whole.

        Raises `ProtocolError` for a message that may not be decoded.
        """
        return self._framing.end(data, self.max_bytes)

    def keep(self, data: bytes | memoryview) -> None:
        """Keep a piece of a message. Raises `OverloadedError` if all clients keep too much."""
        self._kept += data
        if not self._count_bytes(len(data)):
            raise OverloadedError("too many unfinished messages are kept", 1.0)

    def drop(self) -> None:
        """Forget what is kept."""
        self._count_bytes(-len(self._kept))
        self._kept.clear()
