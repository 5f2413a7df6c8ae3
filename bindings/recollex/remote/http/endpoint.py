"""An endpoint: its verb and path, what it takes, what it answers, and its handler."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from recollex.api.proxies import Method
from recollex.remote.http.schema import Schema
from recollex.remote.wire.methods import METHODS


class Backend(Protocol):
    """The service, as an endpoint's handler sees it, on behalf of one request."""

    async def call(
        self,
        method: str | Method[..., Any],
        agent: str,
        arguments: Mapping[str, Any],
        convert: Callable[[Any], Any],
        at: datetime | None = None,
    ) -> Any:
        """Return what ``convert`` makes of a method's result, on the worker's thread.

        For a write, ``convert`` is a module-level function, the same one each time: a repeated
        request with the same key is answered with what it made of the first result.
        """

    def metrics_text(self) -> str:
        """Return the server's metrics in Prometheus' text format."""


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A request after its check: the names of its path, its query and its body.

    body: as its endpoint's schema says, a mapping in most; an empty one if there is none.
    """

    path: Mapping[str, Any]
    query: Mapping[str, Any]
    body: Any

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
    `remote.wire.methods` that it calls, or a row of its own. parameters: schemas of the names in
    the path. query: schemas of what may follow the question mark. body: schema of the body, None if
    there is none. answer: schema of what ``handler`` returns, as a JSON value or as its bytes.
    unknown: whether it may name an id that does not exist (404). group: its chapter.
    """

    verb: str
    path: str
    method: str | Method[..., Any]
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
    def writes(self) -> bool:
        """Whether it needs a token that may write."""
        called = self.method if isinstance(self.method, Method) else METHODS[self.method]
        return called.scope == "write"

    @property
    def segments(self) -> tuple[str, ...]:
        """The parts of the path between its slashes."""
        return tuple(self.path.strip("/").split("/"))
