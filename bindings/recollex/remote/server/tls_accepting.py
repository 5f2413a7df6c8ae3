"""Accepts connections that speak TLS, within the server's limits.

A server of asyncio shows a connection to its protocol when its handshake is done. So connections
that say nothing would be counted nowhere, and stay for a minute. Here they are counted when they
are accepted, and have `Limits.handshake` seconds to speak TLS.
"""

import asyncio
import contextlib
import errno
import socket
import ssl
from collections.abc import Callable, Sequence
from functools import partial

from recollex.remote.server.connection_limiter import Client, ConnectionLimiter

PAUSE = 0.1
"""Seconds until the next connection is accepted where the system has no descriptor for it."""


class _Shaking:
    """A connection that does not speak TLS yet. Its clock is that of the handshake itself."""

    __slots__ = ("task",)

    task: "asyncio.Task[object]"

    def overdue(self, now: float) -> str | None:
        return None

    def abort(self, why: str) -> None:
        self.task.cancel()


class TlsAccepting:
    """Accepts connections on sockets that listen, until it is closed.

    make() returns the protocol of a connection that speaks TLS; its argument is what the limiter
    has counted the connection as until then.

    Threads: the event loop's.
    """

    def __init__(
        self,
        listening: Sequence[socket.socket],
        context: ssl.SSLContext,
        make: Callable[[Client], asyncio.Protocol],
        limiter: ConnectionLimiter,
    ) -> None:
        self.sockets = listening
        self._context = context
        self._make = make
        self._limiter = limiter
        self._shaking: set[_Shaking] = set()
        self._closed = False
        self._loop = asyncio.get_running_loop()
        for each in listening:
            self._watch(each)

    def _watch(self, listening: socket.socket) -> None:
        if not self._closed:
            self._loop.add_reader(listening, self._accept, listening)

    def _accept(self, listening: socket.socket) -> None:
        """Accept one connection, in one step: a task could be cancelled with it in hand."""
        try:
            accepted, peer = listening.accept()
        except (BlockingIOError, ConnectionAbortedError):  # the client is gone already
            return
        except OSError:  # no descriptor is left
            self._loop.remove_reader(listening)
            self._loop.call_later(PAUSE, self._watch, listening)
            return
        shaking = _Shaking()
        if not self._limiter.join(shaking, peer):
            self._limiter.leave(shaking)
            accepted.close()
            return
        accepted.setblocking(False)
        seconds = self._limiter.limits.handshake
        shaking.task = self._loop.create_task(
            self._loop.connect_accepted_socket(
                partial(self._make, shaking),
                accepted,
                ssl=self._context,
                ssl_handshake_timeout=seconds,
                ssl_shutdown_timeout=seconds,
            )
        )
        self._shaking.add(shaking)
        shaking.task.add_done_callback(partial(self._shaken, accepted, shaking))

    def _shaken(
        self, accepted: socket.socket, shaking: _Shaking, task: "asyncio.Task[object]"
    ) -> None:
        """Close what speaks no TLS, or too late, or is gone, also before its task began."""
        self._shaking.discard(shaking)
        self._limiter.leave(shaking)
        if task.cancelled():
            accepted.close()
        elif (failed := task.exception()) is not None:
            accepted.close()
            if not isinstance(failed, OSError):  # errors of ssl are OSErrors
                raise failed

    def close(self) -> None:
        """Accept no more connections, and drop those that do not speak TLS yet."""
        self._closed = True
        for listening in self.sockets:
            self._loop.remove_reader(listening)
            listening.close()
        for shaking in self._shaking:
            shaking.task.cancel()


def listening_sockets(host: str, port: int, backlog: int) -> list[socket.socket]:
    """Return sockets that listen on all addresses of a host; raises the plain `OSError`."""
    found: list[socket.socket] = []
    with contextlib.ExitStack() as failed:
        asked = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, _, _, _, address in dict.fromkeys(asked):
            try:
                made = socket.create_server(address, family=family, backlog=backlog)
            except OSError as error:
                if error.errno == errno.EAFNOSUPPORT:  # IPv6 is switched off
                    continue
                raise
            failed.callback(made.close)
            made.setblocking(False)
            found.append(made)
        failed.pop_all()
    return found
