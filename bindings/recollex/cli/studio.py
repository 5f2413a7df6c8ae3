"""The subcommand studio, which shows a store's memories in a browser."""

import asyncio
import ipaddress
import secrets
import sys
import webbrowser
from contextlib import suppress
from hashlib import sha256
from typing import Any
from urllib.parse import quote

import recollex
from recollex.cli.existing_store import is_missing, is_unknown, open_store
from recollex.cli.options import host_and_port
from recollex.cli.parser import Arguments
from recollex.cli.recorded_model import embedder_for
from recollex.cli.terminal import say, show
from recollex.cli.warmup import Stopped, warm
from recollex.remote.http.http_server import start_http
from recollex.remote.server.access import Access, Principal
from recollex.remote.server.logs import Log
from recollex.remote.server.server import run
from recollex.remote.server.service import Service
from recollex.remote.server.telemetry import Telemetry
from recollex_engine.errors import InputError

ANY_PORT = "127.0.0.1:0"


def studio(arguments: Arguments) -> int:
    """Serve the studio of a store until SIGTERM or SIGINT; the store is opened for reading."""
    host, port = _loopback(arguments.listen or ANY_PORT)
    if is_missing(arguments):
        return 1
    store = open_store(arguments, read_only=True)
    if arguments.agent is not None and is_unknown(arguments.agent, store.agents(), arguments):
        store.close()
        return 1
    token = secrets.token_urlsafe(24)
    only = None if arguments.agent is None else (_literal(arguments.agent),)
    reader = Principal("studio", only, scope="read")
    access = Access([(sha256(token.encode()).digest(), reader)])
    embedder = embedder_for(arguments, None)
    telemetry = Telemetry(log=Log(level="error"))

    async def main(stopping: asyncio.Event) -> None:
        service = Service(store, access=access, observer=telemetry)
        try:
            http = await start_http(service, telemetry.metrics, host, port)
            try:
                telemetry.add_service_gauges(service)
                address, number = http.address
                shown = f"[{address}]" if ":" in address else address
                url = f"http://{shown}:{number}/studio#token={token}"
                if arguments.agent is not None:
                    url += f"&agent={quote(arguments.agent, safe='')}&view={arguments.view}"
                show(arguments, f"the studio of {store.path} is at {url}", listening=url)
                sys.stdout.flush()
                if not arguments.no_browser:
                    await asyncio.to_thread(webbrowser.open, url)
                await _warm_until(stopping, embedder)
            finally:
                await http.close()
        finally:
            await service.stop()

    run(main)
    return 0


async def _warm_until(stopping: asyncio.Event, embedder: Any) -> None:
    """Warm up in the background, and return when ``stopping`` is set."""
    warming = None
    if not isinstance(embedder, recollex.GivenVectors):
        say("warming up: until it is ready, the first recall takes longer")
        warming = asyncio.create_task(asyncio.to_thread(warm, embedder, stopping.is_set))
        warming.add_done_callback(_say_ready)
    await stopping.wait()
    if warming is not None:
        with suppress(Stopped, Exception):  # `_say_ready` has told
            await warming


def _say_ready(warming: "asyncio.Task[str | None]") -> None:
    error = None if warming.cancelled() else warming.exception()
    if error is None:
        say("ready; Ctrl-C ends it")
    elif not isinstance(error, Stopped):
        say(f"warming up failed, recalls may: {error}")


def _loopback(given: str) -> tuple[str, int]:
    """Return the host and the port of ``--listen``, which only this machine may reach."""
    host, port = host_and_port(given, "--listen")
    name = host.strip("[]")
    if name != "localhost":
        try:
            own = ipaddress.ip_address(name).is_loopback
        except ValueError:
            own = False
        if not own:
            raise InputError(
                f"--listen must be an address of this machine alone, such as 127.0.0.1:7078, got "
                f"{given!r}: for others, recollex serve --http has /studio, with tokens and TLS"
            )
    return name, port


def _literal(agent: str) -> str:
    """Return the pattern of `fnmatch` that matches this id alone."""
    return "".join(f"[{each}]" if each in "*?[" else each for each in agent)
