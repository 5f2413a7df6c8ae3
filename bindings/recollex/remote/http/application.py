"""The ASGI application: it authorizes a request, routes it, checks it, and answers it."""

import asyncio
import functools
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router

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
from recollex.remote.http.api_page import PATHS, api_file
from recollex.remote.http.endpoint import Backend, Endpoint
from recollex.remote.http.near_paths import near_path
from recollex.remote.http.problems import RequestError, check_site, problem
from recollex.remote.server.calls import MAX_KEY, Options
from recollex.remote.server.limits import admit
from recollex.remote.server.metrics import CONTENT_TYPE, Metrics
from recollex.remote.server.service import Service
from recollex_engine.errors import InputError

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

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
PRINCIPAL = "recollex.principal"
GONE = "recollex.gone"
"""Keys of a request's scope: who sends it, and whether its client has disconnected."""


class Application:
    """An ASGI application over a service: the API, and pages for operators.

    `/healthz` says that the process answers, `/readyz` that it takes calls, and `/metrics` shows
    its metrics. `/openapi.json` describes the API, and `/docs` shows that in a browser. `/studio`
    looks into memories. Only `/metrics` needs a token: a browser that opens a page sends none.

    host: on which the server listens; see `check_site`.
    """

    def __init__(self, service: Service, metrics: Metrics, host: str) -> None:
        self._service = service
        self._metrics = metrics
        self._host = host
        pages = {
            "/healthz": self._health,
            "/readyz": self._readiness,
            "/openapi.json": self._document,
            "/api/openapi.json": self._document,
            **dict.fromkeys(studio.paths(), self._studio),
            **dict.fromkeys(PATHS, self._docs),
        }
        self._open = frozenset(pages)
        by_path: dict[str, dict[str, Endpoint]] = {}
        for endpoint in ENDPOINTS:
            by_path.setdefault(endpoint.path, {})[endpoint.verb] = endpoint
        self._routes = [
            *(Route(path, page) for path, page in pages.items()),
            Route("/metrics", self._measures),
            Route("/api/rpc", self._rpc, methods=["POST"]),
            *(
                Route(path, functools.partial(self._endpoint, verbs), methods=list(verbs))
                for path, verbs in by_path.items()
            ),
        ]
        self._router = Router(self._routes, redirect_slashes=False, default=self._nothing)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            raise InputError(f"only http is spoken here, got {scope['type']}")

        async def counted(message: MutableMapping[str, Any]) -> None:
            self._metrics.sent(len(message.get("body", b"")), "http")
            await send(message)

        try:
            self._admit(scope)
            await self._router(scope, receive, counted)
        except ClientDisconnect:
            return
        except asyncio.CancelledError:
            if not scope.get(GONE):
                raise
        except Exception as error:
            await self._refusal(scope, error)(scope, receive, counted)

    def _admit(self, scope: Scope) -> None:
        """Refuse a request of another site, or without a known token, if tokens are known."""
        if self._service.access.open:
            check_site(scope["headers"], self._host)
        # Paths are matched as they were sent: an id may hold a slash, which is written %2F.
        scope["path"] = scope["raw_path"].decode("latin-1")
        scope["app"] = self  # lets the router raise what it would answer
        if scope["path"] not in self._open:
            scope[PRINCIPAL] = self._service.access.principal(_token(scope["headers"]))
            admit(scope)

    def _refusal(self, scope: Scope, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            allowed = ", ".join(sorted((error.headers or {})["Allow"].split(", ")))
            said = f"it takes {allowed}, got {scope['method'][:20]}"
            error = RequestError(405, "NoSuchVerb", said, allow=allowed)
        status, headers, body = problem(error)
        if status == 500:
            self._service.observer.failed(None, error)
        return _answer(body, headers, status)

    async def _nothing(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a path that does not exist; name one that it resembles."""
        near = near_path(scope["path"], (route.path for route in self._routes))
        hint = f"did you mean {near}? " if near else ""
        where = f"there is nothing at {scope['path'][:80]!r}"
        raise RequestError(
            404, "NoSuchPath", f"{where}: {hint}/docs and /openapi.json say what there is"
        )

    async def _endpoint(self, verbs: Mapping[str, Endpoint], request: Request) -> Response:
        endpoint = verbs[request.method if request.method in verbs else "GET"]
        body = await self._body(request)
        query = request.scope["query_string"]
        checked = endpoint.check(request.path_params, query, _kind(request), body)
        work = endpoint.handler(self._backend(request), checked)
        found = await self._while_there(work, request)
        content = found if isinstance(found, bytes) else orjson.dumps(found)
        return _answer(content, {"content-type": "application/json"})

    def _backend(self, request: Request) -> Backend:
        options = _options(request.headers)
        principal = request.scope[PRINCIPAL]
        return Backend(self._service, principal, request.scope.get("client"), options)

    async def _rpc(self, request: Request) -> Response:
        body = await self._body(request)
        scope = request.scope
        client = scope.get("client")
        work = rpc.answer(self._service, scope[PRINCIPAL], client, _kind(request), body)
        status, headers, content = await self._while_there(work, request)
        return _answer(content, headers, status)

    async def _while_there(self, work: Awaitable[Any], request: Request) -> Any:
        """Return the result of ``work``, which is cancelled if the client disconnects."""
        task = asyncio.current_task()
        watch = asyncio.ensure_future(request.receive())

        def gone(watched: "asyncio.Future[Any]") -> None:
            if not watched.cancelled() and task is not None:
                request.scope[GONE] = True
                task.cancel()

        watch.add_done_callback(gone)
        try:
            return await work
        finally:
            watch.remove_done_callback(gone)
            watch.cancel()

    async def _body(self, request: Request) -> bytes:
        """Return a request's body, which `LimitedProtocol` bounds in length and in time."""
        body = await request.body()
        self._metrics.received(len(body), "http")
        return body

    async def _health(self, request: Request) -> Response:
        return _answer(b"ok\n")

    async def _readiness(self, request: Request) -> Response:
        if self._service.status().stopping:
            return _answer(b"stopping\n", status=503)
        return _answer(b"ready\n")

    async def _measures(self, request: Request) -> Response:
        return _answer(self._service.metrics_text().encode(), {"content-type": CONTENT_TYPE})

    async def _docs(self, request: Request) -> Response:
        headers, body = api_file(request.scope["path"])
        return _answer(body, headers)

    async def _document(self, request: Request) -> Response:
        written = _written(not self._service.access.open)
        return _answer(written, {"content-type": "application/json"})

    async def _studio(self, request: Request) -> Response:
        headers, body = studio.studio_file(request.scope["path"])
        return _answer(body, headers)


def _answer(body: bytes, headers: Mapping[str, str] | None = None, status: int = 200) -> Response:
    kept = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
    return Response(body, status, {"content-type": "text/plain", **kept, **(headers or {})})


@functools.cache
def _written(with_tokens: bool) -> bytes:
    return orjson.dumps(openapi.document(ENDPOINTS, with_tokens))


def _token(headers: list[tuple[bytes, bytes]]) -> str | None:
    """Return the bearer token, None without one."""
    kind, _, token = dict(headers).get(b"authorization", b"").partition(b" ")
    return token.strip().decode("latin-1") if kind.lower() == b"bearer" else None


def _kind(request: Request) -> str:
    """Return the media type of the body, without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _options(headers: Mapping[str, str]) -> Options:
    """Return the call options that the headers hold. Raises `InputError`."""
    key = headers.get("idempotency-key")
    timeout = headers.get("recollex-timeout")
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
    return Options(None, seconds, key, headers.get("traceparent"))


_KEY = re.compile(f"[!-~]{{1,{MAX_KEY}}}")
