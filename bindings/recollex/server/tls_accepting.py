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

from recollex.server.limits import Limits

PAUSE = 0.1
"""Seconds until the next connection is accepted where the system has no descriptor for it."""


class TlsAccepting:
    """Accepts connections on sockets that listen, until it is closed.

    make() returns the protocol of a connection that speaks TLS. connected() returns how many there
    are: with those that do not speak yet at most `Limits.connections`; others are closed.

    Threads: the event loop's.
    """

    def __init__(
        self,
        listening: Sequence[socket.socket],
        context: ssl.SSLContext,
        limits: Limits,
        make: Callable[[], asyncio.Protocol],
        connected: Callable[[], int],
    ) -> None:
        self.sockets = listening
        self._context = context
        self._limits = limits
        self._make = make
        self._connected = connected
        self._shaking: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        self._tasks = [self._loop.create_task(self._accept(each)) for each in listening]

    async def _accept(self, listening: socket.socket) -> None:
        with listening:
            while True:
                try:
                    accepted, _ = await self._loop.sock_accept(listening)
                except OSError:  # no descriptor is left, or the client is gone already
                    await asyncio.sleep(PAUSE)
                    continue
                if len(self._shaking) + self._connected() >= self._limits.connections:
                    accepted.close()
                    continue
                task = self._loop.create_task(self._shake_hands(accepted))
                self._shaking.add(task)
                task.add_done_callback(self._shaking.discard)

    async def _shake_hands(self, accepted: socket.socket) -> None:
        seconds = self._limits.handshake
        try:
            await self._loop.connect_accepted_socket(
                self._make,
                accepted,
                ssl=self._context,
                ssl_handshake_timeout=seconds,
                ssl_shutdown_timeout=seconds,
            )
        except OSError:  # it speaks no TLS, or too late, or is gone; errors of ssl are OSErrors
            accepted.close()
        except asyncio.CancelledError:
            accepted.close()
            raise

    def close(self) -> None:
        """Accept no more connections, and drop those that do not speak TLS yet."""
        for task in (*self._tasks, *self._shaking):
            task.cancel()


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
