"""An endpoint: its verb and path, what it takes, what it answers, and its handler."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from urllib.parse import unquote_to_bytes

import orjson

from recollex.api.proxies import Method
from recollex.remote.http import responses
from recollex.remote.http.problems import RequestError
from recollex.remote.http.schema import Schema, members, read, read_words
from recollex.remote.server.access import Principal
from recollex.remote.server.calls import Options
from recollex.remote.server.service import Service
from recollex.remote.wire.methods import METHODS
from recollex_engine.errors import InputError

MAX_QUERY_STRING = 16_384
"""The most bytes after the question mark."""


@dataclass(frozen=True, slots=True)
class Backend:
    """The service, as an endpoint's handler sees it, on behalf of one request."""

    service: Service
    principal: Principal
    client: object
    options: Options

    async def call(
        self,
        method: str | Method[..., Any],
        agent: str,
        arguments: Mapping[str, Any],
        convert: Callable[[Any], Any],
        at: datetime | None = None,
    ) -> Any:
        """Return what ``convert`` makes of a method's result, on the worker's thread.

        For a write, ``convert`` is the same function each time: a repeated request with the same
        key is answered with what it made of the first result.
        """
        options = self.options if at is None else replace(self.options, at=at)
        return await self.service.call(
            self.principal,
            method,
            agent or None,
            arguments,
            options,
            client=self.client,
            convert=convert,
        )


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


def calls(
    method: str | Method[..., Any], convert: Callable[[Any], Any], *, cut: bool = False
) -> Handler:
    """Return a handler that calls a method with what the path, the query and the body say.

    The agent is whom it is called for, the memory of a path is ``id``. cut: whether ``as_recorded``
    says as of when it is called, and is no argument. convert: see `Backend.call`.
    """

    async def handler(backend: Backend, request: CheckedRequest) -> Any:
        arguments = {**request.path, **request.query, **request.body}
        agent = arguments.pop("agent_id", "")
        if "memory_id" in arguments:
            arguments["id"] = arguments.pop("memory_id")
        at = arguments.pop("as_recorded", None) if cut else None
        return await backend.call(method, agent, arguments, convert, at)

    return handler


def done(_: object) -> dict[str, bool]:
    """Return what answers a write that has no result of its own."""
    return {"done": True}


def counted(count: int) -> dict[str, int]:
    """Return what answers a count."""
    return {"count": count}


def told(found: Any) -> Any:
    """Return what answers with one object."""
    return found.to_dict()


def each_of(name: str) -> Callable[[Any], dict[str, Any]]:
    """Return what makes an answer of a list of objects."""
    return lambda found: {name: [each.to_dict() for each in found]}


@dataclass(frozen=True)
class Endpoint:
    """One entry of the table from which requests are routed, checked and documented.

    path: literal words and {names}, each one segment of the path. method: the method of
    `remote.wire.methods` that it calls, or a row of its own. parameters: types of the names in the
    path. query: types of what may follow the question mark. body: type of the body, None if there
    is none. answer: JSON Schema of what ``handler`` returns, as a JSON value or as its bytes.
    unknown: whether it may name an id that does not exist (404). group: its chapter.
    """

    verb: str
    path: str
    method: str | Method[..., Any]
    summary: str
    handler: Handler
    answer: responses.JsonSchema
    parameters: Mapping[str, Schema] = field(default_factory=dict)
    query: Mapping[str, Schema] = field(default_factory=dict)
    body: Schema | None = None
    about: str = ""
    unknown: bool = False
    group: str = "memories"
    named: Schema = field(init=False)
    asked: Schema = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "named", members("Named", self.parameters))
        object.__setattr__(self, "asked", members("Asked", self.query))

    @property
    def writes(self) -> bool:
        """Whether it needs a token that may write."""
        called = self.method if isinstance(self.method, Method) else METHODS[self.method]
        return called.scope == "write"

    @property
    def names(self) -> list[str]:
        """The names in its path."""
        return re.findall(r"{(\w+)}", self.path)

    def check(
        self, words: Mapping[str, str], query: bytes, kind: str, body: bytes
    ) -> CheckedRequest:
        """Return what a request holds.

        words: of its path, by their names, as they were sent. kind: of the body, in lower case and
        without parameters. Raises `RequestError` for a request that cannot be read, `InputError`
        for a value that is not allowed.
        """
        texts = {name: _decoded(word.encode("latin-1"), "path") for name, word in words.items()}
        path = read_words(texts, self.named, "")
        asked = read_words(_pairs(query), self.asked, "") if query else {}
        if self.body is None:
            if body:
                raise RequestError(400, "BodyError", f"{self.verb} here takes no body")
            return CheckedRequest(path, asked, {})
        if kind != "application/json":
            raise RequestError(
                415,
                "MediaTypeError",
                f"the body must be application/json, got {kind[:80]!r}: send the header "
                "Content-Type: application/json",
            )
        try:
            value = orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise RequestError(400, "BodyError", f"the body is not JSON: {error}") from None
        return CheckedRequest(path, asked, read(value, self.body, "body"))


def _pairs(query: bytes) -> dict[str, str]:
    """Return the values of a query by their names."""
    if len(query) > MAX_QUERY_STRING:
        raise RequestError(
            414, "QueryError", f"the query may have {MAX_QUERY_STRING} bytes, got {len(query)}"
        )
    found: dict[str, str] = {}
    for pair in filter(None, query.replace(b"+", b" ").split(b"&")):
        name, _, value = (_decoded(part, "query") for part in pair.partition(b"="))
        if name in found:
            raise InputError(f"{name} is given twice")
        found[name] = value
    return found


def _decoded(part: bytes, what: str) -> str:
    try:
        return unquote_to_bytes(part).decode()
    except UnicodeDecodeError:
        raise RequestError(400, f"{what.title()}Error", f"the {what} is not UTF-8") from None
