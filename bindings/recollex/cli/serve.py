"""The subcommand serve, which lets other processes use a store."""

import asyncio
import os
import resource
import sys
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import recollex
from recollex.api.keys import given_key, key_bytes
from recollex.api.store import Store, read_embedder
from recollex.cli.existing_store import check_folder
from recollex.cli.options import host_and_port
from recollex.cli.parser import Arguments
from recollex.cli.recorded_model import recorded_embedder
from recollex.cli.terminal import say, show
from recollex.cli.warmup import Stopped, warm
from recollex.remote.server.access import Access
from recollex.remote.server.limits import ServerLimits
from recollex.remote.server.listener import tls_context
from recollex.remote.server.logs import Log
from recollex.remote.server.reader_process import Opener
from recollex.remote.server.server import Server, default_socket, freeze_heap, run
from recollex.remote.server.telemetry import Spans, Telemetry
from recollex_engine.agents import store as engine
from recollex_engine.background_work import usable_cores
from recollex_engine.errors import InputError
from recollex_engine.models.backends import with_precision
from recollex_engine.models.sentence_transformers_encoder import PREFIX
from recollex_engine.text.analyzer import ENGLISH
from recollex_mind.llm.language_model import LanguageModel

if TYPE_CHECKING:
    from recollex.cluster.node import ClusterNode

_GIVEN = "given:"
CLUSTER_WRITERS = 32
"""Threads of a node that write: each waits for the object store."""
SOCKET = "; --socket PATH is a Unix socket"
MAX_WORKERS = 4
"""The default limit of reader processes: each has a model of its own."""
_LIMITS = ("open_agents", "connections", "in_flight", "message_bytes", "readers")


def serve(arguments: Arguments) -> int:
    """Serve a store's agents until SIGTERM or SIGINT, then finish the calls that have begun."""
    check_folder(arguments.store)
    node = None if arguments.cluster is None else _node(arguments)
    chosen = {name: value for name in _LIMITS if (value := getattr(arguments, name)) is not None}
    if node is not None:
        chosen["writers"] = CLUSTER_WRITERS
    limits = ServerLimits(**chosen)
    access = Access() if arguments.tokens is None else Access.from_file(arguments.tokens)
    log = Log(level=arguments.log_level, texts=arguments.log_texts, slow=arguments.slow)
    telemetry = Telemetry(log=log, spans=Spans.exported() if arguments.otel else None)
    asked = _addresses(arguments)
    key = key_bytes(given_key(arguments.key_file))
    if arguments.embedder is None and node is None:
        arguments.embedder = recorded_embedder(arguments.store, key)
    embedder = _embedder(arguments.embedder)
    opener = _opener(arguments)
    _raise_limit_of_files()
    opened = engine.Store(
        arguments.store,
        read_embedder(embedder),
        durability=arguments.durability,
        language=arguments.language or ENGLISH,
        on_flush=telemetry.metrics.flushed,
        key=key,
        max_open=arguments.open_agents,
        llm=_llm(arguments),
    )
    if node is not None:
        opened.live_in(node.homes)
    if arguments.count_accesses:
        opened.count_accesses()
    store = Store(opened, arguments.extraction)

    async def main(stopping: asyncio.Event) -> None:
        async with AsyncExitStack() as ending:
            server = await ending.enter_async_context(
                Server(
                    store,
                    limits=limits,
                    access=access,
                    observer=telemetry,
                    opener=opener,
                    gate=node,
                )
            )
            telemetry.add_service_gauges(server.service)
            for address in asked:
                await server.listen(
                    address, arguments.certificate, arguments.key, insecure=arguments.insecure
                )
            addresses = list(server.addresses)
            if arguments.http is not None:
                addresses.append(await _listen_for_http(arguments, server, telemetry, ending))
            if node is not None:
                node.note = log.event
                node.start(opened)
            for address in addresses:
                show(arguments, f"listening on {address}", listening=address)
                sys.stdout.flush()
            stopped = asyncio.create_task(stopping.wait())
            warming = None
            if not isinstance(embedder, recollex.GivenVectors):
                say("warming up: until it is ready, calls take longer")
                warming = asyncio.create_task(asyncio.to_thread(warm, embedder, stopping.is_set))
                await asyncio.wait((warming, stopped), return_when=asyncio.FIRST_COMPLETED)
            if not stopping.is_set():
                if warming is not None:
                    warming.result()
                if server.service.reader_pool is not None:
                    server.service.reader_pool.start()
                freeze_heap()
                say("ready")
                log.event("started", addresses=", ".join(addresses), store=str(store.path))
            await stopped
            log.event("stopping", waiting=server.service.status().waiting)
            say("stopping: finishing what was begun")
            if warming is not None:
                with suppress(Stopped):
                    await warming
        if node is not None:
            await asyncio.to_thread(node.stop)
        log.event("stopped")
        telemetry.close()

    run(main)
    return 0


