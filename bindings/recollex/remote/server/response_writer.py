"""Writes answers to a client on the thread that has them, if the client takes them at once.

Waking the event loop to write a few bytes costs as much as writing them. So answers bypass the
transport, which only reads and closes. Bytes that the client does not take at once wait here, and
the event loop writes them when it can. TLS keeps a state of its own, so its answers go through the
transport.
"""

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any


class ResponseWriter:
    """The way to a client. ``changed`` is called on the event loop when `full` has changed.

    Invariant: messages go out whole, in the order in which they were sent. Threads: any number may
    `send`; the rest is the event loop's.
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
        """Whether bytes wait for the client to take them."""
        return bool(self._waiting)

    def send(self, data: bytes) -> None:
        """Send a message, now or when the client takes it; ignored once closed."""
        with self._lock:
            if self._file < 0:
                return
            if not self._waiting:
                try:
                    sent = os.write(self._file, data)
                except BlockingIOError:
                    sent = 0
                except OSError:  # the client left; the transport reports it soon
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
    """The same through a transport, which encrypts; `pause` receives the transport's state.

    The transport's limits of 64 KiB stay: with a limit of 1 byte, uvloop never writes on.
    """

    def __init__(self, transport: asyncio.Transport, changed: Callable[[], None]) -> None:
        self._loop: Any = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._transport = transport
        self._changed = changed
        self.full: bool = False

    def send(self, data: bytes) -> None:
        """Send a message; see `ResponseWriter.send`."""
        if threading.get_ident() == self._thread:
            self._transport.write(data)
        else:
            self._loop.call_soon_threadsafe(self._transport.write, data)

    def close(self) -> None:
        """Send nothing more; the transport is closed by its owner."""

    def pause(self, full: bool) -> None:
        """Record whether the transport waits for the client."""
        self.full = full
        self._changed()
