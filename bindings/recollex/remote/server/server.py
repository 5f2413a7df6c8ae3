"""A server's life: it opens a store, listens, and on a signal finishes what it has begun."""

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
from recollex.remote.server.access import Access
from recollex.remote.server.calls import Observer
from recollex.remote.server.limits import ServerLimits
from recollex.remote.server.listener import Listener, tls_context
from recollex.remote.server.reader_process import Opener
from recollex.remote.server.service import Gate, Service
from recollex_engine.errors import InputError
from recollex_engine.storage.disk import make_folder

SWITCH = 0.0005
"""Seconds after which a running thread gives the interpreter to a waiting one. With the usual 5 ms,
a worker that runs Python would delay the event loop."""


class Server:
    """A store that listens on sockets, on the running event loop; use it with ``async with``.

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
        limits: ServerLimits | None = None,
        access: Access | None = None,
        observer: Observer | None = None,
        opener: Opener | None = None,
        gate: Gate | None = None,
    ) -> None:
        self.service: Service = Service(store, limits, access, observer, opener, gate)
        self.listener: Listener = Listener(self.service, recollex.__version__)

    @property
    def addresses(self) -> list[str]:
        """The addresses to connect to, as `recollex.connect` takes them."""
        return self.listener.addresses

    async def listen(
        self,
        address: str,
        certificate: str | None = None,
        key: str | None = None,
        *,
        insecure: bool = False,
    ) -> None:
        """Listen on "unix:///path", "tcp://host:port" or "tls://host:port".

        certificate, key: PEM files, for TLS. insecure: allow "tcp" beyond this machine. Raises
        `InputError` for an address that cannot be listened on.
        """
        self.service.check_process()
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
        await self.listener.listen_tcp(host.strip("[]"), int(port), tls, insecure=insecure)

    async def stop(self) -> None:
        """Answer the calls that were made, close the connections and the store; twice is fine.

        After ``limits.drain`` seconds, calls that have not begun are refused. Acknowledged writes
        are durable, and a write that has begun is finished. Does nothing in a forked child: the
        sockets are its parent's.
        """
        if self.service.inherited:
            return
        await self.listener.stop(self.service.limits.drain)
        await self.service.stop()

    async def __aenter__(self) -> "Server":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


def run(main: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    """Run a server's coroutine, on uvloop if installed, until it ends.

    It receives an event, which SIGTERM or SIGINT sets; a second signal ends the process at once.
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
    """Keep the garbage collector from scanning what was imported and opened so far."""
    gc.collect()
    gc.freeze()


def default_socket(store: str) -> Path:
    """Return the default socket of a store's server; makes the folder."""
    folder = Path(store).absolute()
    make_folder(folder, private=True)
    return folder / "socket"
