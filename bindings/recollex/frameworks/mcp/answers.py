"""What a tool answers: text for the model, and the same as structured content."""

import functools
import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, ParamSpec

from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from recollex.api.iso_times import parse_time
from recollex.remote.wire.error_codec import encode_error
from recollex_engine.domain.prompt_marks import defused, defused_json, written, written_short
from recollex_engine.errors import RecollexError, UnknownIdError

# Times and arguments as a language model writes them.
Time = Annotated[
    str | None, Field(description="ISO 8601, such as 2024-05-01 or 2024-05-01T09:30+02:00; UTC")
]
Limit = Annotated[int, Field(ge=1, le=1000, description="The most that are returned.")]
Id = Annotated[str, Field(description="The id, as recall shows it at the start of a line.")]
Why = Annotated[str | None, Field(description="The reason, for the history.")]


def moment(written: str | None, what: str) -> datetime | None:
    """Return a time; one without an offset is UTC. Raises `InputError`, which names ``what``.

    >>> moment("2024-05-01", "since").isoformat()
    '2024-05-01T00:00:00+00:00'
    """
    return parse_time(written, UTC, what) if written else None


P = ParamSpec("P")

NOTHING = "Nothing was found."


@functools.cache
def _shown() -> list[str]:
    """Return the fields of a memory that are shown, if they have a value."""
    from recollex_engine.recall.memory import FIELDS  # only now: it imports the engine

    return [name for name, told in FIELDS.items() if told.sent and not told.in_recall]


def answer(text: str, /, **values: Any) -> CallToolResult:
    """Return a result: ``text`` without the marks of templates, and values as structured content.

    The text is for the model; the values are for programs, and verbatim.
    """
    return CallToolResult(
        content=[TextContent(type="text", text=defused(text))],
        structured_content=_json_values(values),
    )


def answers(tool: Callable[P, CallToolResult]) -> Callable[P, CallToolResult]:
    """Let a tool answer our errors with their text; the SDK hides that of other exceptions."""

    @functools.wraps(tool)
    def answered(*args: P.args, **options: P.kwargs) -> CallToolResult:
        try:
            return tool(*args, **options)
        except RecollexError as error:
            raise ToolError(said(error)) from error

    return answered


def reads(resource: Callable[P, str]) -> Callable[P, str]:
    """Let a resource answer our errors with their text."""

    @functools.wraps(resource)
    def answered(*args: P.args, **options: P.kwargs) -> str:
        try:
            return resource(*args, **options)
        except UnknownIdError as error:
            raise ResourceNotFoundError(said(error)) from error
        except RecollexError as error:
            raise ResourceError(said(error)) from error

    return answered


def said(error: RecollexError) -> str:
    """Return what an error says, on one line and without paths of this machine."""
    return " ".join(encode_error(error)[1].split())


def shown(memory: Any) -> dict[str, Any]:
    """Return a memory as JSON values, without empty fields and what only ranking needs."""
    values = memory.to_dict()
    return {name: values[name] for name in _shown() if values[name] not in (None, [], {})}


def memory_line(memory: Any) -> str:
    r"""Return a memory as a line: its id, its date, its source where that is not trusted, its text.

    Further lines of a text are indented, so that none looks like another memory.
    """
    about = f"; source: {memory.source}" if memory.source and memory.trust != "user" else ""
    return f"{written_short(memory.id)} [{memory.event_at:%B %d, %Y}{about}] {written(memory.text)}"


def memory_lines(memories: Iterable[Any]) -> str:
    """Return memories as lines; says so if there is none."""
    return "\n".join(map(memory_line, memories)) or NOTHING


def as_json(values: Any) -> str:
    """Return JSON for a reader, in which no mark of a template stands as such."""
    return defused_json(json.dumps(_json_values(values), ensure_ascii=False, indent=2))


def _json_values(values: Any) -> Any:
    return json.loads(json.dumps(values, ensure_ascii=False, default=str))
