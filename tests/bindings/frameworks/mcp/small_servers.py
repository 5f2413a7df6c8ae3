"""MCP servers over a folder, in this process, with a model in miniature."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.bindings.word_vectors import WordVectors
from tests.imported_later import imported_later

mcp = imported_later("mcp", reason="mcp is not installed")
mcp_types = imported_later("mcp_types", reason="as above")
ours = imported_later("recollex.frameworks.mcp.server", reason="as above")
opening = imported_later("recollex.frameworks.mcp.agents", reason="as above")
stores = imported_later("recollex.frameworks.mcp.stores", reason="as above")


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
) -> AsyncIterator[Any]:
    """Give a client of a server of its own over the folder."""
    opened = {"embedder": WordVectors(), "llm": llm}
    agents = opening.Agents(
        lambda: stores.SharedFolder(str(path), read_only=read_only, **opened), agent
    )
    server = ours.make_server(agents, read_only=read_only, **options)
    agents.start()
    try:
        info = mcp_types.Implementation(name=client, version="1")
        async with mcp.Client(server, client_info=info, mode=mode) as talking:
            yield talking
    finally:
        agents.close()


async def called(client: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return what a tool answers as structured content; an error's text as "error"."""
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    if result.is_error:
        return {"error": content.text}
    return {"text": content.text, **result.structured_content}
