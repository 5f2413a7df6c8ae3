"""A server that refuses what a tool does not take: "subjct" for "subject" is an error.

The SDK leaves such an argument out, and the tool answers another question than the model asked.
"""

from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, Tool

from recollex.api.argument_names import check_names
from recollex.mcp.prompts import PromptServer
from recollex_engine.errors import InputError


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
        for tool in await super().list_tools():
            if tool.name == name:
                try:
                    check_names(name, arguments, tool.input_schema.get("properties", {}))
                except InputError as error:
                    raise ToolError(str(error)) from None
        return await super().call_tool(name, arguments, context)
