"""Keeps a few connections to a server for the threads of one process."""

import os
import threading
import time
import weakref
from collections.abc import Callable

from recollex.remote.client.sockets import Channel
from recollex_engine.errors import ClosedError, DeadlineError

Connect = Callable[[float | None], Channel]
"""Opens a channel before a deadline on `time.monotonic`'s clock, None for no deadline."""


class Pool:
    """Up to ``size`` channels to one server, each used by one thread at a time.

    The channel that was given back last is taken first, so a program with few calls uses one
    channel. After a fork the child's pool is empty; the parent's is not changed.

    Threads: any number may use it.
    """

    def __init__(self, connect: Connect, size: int) -> None:
        self._connect = connect
        self._size = size
        self._closed = False
        self._channels: set[Channel] = set()
        self._begin_empty()
        _POOLS.add(self)

    def take(self, deadline: float | None, method: str) -> Channel:
        """Return a channel for the caller alone, until `give` or `discard`.

        If ``size`` channels are in use, this waits for one. Raises `errors.DeadlineError`, naming
        ``method``, `errors.ClosedError`, and the errors of connecting.
        """
        try:
            return self._idle.pop()  # atomic, by the interpreter lock
        except IndexError:
            return self._wait(deadline, method)

    def give(self, channel: Channel) -> None:
        """Take a channel back; close it if it cannot be used again."""
        if not channel.is_idle:
            self.discard(channel)
            return
        self._idle.append(channel)
        if self._waiting:
            with self._freed:
                self._freed.notify()
        if self._closed:
            self.close()

    def discard(self, channel: Channel) -> None:
        """Take back a channel that cannot be used, and close it."""
        with self._freed:
            if channel in self._channels:
                self._channels.remove(channel)
                self._open -= 1
                self._freed.notify()
        channel.close()

    def close(self) -> None:
        """Close the idle channels now, and the others when they are given back."""
        self._closed = True
        with self._freed:
            self._freed.notify_all()
        self.discard_idle()

    def discard_idle(self) -> None:
        """Close the idle channels."""
        while True:
            try:
                self.discard(self._idle.pop())
            except IndexError:
                return

    def _wait(self, deadline: float | None, method: str) -> Channel:
        """Return a channel that was given back, or a new one."""
        with self._freed:
            self._waiting += 1
            try:
                while True:
                    if self._closed:
                        raise ClosedError("the connection was closed: connect again")
                    if self._idle:
                        return self._idle.pop()
                    if self._open < self._size:
                        self._open += 1
                        break
                    left = None if deadline is None else deadline - time.monotonic()
                    if left is not None and left <= 0:
                        raise DeadlineError(method, False)
                    self._freed.wait(left)
            finally:
                self._waiting -= 1
        return self._opened(deadline)

    def _opened(self, deadline: float | None) -> Channel:
        try:
            channel = self._connect(deadline)
        except BaseException:
            with self._freed:
                self._open -= 1
                self._freed.notify()
            raise
        with self._freed:
            self._channels.add(channel)
        return channel

    def _begin_empty(self) -> None:
        self._idle: list[Channel] = []
        self._freed = threading.Condition()
        self._waiting = 0
        self._open = 0  # channels in use, idle, and being opened

    def _after_fork(self) -> None:
        """Abandon the parent's channels, and make a new lock: no thread here holds the old one."""
        inherited = self._channels
        self._channels = set()
        self._begin_empty()
        for channel in inherited:
            channel.abandon()


_POOLS: "weakref.WeakSet[Pool]" = weakref.WeakSet()


def _in_the_child() -> None:
    for pool in list(_POOLS):
        pool._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_the_child)
