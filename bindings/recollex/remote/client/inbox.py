"""Decodes the bytes of a server to the answers for which calls wait."""

from typing import Any, NamedTuple

import msgpack

from recollex.api.progress import ProgressListener
from recollex.remote.client.channel import LostError
from recollex.remote.wire.chunks import joined
from recollex.remote.wire.codec import Decoder
from recollex.remote.wire.error_codec import decode_error
from recollex.remote.wire.messages import NOTIFICATION, RESPONSE
from recollex_engine.errors import OverloadedError, ProtocolError, RecollexError

MOST = 2**31 - 1
"""Bytes of one message, at most."""


class ServerAnswer(NamedTuple):
    """The answer to one call: a result, or an error."""

    id: int
    error: RecollexError | None
    result: Any


class Inbox:
    """The messages that one connection receives. Threads: one at a time.

    closing: why the server is about to close; None otherwise. progress_listeners: id of a call ->
    the callback for its progress.
    """

    def __init__(self) -> None:
        self._unpacker = msgpack.Unpacker(
            ext_hook=Decoder(later=True).extension, strict_map_key=True, max_buffer_size=MOST
        )
        self._chunks: dict[int, list[list[Any]]] = {}
        self.progress_listeners: dict[int, ProgressListener] = {}
        self.closing: RecollexError | None = None

    def feed(self, data: bytes | memoryview) -> None:
        """Take received bytes."""
        self._unpacker.feed(data)

    def take(self) -> ServerAnswer | None:
        """Return the next answer; None if it is not complete. Raises `errors.ProtocolError`."""
        try:
            for message in self._unpacker:
                if (answer := self._read(message)) is not None:
                    return answer
        except RecollexError:
            raise
        except (ValueError, TypeError, KeyError, IndexError, msgpack.UnpackException) as error:
            raise ProtocolError(f"the server said what is no message: {error}") from error
        return None

    def hung_up(self) -> RecollexError | LostError:
        """Return the error of a call that had no answer when the server closed the connection."""
        if self.closing is None or isinstance(self.closing, OverloadedError):
            return LostError(str(self.closing or "the server hung up"), True)
        return self.closing

    def _read(self, message: Any) -> ServerAnswer | None:
        if message[0] == RESPONSE:
            _, id, error, result = message
            chunks = self._chunks.pop(id, None) if self._chunks else None
            if self.progress_listeners:
                self.progress_listeners.pop(id, None)
            if error is not None:
                return ServerAnswer(id, decode_error(error), None)
            return ServerAnswer(id, None, result if chunks is None else joined(chunks, result))
        if message[0] != NOTIFICATION:
            raise ProtocolError(f"a server sends responses and notifications, got {message[0]!r}")
        _, name, parameters = message
        if name == "part":
            self._chunks.setdefault(parameters[0], []).append(parameters[1])
        elif name == "progress" and parameters[0] in self.progress_listeners:
            self.progress_listeners[parameters[0]](*parameters[1:])
        elif name == "closing":
            self.closing = decode_error(parameters)
        return None
