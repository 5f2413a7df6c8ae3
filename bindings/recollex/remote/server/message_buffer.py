"""Keeps the bytes of one client until they are whole messages."""

from collections.abc import Callable

from recollex.remote.server.framing import Framing
from recollex_engine.errors import OverloadedError

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
