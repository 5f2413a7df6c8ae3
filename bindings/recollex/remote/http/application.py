"""The ASGI application: it authorizes a request, routes it, checks it, and answers it."""

import asyncio
import dataclasses
import functools
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from datetime import datetime
from typing import Any

import orjson

from recollex.api.proxies import Method
from recollex.pages import studio
from recollex.remote.http import (
    access_counts,
    entities,
    fact_selections,
    facts_and_log,
    inspection,
    investigate,
    memories,
    openapi,
    profiles,
    retaining,
    retention,
    rpc,
    selections,
    think,
    tools,
)
from recollex.remote.http.api_page import HEADERS, api_page
from recollex.remote.http.cross_site import check_site
from recollex.remote.http.endpoint import Endpoint
from recollex.remote.http.problems import problem
from recollex.remote.http.routes import Routes, check_request, no_such_verb
from recollex.remote.server.access import Principal
from recollex.remote.server.calls import MAX_KEY, Options
from recollex.remote.server.connection_limiter import admit
from recollex.remote.server.metrics import CONTENT_TYPE, Metrics
from recollex.remote.server.service import Service
from recollex_engine.errors import InputError

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Answer = tuple[int, Mapping[str, str], bytes]

ENDPOINTS: tuple[Endpoint, ...] = (
    *retaining.ENDPOINTS,
    *memories.ENDPOINTS,
    *selections.ENDPOINTS,
    *profiles.ENDPOINTS,
    *tools.ENDPOINTS,
    *access_counts.ENDPOINTS,
    *fact_selections.ENDPOINTS,
    *facts_and_log.ENDPOINTS,
    *entities.ENDPOINTS,
    *inspection.ENDPOINTS,
    *retention.ENDPOINTS,
    *think.ENDPOINTS,
    *investigate.ENDPOINTS,
)
JSON = {"content-type": "application/json"}


class ServiceBackend:
    """The service on behalf of one request; an `endpoint.Backend`."""

    __slots__ = ("_client", "_options", "_principal", "_service")

    def __init__(
        self,
        service: Service,
        principal: Principal,
        client: object,
        options: Options,
    ) -> None:
        self._service = service
        self._principal = principal
        self._client = client
        self._options = options

    async def call(
        self,
        method: str | Method[..., Any],
        agent: str,
        arguments: Mapping[str, Any],
        convert: Callable[[Any], Any],
        at: datetime | None = None,
    ) -> Any:
        """Return what ``convert`` makes of a method's result; see `Backend`."""
        options = self._options
        if at is not None:
            options = dataclasses.replace(options, at=at)
        return await self._service.call(
            self._principal,
            method,
            agent or None,
            arguments,
            options,
            client=self._client,
            convert=convert,
        )

    def metrics_text(self) -> str:
        """Return the server's metrics; see `Backend`."""
        return self._service.metrics_text()