def _node(arguments: Arguments) -> "ClusterNode":
    """Return this process as a node of the cluster; it takes no shard before it is started."""
    from recollex.cluster.node import ClusterNode, NodeOptions

    if arguments.listen is None:
        raise InputError("a node of a cluster needs --listen HOST:PORT, where others reach it")
    scheme = "tcp" if arguments.certificate is None else "tls"
    address = arguments.advertise or f"{scheme}://{arguments.listen}"
    if "://" not in address:
        address = f"{scheme}://{address}"
    name = arguments.node or address.partition("://")[2]
    arguments.workers = 0  # reader processes know nothing of shards
    options = NodeOptions(flush_ms=arguments.flush_ms)
    return ClusterNode(arguments.cluster, name, address, Path(arguments.store).absolute(), options)


async def _listen_for_http(
    arguments: Arguments, server: Server, telemetry: Telemetry, ending: AsyncExitStack
) -> str:
    """Listen on the address of ``--http``, and return it as a URL."""
    from recollex.remote.http.http_server import start_http

    host, port = host_and_port(arguments.http, "--http", SOCKET)
    tls = arguments.certificate and tls_context(arguments.certificate, arguments.key)
    http = await start_http(
        server.service,
        telemetry.metrics,
        host.strip("[]"),
        port,
        tls,
        insecure=arguments.insecure,
    )
    ending.push_async_callback(http.close)
    host, number = http.address
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if tls else 'http'}://{shown}:{number}"


def _llm(arguments: Arguments) -> LanguageModel | None:
    """Return the language model of the agents; None if none is named."""
    if arguments.llm is None:
        return None
    key = os.environ.get("RECOLLEX_LLM_KEY") or os.environ.get("OPENAI_API_KEY")
    return recollex.llm(arguments.llm, base_url=arguments.llm_url, key=key)


def _raise_limit_of_files() -> None:
    """Let the process open as many files and connections as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (ValueError, OSError):  # some systems report a limit that they do not grant
            say(f"up to {soft:,} files and connections can be open")


def _addresses(arguments: Arguments) -> list[str]:
    """Return the addresses to listen on. Raises `InputError`, also for that of ``--http``."""
    found = []
    if arguments.http is not None:
        host_and_port(arguments.http, "--http", SOCKET)
    if arguments.listen is not None:
        host_and_port(arguments.listen, "--listen", SOCKET)
        scheme = "tcp" if arguments.certificate is None else "tls"
        found.append(f"{scheme}://{arguments.listen}")
    elif arguments.certificate is not None and arguments.http is None:
        raise InputError("--certificate is for TCP: give --listen HOST:PORT or --http HOST:PORT")
    if arguments.socket is not None or arguments.listen is None:
        found.append(f"unix://{arguments.socket or default_socket(arguments.store)}")
    return found


def _opener(arguments: Arguments) -> Opener:
    """Return how reader processes open the store, and how many there are.

    They start when the server has compiled the kernels, which each would compile otherwise.

    A model of sentence-transformers is as large as the memory, and it and one on a GPU gain from
    batches of several clients' questions. So there are no reader processes with one, unless they
    are asked for.
    """
    given: str | None = arguments.embedder
    count = arguments.workers
    if count is None:
        cores = usable_cores()
        together = given is not None and (
            given.startswith(PREFIX) or with_precision(given)[1] == "fp16"
        )
        count = 0 if together or cores < 2 else min(cores, MAX_WORKERS)
    opening: dict[str, Any] = {"path": arguments.store, "embedder": given, "dimension": None}
    opening |= {"key_file": arguments.key_file, "count_accesses": arguments.count_accesses}
    if given is not None and given.startswith(_GIVEN):
        opening |= {"embedder": None, "dimension": int(given.removeprefix(_GIVEN))}
    return Opener("recollex.remote.server.reader_process:open_store", opening, count, later=True)


def _embedder(given: str | None) -> Any:
    """Return the model, loaded now rather than at the first call, or `GivenVectors`."""
    if given is None:
        return recollex.load_encoder()
    if not given.startswith(_GIVEN):
        return recollex.load_encoder(given)
    dimension = given.removeprefix(_GIVEN)
    if not dimension.isdigit():
        raise InputError(f"--embedder given:N says how long vectors are, got {given!r}")
    return recollex.GivenVectors(int(dimension))
