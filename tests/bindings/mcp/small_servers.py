"""MCP servers over a folder, in this process, with a model in miniature."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types
from mcp import Client
from mcp.server.mcpserver import MCPServer

from recollex.mcp.agents import Agents
from recollex.mcp.server import make_server
from recollex.mcp.stores import SharedFolder
from tests.bindings.word_vectors import WordVectors


@asynccontextmanager
async def connected(
    path: Path,
    *,
    agent: str | None = "default",
    client: str = "tester",
    mode: str = "auto",
    llm: Any = None,
    read_only: bool = False,
    **options: Any,
) -> AsyncIterator[Client]:
    """Give a client of a server of its own over the folder."""
    opened = {"embedder": WordVectors(), "llm": llm}
    agents = Agents(lambda: SharedFolder(str(path), read_only=read_only, **opened), agent)
    server: MCPServer[Any] = make_server(agents, read_only=read_only, **options)
    agents.start()
    try:
        info = mcp_types.Implementation(name=client, version="1")
        async with Client(server, client_info=info, mode=mode) as talking:
            yield talking
    finally:
        agents.close()


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return what a tool answers as structured content; an error's text as "error"."""
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    if result.is_error:
        return {"error": content.text}
    return {"text": content.text, **result.structured_content}
