"""Agents and memories as resources."""

from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from recollex.frameworks.mcp.agents import Agents
from recollex.frameworks.mcp.answers import as_json, reads, shown

AGENTS = "recollex://agents"
AGENT = "recollex://agents/{agent}"
MEMORY = "recollex://agents/{agent}/memories/{id}"
NEWEST = 20
"""Memories that the resource of an agent shows."""
_JSON = "application/json"


class Resources:
    """The agent that a client reaches, and its memories."""

    def __init__(self, agents: Agents) -> None:
        self._agents = agents

    def register(self, server: MCPServer[Any]) -> None:
        """Add the resources to a server."""
        for uri, name, read in (
            (AGENTS, "agents", self.agents),
            (AGENT, "agent", self.agent),
            (MEMORY, "memory", self.memory),
        ):
            server.resource(uri, name=name, mime_type=_JSON)(read)
        server.completion()(self.complete)  # type: ignore[no-untyped-call]

    def agents(self) -> str:
        """Whose memory this server is, and where it is read."""
        known = self._agents.fixed
        who = "each client has its own, of its own name" if known is None else known
        return as_json({"agent": who, "read": [AGENT, MEMORY]})

    @reads
    def agent(self, agent: str, context: Context[Any, Any]) -> str:
        """How much an agent holds, and its newest memories."""
        held = self._own(agent, context)
        newest = held.list(limit=NEWEST, newest=True)
        counts = {"memories": held.count(), "facts": held.facts.count()}
        return as_json({"agent": agent, **counts, "newest": [shown(each) for each in newest]})

    @reads
    def memory(self, agent: str, id: str, context: Context[Any, Any]) -> str:
        """One memory of an agent, with every version of it."""
        held = self._own(agent, context)
        versions = [shown(each) for each in held.history(id)]
        return as_json({"agent": agent, "memory": shown(held.get(id)), "history": versions})

    async def complete(
        self,
        reference: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        """Return the agent's name for the argument that names it."""
        known = self._agents.fixed
        fits = argument.name == "agent" and known is not None and known.startswith(argument.value)
        return Completion(values=[known]) if fits and known is not None else None

    def _own(self, agent: str, context: Context[Any, Any]) -> Any:
        if agent != self._agents.name(context):
            raise ResourceNotFoundError(
                f"this client reaches the agent {self._agents.name(context)!r}, got {agent!r}"
            )
        return self._agents.reading(context)
