"""How does a server run? It opens a store, listens, and on a signal finishes what it began."""

import asyncio
import gc
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

import recollex
from recollex.api.store import Store
from recollex.server.access import Access
from recollex.server.limits import Limits
from recollex.server.listener import Listener, tls_context
from recollex.server.observer import Observer
from recollex.server.reader_process import Opener
from recollex.server.service import Service
from recollex_engine.errors import InputError

SWITCH = 0.0005
"""Seconds after which a thread that works gives the interpreter to one that waits: a worker that
runs Python must not keep the event loop waiting for the usual 5 ms."""


class Server:
    """A store behind sockets, on the running event loop; use it with ``async with``.

    >>> import tempfile
    >>> async def first_call(folder):
    ...     async with Server(recollex.open(folder)) as server:
    ...         await server.listen(f"unix://{folder}/socket")
    ...         return server.addresses
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(first_call(folder))
    ['unix:///.../socket']
    """

    def __init__(
        self,
        store: Store,
        *,
        limits: Limits | None = None,
        access: Access | None = None,
        observer: Observer | None = None,
        opener: Opener | None = None,
    ) -> None:
        self.service = Service(store, limits, access, observer, opener)
        self.listener = Listener(self.service, recollex.__version__)

    @property
    def addresses(self) -> list[str]:
        """Where clients may connect, as `recollex.connect` takes it."""
        return self.listener.addresses

    async def listen(
        self, address: str, certificate: str | None = None, key: str | None = None
    ) -> None:
        """Listen on "unix:///path", "tcp://host:port" or "tls://host:port".

        certificate, key: PEM files, for TLS. Raises `InputError` for what cannot be listened on.
        """
        scheme, _, rest = address.partition("://")
        if scheme == "unix" and rest:
            await self.listener.listen_unix(rest)
            return
        host, _, port = rest.rpartition(":")
        if scheme not in ("tcp", "tls") or not host or not port.isdigit() or int(port) > 65535:
            raise InputError(
                f"an address is unix:///path, tcp://host:port or tls://host:port, got {address!r}"
            )
        tls = None
        if scheme == "tls":
            if certificate is None:
                raise InputError("tls:// needs a certificate and its key, PEM files")
            tls = tls_context(certificate, key)
        await self.listener.listen_tcp(host.strip("[]"), int(port), tls)

    async def stop(self) -> None:
        """Answer what was asked, close the connections and the store; twice is fine.

        After ``limits.drain`` seconds what has not begun is refused. What was acknowledged is
        durable, and a write that has begun is finished.
        """
        await self.listener.stop(self.service.limits.drain)
        await self.service.stop()

    async def __aenter__(self) -> "Server":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


def run(main: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    """Run a server's coroutine, on uvloop if it is installed, until it ends.

    It is given an event, which SIGTERM or SIGINT sets; a second signal ends the process at once.
    """

    async def signalled() -> None:
        loop = asyncio.get_running_loop()
        stopping = asyncio.Event()

        def stop(number: int) -> None:
            stopping.set()
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop, number)
        await main(stopping)

    sys.setswitchinterval(SWITCH)
    factory: Any = None
    with suppress(ImportError):
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(signalled())


def freeze_heap() -> None:
    """Leave what was imported and opened out of the collector's rounds."""
    gc.collect()
    gc.freeze()


def default_socket(store: str) -> Path:
    """Return where a server of a store listens unless it is told otherwise; makes the folder."""
    folder = Path(store).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "socket"
