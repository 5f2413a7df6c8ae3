"""Which connection does a call take? A few are kept, shared by threads, and not across a fork."""

import os
import threading
import time
import weakref
from collections.abc import Callable

from recollex.client.channel import Channel
from recollex_engine.errors import ClosedError, DeadlineError

Connect = Callable[[float | None], Channel]
"""Opens a channel before a deadline on `time.monotonic`'s clock, None for no deadline."""


class Pool:
    """Up to ``size`` channels to one server, each lent to one thread at a time.

    The latest one returned is lent first, so that a quiet program keeps one in use. After a fork
    the child has a pool of its own that is empty; the parent's goes on.

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
        """Return a channel that nobody else uses until `give` or `discard`.

        Waits for one where ``size`` are in use. Raises `errors.DeadlineError`, naming ``method``,
        `errors.ClosedError`, and what connecting raises.
        """
        try:
            return self._idle.pop()  # the interpreter lock makes it one step
        except IndexError:
            return self._wait(deadline, method)

    def give(self, channel: Channel) -> None:
        """Take a channel back; one that cannot be used again is closed."""
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
        """Take a channel back that is of no use, and close it."""
        with self._freed:
            if channel in self._channels:
                self._channels.remove(channel)
                self._open -= 1
                self._freed.notify()
        channel.close()

    def close(self) -> None:
        """Close what nobody uses, now, and the others when they are given back."""
        self._closed = True
        with self._freed:
            self._freed.notify_all()
        self.discard_idle()

    def discard_idle(self) -> None:
        """Close the channels that nobody uses."""
        while True:
            try:
                self.discard(self._idle.pop())
            except IndexError:
                return

    def _wait(self, deadline: float | None, method: str) -> Channel:
        """Return a channel that was given back, or one that is opened now."""
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
        self._open = 0  # those in use, idle, and being opened

    def _after_fork(self) -> None:
        """Leave the parent's channels to it; whoever held the lock does not exist here."""
        inherited, self._channels = self._channels, set()
        self._begin_empty()
        for channel in inherited:
            channel.abandon()


_POOLS: "weakref.WeakSet[Pool]" = weakref.WeakSet()


def _in_the_child() -> None:
    for pool in list(_POOLS):
        pool._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_the_child)
