"""What the conformance suite for revision 2026-07-28 calls besides: tools that ask in rounds.

In this revision a server asks nothing by itself. It answers a call with what it needs to know, and
the client repeats the call with the answers and the server's state.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from mcp import MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    ClientCapabilities,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    MissingRequiredClientCapabilityErrorData,
    SamplingCapability,
    SamplingMessage,
    TextContent,
)
from pydantic import Field


def elicited(message: str, name: str, kind: str = "string") -> InputRequest:
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def sampled(question: str) -> InputRequest:
    said = SamplingMessage(role="user", content=TextContent(type="text", text=question))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[said], max_tokens=100))


NAME = {"user_name": elicited("What is your name?", "name")}
GREETING = {"greeting": sampled("Generate a greeting")}
ROOTS: dict[str, InputRequest] = {"client_roots": ListRootsRequest()}
CONFIRM = {"confirm": elicited("Please confirm", "ok", "boolean")}
ROUNDS: dict[str, list[dict[str, InputRequest]]] = {
    "elicitation": [NAME],
    "sampling": [{"capital_question": sampled("What is the capital of France?")}],
    "list_roots": [ROOTS],
    "request_state": [CONFIRM],
    "tampered_state": [CONFIRM],
    "multiple_inputs": [NAME | GREETING | ROOTS],
    "multi_round": [
        {"step1": elicited("Step 1: What is your name?", "name")},
        {"step2": elicited("Step 2: What is your favorite color?", "color")},
    ],
    "capabilities": [NAME | GREETING],
}
"""Tool -> what it asks for, round by round."""
CAPABILITY = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
"""Request -> what a client must be able to do to be asked."""


def asking(
    rounds: list[dict[str, InputRequest]],
) -> Callable[[Context[Any, Any]], Awaitable[str | InputRequiredResult]]:
    async def ask(context: Context[Any, Any]) -> str | InputRequiredResult:
        held = (context.client_capabilities or ClientCapabilities()).model_dump(exclude_none=True)
        answers = context.input_responses or {}
        for turn in range(int(context.request_state or 0), len(rounds)):
            asked = {
                key: request
                for key, request in rounds[turn].items()
                if CAPABILITY[request.method] in held
            }
            if not asked.keys() <= answers.keys():
                return InputRequiredResult(input_requests=asked, request_state=str(turn))
        return f"state-ok: {sorted(answers)}"

    return ask


def test_missing_capability(context: Context[Any, Any]) -> str:
    held = context.client_capabilities
    if held is not None and held.sampling is not None:
        return "The client has what it needs."
    needed = ClientCapabilities(sampling=SamplingCapability())
    data = MissingRequiredClientCapabilityErrorData(required_capabilities=needed)
    fields = data.model_dump(by_alias=True, mode="json", exclude_none=True)
    raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "it needs sampling", fields)


def test_custom_header(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
) -> str:
    return region


def register(server: MCPServer[Any], what: str) -> None:
    """Add to a server what the suite calls. what: the description of all of it."""
    for tool in (test_missing_capability, test_custom_header):
        server.add_tool(tool, description=what, structured_output=False)
    for name, rounds in ROUNDS.items():
        full = f"test_input_required_result_{name}"
        server.add_tool(asking(rounds), name=full, description=what, structured_output=False)
    context = {"user_context": elicited("What context should the prompt use?", "context")}
    server.prompt(name="test_input_required_result_prompt", description=what)(asking([context]))
