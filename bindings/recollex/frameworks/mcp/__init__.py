"""The tools, resources and prompts by which assistants use a memory over MCP; see docs/mcp.md."""
