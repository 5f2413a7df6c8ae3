"""The command mcp, which gives assistants a memory over the Model Context Protocol."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollex.cli.existing_store import key_of
from recollex.cli.options import add_embedder, add_language, add_store, host_and_port
from recollex.cli.parser import Arguments, Command, Parser
from recollex.cli.terminal import show
from recollex_engine.errors import InputError

if TYPE_CHECKING:
    from recollex.frameworks.mcp.agents import Stores


def _mcp_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add("--agent", metavar="NAME", help="whose memory (default)")
    add("--agent-by-client", action="store_true", help="each client has its own, of its name")
    add("--read-only", action="store_true", help="offer only tools that read")
    add(
        "--compat",
        choices=["reference"],
        metavar="SERVER",
        help="reference: the nine tools of MCP's reference memory server",
    )
    add("--source", metavar="WORD", help="stamp what is retained: assistant, tool, web ...")
    add("--http", metavar="HOST:PORT", help="serve streamable HTTP at /mcp, not stdio")
    add("--tokens", metavar="FILE", help="TOML: who may call over HTTP; see serve")
    add("--insecure", action="store_true", help="let other machines connect without TLS")
    add("--llm", metavar="NAME", help="a language model, for the tool think (recollex[llm])")
    add("--llm-url", metavar="URL", help="its endpoint, OpenAI's own if not given")
    add_language(parser)
    add_embedder(parser)


def mcp(arguments: Arguments) -> int:
    """Serve a memory over MCP: over stdio until the client leaves, or over HTTP until SIGTERM.

    Nothing heavy is imported here: a client waits for the first answer.
    """
    if find_spec("mcp") is None:
        raise InputError("the MCP server needs the package mcp: pip install 'recollex[mcp]'")
    if arguments.agent_by_client and arguments.agent is not None:
        raise InputError("--agent names one agent, and --agent-by-client many: give one of them")
    if arguments.tokens is not None and arguments.http is None:
        raise InputError("--tokens is for HTTP: give --http HOST:PORT")
    _check_store(arguments.store)
    from recollex.frameworks.mcp.agents import Agents
    from recollex.frameworks.mcp.server import make_server, serve_stdio

    name = None if arguments.agent_by_client else arguments.agent or "default"
    agents = Agents(lambda: _open(arguments), name)
    server = make_server(
        agents,
        read_only=arguments.read_only,
        reference=arguments.compat is not None,
        source=arguments.source,
    )
    if arguments.http is None:
        serve_stdio(server, agents)
        return 0
    if find_spec("httptools") is None:
        raise InputError("--http needs the package httptools: pip install 'recollex[mcp]'")
    from recollex.frameworks.mcp.http_serving import serve_http
    from recollex.remote.server.access import Access

    host, port = host_and_port(arguments.http, "--http")
    serve_http(
        server,
        agents,
        host.strip("[]"),
        port,
        Access() if arguments.tokens is None else Access.from_file(arguments.tokens),
        insecure=arguments.insecure,
        ready=lambda address: _announce(arguments, address),
    )
    return 0


def _announce(arguments: Arguments, address: str) -> None:
    show(arguments, f"listening on {address}", listening=address)
    sys.stdout.flush()


def _check_store(store: str) -> None:
    """Raise `InputError` for a folder that holds other files, before a client is answered."""
    folder = Path(store)
    if "://" in store:
        return
    if folder.is_file() or (
        folder.is_dir() and any(folder.iterdir()) and not (folder / "store.json").exists()
    ):
        raise InputError(f"{folder} holds other files and no store: give a folder of its own")


def _open(arguments: Arguments) -> "Stores":
    """Open the store; in a thread, while the first requests are answered."""
    from recollex.frameworks.mcp.stores import Served, SharedFolder

    read_only = arguments.read_only
    if "://" in arguments.store:
        return Served(arguments.store, os.environ.get("RECOLLEX_TOKEN"), read_only=read_only)
    from recollex.api.language_models import llm
    from recollex.cli.recorded_model import embedder_for
    from recollex_engine.models.encoder import load_encoder

    key = key_of(arguments)
    embedder: Any = embedder_for(arguments, key)
    if embedder is None or isinstance(embedder, str):
        embedder = load_encoder() if embedder is None else load_encoder(embedder)
    options: dict[str, Any] = {"embedder": embedder, "key": key}
    if arguments.language is not None:
        options["language"] = arguments.language
    if arguments.llm is not None:
        secret = os.environ.get("RECOLLEX_LLM_KEY") or os.environ.get("OPENAI_API_KEY")
        options["llm"] = llm(arguments.llm, base_url=arguments.llm_url, key=secret)
    stores = SharedFolder(arguments.store, read_only=read_only, **options)
    _warm(stores, arguments.agent or "default")
    return stores


def _warm(stores: "Stores", agent: str) -> None:
    """Do once what the first recall would wait for: kernels are loaded, files are mapped."""
    held = stores.reading(agent)
    if held.count():
        held.recall("What is known?", limit=1)


COMMANDS = (
    Command(
        "mcp",
        "give assistants a memory, over the Model Context Protocol",
        ["mcp memory/ --agent alice", "mcp memory/ --http 127.0.0.1:7078 --read-only"],
        _mcp_options,
        mcp,
    ),
)
