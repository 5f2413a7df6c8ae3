"""What MCP's conformance suite expects of the server under test, on our server.

Most scenarios call tools, resources and prompts of the suite's own: `test_image_content`,
`test://static-text`. `main` is the program `recollex`, whose `recollex mcp` offers these besides
its own, so that each scenario meets our HTTP application, sessions, checks of hosts and errors.
"""

from base64 import b64decode
from typing import Annotated, Any, Literal

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.server.mcpserver.resources import BinaryResource, TextResource
from mcp_types import (
    AudioContent,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel, Field

import recollex.frameworks.mcp.server
from recollex.cli import main as recollex_main
from tests.bindings.frameworks.mcp import stateless_fixtures

WHAT = "What a scenario of the conformance suite asks for."
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8"
    "z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
PAUSE = 0.05
"""Seconds between two notifications, as the suite asks."""
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "address",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "allOf": [{"anyOf": [{"required": ["name"]}, {"required": ["address"]}]}],
    "if": {"required": ["address"]},
    "then": {"required": ["name"]},
    "else": {"maxProperties": 1},
    "additionalProperties": False,
}


def image() -> ImageContent:
    return ImageContent(type="image", data=PNG, mime_type="image/png")


def resource(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return EmbeddedResource(type="resource", resource=contents)


def test_simple_text() -> str:
    return "This is a simple text response for testing."


def test_image_content() -> list[ImageContent]:
    return [image()]


def test_audio_content() -> list[AudioContent]:
    return [AudioContent(type="audio", data=WAV, mime_type="audio/wav")]


def test_embedded_resource() -> list[EmbeddedResource]:
    text = "This is an embedded resource content."
    return [resource("test://embedded-resource", "text/plain", text)]


def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    return [
        TextContent(type="text", text="Multiple content types test:"),
        image(),
        resource("test://mixed-content-resource", "application/json", '{"test": "data"}'),
    ]


async def test_tool_with_logging(context: Context[Any, Any]) -> str:
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.log("info", said)
        await anyio.sleep(PAUSE)
    return "It logged three messages."


async def test_tool_with_progress(context: Context[Any, Any]) -> str:
    for done in (0, 50, 100):
        await context.report_progress(done, 100)
        await anyio.sleep(PAUSE)
    return "It reported its progress three times."


def test_error_handling() -> str:
    raise ToolError("This tool intentionally returns an error for testing")


async def test_sampling(prompt: str, context: Context[Any, Any]) -> str:
    asked = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    answer = await context.session.create_message(
        [asked], max_tokens=100, related_request_id=context.request_id
    )
    return f"LLM response: {answer.content.text}"


class Contact(BaseModel):
    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


class Defaults(BaseModel):
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Literal["active", "inactive", "pending"] = "active"
    verified: bool = True


def _titled(*names: str) -> list[dict[str, str]]:
    return [
        {"const": f"value{number}", "title": f"{name} Option"}
        for number, name in enumerate(names, 1)
    ]


_TITLED = _titled("First", "Second", "Third")
_LEGACY = {"enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]}
_Option = Literal["option1", "option2", "option3"]


class Choices(BaseModel):
    untitledSingle: _Option  # noqa: N815 - the suite's names
    titledSingle: Annotated[str, Field(json_schema_extra={"oneOf": _TITLED})]  # noqa: N815
    legacyEnum: Annotated[str, Field(json_schema_extra=_LEGACY)]  # noqa: N815
    untitledMulti: list[_Option]  # noqa: N815
    titledMulti: Annotated[  # noqa: N815
        list[str], Field(json_schema_extra={"items": {"anyOf": _TITLED}})
    ]


async def test_elicitation(message: str, context: Context[Any, Any]) -> str:
    return await _elicited(context, message, Contact)


async def test_elicitation_sep1034_defaults(context: Context[Any, Any]) -> str:
    return await _elicited(context, "Who are you?", Defaults)


async def test_elicitation_sep1330_enums(context: Context[Any, Any]) -> str:
    return await _elicited(context, "Which of them?", Choices)


async def _elicited(context: Context[Any, Any], message: str, schema: type[BaseModel]) -> str:
    answer = await context.elicit(message, schema)
    content = answer.data.model_dump_json() if answer.action == "accept" else "{}"
    return f"Elicitation completed: action={answer.action}, content={content}"


async def test_reconnection(context: Context[Any, Any]) -> str:
    await context.close_sse_stream()
    await anyio.sleep(PAUSE)
    return "It closed the stream, if a client can ask for it again."


def json_schema_2020_12_tool(name: str = "", address: dict[str, str] | None = None) -> str:
    return f"{name} {address}"


TOOLS = (
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_tool_with_logging,
    test_tool_with_progress,
    test_error_handling,
    test_sampling,
    test_elicitation,
    test_elicitation_sep1034_defaults,
    test_elicitation_sep1330_enums,
    test_reconnection,
    json_schema_2020_12_tool,
)


def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803
    embedded = resource(resourceUri, "text/plain", "Embedded resource content for testing.")
    return [UserMessage(embedded), UserMessage("Please process the embedded resource above.")]


def test_prompt_with_image() -> list[UserMessage]:
    return [UserMessage(image()), UserMessage("Please analyze the image above.")]


PROMPTS = (
    test_simple_prompt,
    test_prompt_with_arguments,
    test_prompt_with_embedded_resource,
    test_prompt_with_image,
)


def register(server: MCPServer[Any]) -> None:
    """Add to a server all that the suite calls."""
    stateless_fixtures.register(server, WHAT)
    for tool in TOOLS:
        server.add_tool(tool, description=WHAT, structured_output=False)
    server._tool_manager.get_tool("json_schema_2020_12_tool").parameters = SCHEMA
    for prompt in PROMPTS:
        server.prompt(description=WHAT)(prompt)
    for name in ("static-text", "watched-resource"):
        text = f"This is the content of {name}."
        server.add_resource(
            TextResource(uri=f"test://{name}", name=name, mime_type="text/plain", text=text)
        )
    server.add_resource(
        BinaryResource(
            uri="test://static-binary", name="binary", mime_type="image/png", data=b64decode(PNG)
        )
    )
    server.resource("test://template/{id}/data", name="template", mime_type="application/json")(
        lambda id: {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}
    )
    for method, parameters in (
        ("logging/setLevel", SetLevelRequestParams),
        ("resources/subscribe", SubscribeRequestParams),
        ("resources/unsubscribe", UnsubscribeRequestParams),
    ):
        server._lowlevel_server.add_request_handler(method, parameters, _accept)


async def _accept(context: Any, parameters: Any) -> EmptyResult:
    return EmptyResult()


def main(words: list[str]) -> int:
    """Run the program `recollex`; its MCP server also offers what the suite calls."""
    make_server = recollex.frameworks.mcp.server.make_server

    def with_fixtures(*agents: Any, **options: Any) -> MCPServer[Any]:
        server = make_server(*agents, **options)
        register(server)
        return server

    recollex.frameworks.mcp.server.make_server = with_fixtures
    return recollex_main(words)
