"""Finds where a client's message ends, and checks that it may be decoded, before it is decoded."""

import numpy as np

from recollex.remote.wire.codec import MAX_DEPTH, RECORD
from recollex.remote.wire.received import ReceivedRecall
from recollex_engine.errors import ProtocolError
from recollex_kernels.wire import message
from recollex_kernels.wire.message import AT, FRAMES, INCOMPLETE, TOO_LARGE, WHOLE, value_end

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
