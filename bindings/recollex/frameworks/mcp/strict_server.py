"""A server that refuses what a tool does not take: "subjct" for "subject" is an error.

The SDK leaves such an argument out, and the tool answers another question than the model asked. Of
a value that is wrong it says what pydantic does, a page's address with it; here it is a line.
"""

from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, Tool
from pydantic import ValidationError

from recollex.api.argument_groups import check_names, near
from recollex.frameworks.mcp.prompts import PromptServer
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
        """Call a tool.

        Raises `ToolError` for a tool that there is not, and for an argument that it does not take,
        lacks, or takes with other values.
        """
        schemas = {tool.name: tool.input_schema for tool in await super().list_tools()}
        if name not in schemas:
            hint = near(name, schemas)
            raise ToolError(f"Unknown tool: {name:.80}{hint} There are {', '.join(schemas)}")
        try:
            check_names(name, arguments, schemas[name].get("properties", {}))
        except InputError as error:
            raise ToolError(str(error)) from None
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_said(name, error.__cause__)) from None
            raise


def _said(tool: str, wrong: ValidationError) -> str:
    """Return which arguments of a call are missing or wrong, in one line."""
    said = []
    for each in wrong.errors(include_url=False):
        name = ".".join(map(str, each["loc"]))
        if each["type"] == "missing":
            said.append(f"{name} is missing")
        else:
            said.append(f"{name}: {each['msg']}, got {each['input']!r:.80}")
    return f"{tool}: {'; '.join(said)}"
