"""A server that refuses what a tool does not take: "subjct" for "subject" is an error.

The SDK leaves such an argument out, and the tool answers another question than the model asked.
"""

import difflib
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, Tool

from recollex.mcp.prompts import PromptServer


class StrictServer(PromptServer):
    """A server whose tools take the arguments of their schemas and no others."""

    async def list_tools(self) -> list[Tool]:
        """Return the tools; their schemas admit no further arguments."""
        tools = await super().list_tools()
        for tool in tools:
            tool.input_schema = {**tool.input_schema, "additionalProperties": False}
        return tools

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool. Raises `ToolError` for an argument that it does not take."""
        for tool in await self.list_tools():
            if tool.name == name:
                _check(name, arguments, tool.input_schema.get("properties", {}))
        return await super().call_tool(name, arguments, context)


def _check(name: str, arguments: dict[str, Any], known: dict[str, Any]) -> None:
    for given in arguments:
        if given not in known:
            near = difflib.get_close_matches(given[:80], known, 1)
            hint = f", did you mean {near[0]!r}?" if near else "."
            takes = ", ".join(known) or "none"
            raise ToolError(f"{name} has no argument {given[:80]!r}{hint} It takes {takes}")
