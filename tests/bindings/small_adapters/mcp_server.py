"""A memory as an MCP server over stdio: python -m tests.bindings.small_adapters.mcp_server STORE"""

import sys

from mcp.server.mcpserver import MCPServer

import recollex
from recollex.errors import RecollexError


def make_server(agent):
    """Return a server whose tools retain, recall, correct and forget the memories of an agent."""
    server = MCPServer("recollex")

    def told(call):
        try:
            return call()
        except RecollexError as error:
            return f"error: {error}"

    @server.tool()
    def retain(text: str, tags: list[str] | None = None) -> str:
        """Remember a text; returns its id."""
        return told(lambda: agent.retain(text, tags=tags or ()))

    @server.tool()
    def recall(query: str, limit: int = 10, tags: list[str] | None = None) -> str:
        """Return the memories that bear on a question, a dated line each, best first."""
        return told(lambda: agent.recall(query, limit=limit, tags=tags or ()).to_prompt())

    @server.tool()
    def correct(id: str, text: str, why: str) -> str:
        """Replace the text of a memory; earlier versions stay in its history."""
        return told(lambda: agent.correct(id, text, why=why) or "done")

    @server.tool()
    def forget(id: str, why: str) -> str:
        """Forget a memory."""
        return told(lambda: f"{agent.forget(id, why=why)} forgotten")

    return server


if __name__ == "__main__":
    with recollex.open(sys.argv[1]) as store:
        make_server(store.agent("default")).run()
