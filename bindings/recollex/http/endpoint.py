"""What is an endpoint? A verb and a path, what it takes, what it answers, and what it does."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from recollex.http.chat_model import ChatModel
from recollex.http.schema import Schema


class Backend(Protocol):
    """Where an endpoint has its work done: the service, on behalf of one request.

    chat: the language model that the server was given, None without one.
    """

    chat: ChatModel | None

    async def call(
        self,
        method: str,
        agent: str,
        arguments: Mapping[str, Any],
        convert: Callable[[Any], Any],
        at: datetime | None = None,
    ) -> Any:
        """Return what ``convert`` makes of a method's result, in the thread that worked.

        For a write it is a function with a name, the same one each time: a repetition with the same
        key is answered with what it made of the first.
        """


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """What a request said, checked: the words of its path, its query and its body."""

    path: Mapping[str, Any]
    query: Mapping[str, Any]
    body: Mapping[str, Any]

    @property
    def agent(self) -> str:
        """The agent that the path or the body names."""
        found: str = self.path.get("agent_id") or self.body["agent_id"]
        return found


Handler = Callable[[Backend, CheckedRequest], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One entry of the table from which requests are routed, checked and documented.

    path: literal words and {names}, each one segment of the path. method: the method of
    `recollex.wire.methods` behind it. parameters: schemas of the names in the path; query: of what
    may stand behind the question mark. body: of the body, None where there is none. answer: of what
    ``handler`` returns, as a JSON value or as bytes of one. unknown: whether it may name what
    is not there (404). group: its chapter in the document.
    """

    verb: str
    path: str
    method: str
    summary: str
    handler: Handler
    answer: Schema
    parameters: Mapping[str, Schema] = field(default_factory=dict)
    query: Mapping[str, Schema] = field(default_factory=dict)
    body: Schema | None = None
    about: str = ""
    unknown: bool = False
    group: str = "memories"

    @property
    def segments(self) -> tuple[str, ...]:
        """The parts of the path between its slashes."""
        return tuple(self.path.strip("/").split("/"))
