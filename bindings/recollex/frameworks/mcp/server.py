"""The MCP server of a memory: its tools, resources and prompts, and how it is served."""

import logging
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer

from recollex.frameworks.mcp.agents import Agents
from recollex.frameworks.mcp.episodic_tools import EpisodicTools
from recollex.frameworks.mcp.knowledge_tools import KnowledgeTools
from recollex.frameworks.mcp.memory_tools import MemoryTools
from recollex.frameworks.mcp.prompts import INSTRUCTIONS, Prompts, PromptServer
from recollex.frameworks.mcp.reference_tools import ReferenceTools
from recollex.frameworks.mcp.resources import Resources
from recollex.frameworks.mcp.strict_server import StrictServer
from recollex_engine.storage.formats import VERSION


def make_server(
    agents: Agents,
    *,
    read_only: bool = False,
    reference: bool = False,
    source: str | None = None,
) -> MCPServer[Any]:
    """Return a server over the agents; `Agents.start` opens their store.

    read_only: only tools that read. reference: the nine tools of the reference memory server
    instead of ours. source: of what is retained, see `recollex.Agent.retain`.
    """
    server = (PromptServer if reference else StrictServer)(
        "recollex",
        title="recollex",
        version=VERSION,
        instructions=None if reference else INSTRUCTIONS,
        log_level="WARNING",
    )
    if reference:
        ReferenceTools(agents).register(server, read_only=read_only)
    else:
        MemoryTools(agents, source).register(server, read_only=read_only)
        KnowledgeTools(agents).register(server)
        EpisodicTools(agents).register(server)
    Resources(agents).register(server)
    Prompts(agents).register(server, read_only=read_only)
    return server


def serve_stdio(server: MCPServer[Any], agents: Agents) -> None:
    """Serve one client over standard input and output, until it closes the input."""
    logging.getLogger("mcp").setLevel(logging.WARNING)
    agents.start()
    try:
        anyio.run(server.run_stdio_async)
    finally:
        agents.close()
