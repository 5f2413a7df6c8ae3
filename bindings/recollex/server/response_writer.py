"""Who writes an answer? The thread that has it, if the client takes it at once.

Waking the event loop to write a few bytes costs as much as the bytes. So answers go past the
transport, which is left to read and to close; what the client does not take at once waits here, and
the event loop writes it when it can. TLS has a state of its own, and goes through the transport.
"""

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any


class ResponseWriter:
    """The way to a client. ``changed`` is told on the event loop when `full` has changed.

    Invariant: messages go out whole, in the order in which they were given.
    Threads: any number may `send`; the rest is the event loop's.
    """

    def __init__(self, transport: asyncio.Transport, changed: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._changed = changed
        self._lock = threading.Lock()
        self._waiting: deque[memoryview] = deque()
        self._file = os.dup(transport.get_extra_info("socket").fileno())
        self._armed = False

    @property
    def full(self) -> bool:
        """Whether something waits for the client to take it."""
        return bool(self._waiting)

    def send(self, data: bytes) -> None:
        """Send a message, now or when the client takes it; nothing happens once it is closed."""
        with self._lock:
            if self._file < 0:
                return
            if not self._waiting:
                try:
                    sent = os.write(self._file, data)
                except BlockingIOError:
                    sent = 0
                except OSError:  # the client left, which the transport is about to tell
                    return
                if sent == len(data):
                    return
                self._waiting.append(memoryview(data)[sent:])
                self._loop.call_soon_threadsafe(self._arm)
            else:
                self._waiting.append(memoryview(data))

    def close(self) -> None:
        """Send nothing more."""
        with self._lock:
            if self._armed:
                self._loop.remove_writer(self._file)
                self._armed = False
            self._waiting.clear()
            os.close(self._file)
            self._file = -1

    def _arm(self) -> None:
        """Write on when the client has taken something."""
        if self._waiting and not self._armed and self._file >= 0:
            self._armed = True
            self._loop.add_writer(self._file, self._flush)
            self._changed()

    def _flush(self) -> None:
        with self._lock:
            while self._waiting:
                data = self._waiting[0]
                try:
                    sent = os.write(self._file, data)
                except BlockingIOError:
                    return
                except OSError:
                    self._waiting.clear()
                    break
                if sent < len(data):
                    self._waiting[0] = data[sent:]
                    return
                self._waiting.popleft()
            self._armed = False
            self._loop.remove_writer(self._file)
        self._changed()


class TlsResponseWriter:
    """The same through a transport, which encrypts; `paused` and `resumed` are what it tells."""

    def __init__(self, transport: asyncio.Transport, changed: Callable[[], None]) -> None:
        self._loop: Any = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._transport = transport
        self._changed = changed
        self.full = False
        limits = partial(transport.set_write_buffer_limits, high=1, low=0)
        self._loop.call_soon(limits)  # at once they would be told of the handshake's last bytes

    def send(self, data: bytes) -> None:
        """Send a message; see `ResponseWriter.send`."""
        if threading.get_ident() == self._thread:
            self._transport.write(data)
        else:
            self._loop.call_soon_threadsafe(self._transport.write, data)

    def close(self) -> None:
        """Send nothing more; the transport is closed by its owner."""

    def pause(self, full: bool) -> None:
        """Note whether the transport waits for the client."""
        self.full = full
        self._changed()