class Application:
    """An ASGI application over a service: the API, and pages for operators.

    `/healthz` says that the process answers, `/readyz` that it takes calls, and `/metrics` shows
    its metrics. `/openapi.json` describes the API, and `/docs` shows that in a browser. `/studio`
    looks into memories. Only `/metrics` needs a token: a browser that opens a page sends none.

    host: on which the server listens; see `cross_site`.
    """

    def __init__(self, service: Service, metrics: Metrics, host: str) -> None:
        self._service = service
        self._metrics = metrics
        self._host = host
        self._pages: dict[bytes, Callable[[], Answer]] = {
            b"/healthz": self._health,
            b"/readyz": self._readiness,
            b"/metrics": self._measures,
            b"/docs": self._page,
            b"/openapi.json": self._document,
            b"/api/openapi.json": self._document,
        }
        for path in (*studio.paths(), studio.FRAME):
            self._pages[path.encode()] = functools.partial(_studio, path)
        self._routes = Routes(ENDPOINTS, [page.decode() for page in self._pages])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            raise InputError(f"only http is spoken here, got {scope['type']}")
        try:
            status, headers, body = await self._answer(scope, receive)
        except asyncio.CancelledError:
            if not scope.get("recollex.gone"):
                raise
            return  # the client has disconnected
        except Exception as error:
            status, headers, body = problem(error)
            if status == 500:
                self._service.observer.failed(None, error)
        self._metrics.sent(len(body), "http")
        head = [
            (b"content-length", b"%d" % len(body)),
            (b"cache-control", b"no-store"),
            (b"x-content-type-options", b"nosniff"),
            *((name.encode(), value.encode("latin-1")) for name, value in headers.items()),
        ]
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Scope, receive: Receive) -> Answer:
        headers = dict(scope["headers"])
        if self._service.access.open:
            check_site(scope["headers"], self._host)
        verb = scope["method"]
        path = scope["raw_path"]
        page = self._pages.get(path)
        if page is not None and verb not in ("GET", "HEAD"):
            raise no_such_verb(verb, "GET")
        if page is not None and path != b"/metrics":
            return page()
        principal = self._service.access.principal(_token(headers))
        admit(scope)
        if page is not None:
            return page()
        kind = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
        if path == b"/api/rpc":
            if verb != "POST":
                raise no_such_verb(verb, "POST")
            body = await self._body(receive)
            work = rpc.answer(self._service, principal, scope.get("client"), kind, body)
            answered: Answer = await self._while_there(work, scope, receive)
            return answered
        endpoint, words = self._routes.find(verb, path)
        body = await self._body(receive)
        request = check_request(endpoint, words, scope["query_string"], kind, body)
        options = _options(headers)
        backend = ServiceBackend(self._service, principal, scope.get("client"), options)
        found = await self._while_there(endpoint.handler(backend, request), scope, receive)
        return 200, JSON, found if isinstance(found, bytes) else orjson.dumps(found)

    async def _while_there(self, work: Awaitable[Any], scope: Scope, receive: Receive) -> Any:
        """Return the result of ``work``, which is cancelled if the client disconnects."""
        task = asyncio.current_task()
        watch = asyncio.ensure_future(receive())

        def gone(watched: "asyncio.Future[Any]") -> None:
            if not watched.cancelled() and task is not None:
                scope["recollex.gone"] = True
                task.cancel()

        watch.add_done_callback(gone)
        try:
            return await work
        finally:
            watch.remove_done_callback(gone)
            watch.cancel()

    async def _body(self, receive: Receive) -> bytes:
        """Return a request's body, which `LimitedProtocol` bounds in length and in time."""
        parts = []
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise asyncio.CancelledError
            parts.append(message.get("body", b""))
            more = message.get("more_body", False)
        body = b"".join(parts)
        self._metrics.received(len(body), "http")
        return body

    def _health(self) -> Answer:
        return 200, {"content-type": "text/plain"}, b"ok\n"

    def _readiness(self) -> Answer:
        if self._service.status().stopping:
            return 503, {"content-type": "text/plain"}, b"stopping\n"
        return 200, {"content-type": "text/plain"}, b"ready\n"

    def _measures(self) -> Answer:
        return 200, {"content-type": CONTENT_TYPE}, self._service.metrics_text().encode()

    def _page(self) -> Answer:
        return 200, HEADERS, api_page()

    def _document(self) -> Answer:
        return 200, JSON, _written(not self._service.access.open)


def _studio(path: str) -> Answer:
    headers, body = studio.studio_file(path)
    return 200, headers, body


@functools.cache
def _written(with_tokens: bool) -> bytes:
    return orjson.dumps(openapi.document(ENDPOINTS, with_tokens))


def _token(headers: Mapping[bytes, bytes]) -> str | None:
    """Return the bearer token, None without one."""
    kind, _, token = headers.get(b"authorization", b"").partition(b" ")
    return token.strip().decode("latin-1") if kind.lower() == b"bearer" else None


def _options(headers: Mapping[bytes, bytes]) -> Options:
    """Return the call options that the headers hold. Raises `InputError`."""
    given = [headers.get(name) for name in _OPTION_HEADERS]
    if given == [None, None, None]:
        return _PLAIN
    key, timeout, parent = (None if each is None else each.decode("latin-1") for each in given)
    seconds = None
    if timeout is not None:
        try:
            seconds = float(timeout)
        except ValueError:
            raise InputError(f"Recollex-Timeout must be seconds, got {timeout[:40]!r}") from None
    if key is not None and not _KEY.fullmatch(key):
        raise InputError(
            f"Idempotency-Key must be 1 to {MAX_KEY} visible characters of ASCII, got {key[:40]!r}"
        )
    return Options(None, seconds, key, parent)


_KEY = re.compile(f"[!-~]{{1,{MAX_KEY}}}")


_OPTION_HEADERS = (b"idempotency-key", b"recollex-timeout", b"traceparent")
_PLAIN = Options()
