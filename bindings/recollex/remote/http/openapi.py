"""The OpenAPI 3.1 document of the API, made from the table of its endpoints."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.json import schema_components

from recollex import __version__
from recollex.remote.http import problems, responses
from recollex.remote.http.endpoint import Endpoint

DESCRIPTION = """\
A memory for AI agents. Paths, bodies and names are those of Memora's section 6; what goes beyond it
are the options of `recollex.Agent`. Times carry a zone. Errors are problem+json (RFC 9457) whose
title is a class of `recollex.errors`. A write may carry an `Idempotency-Key`: sent again with the
same key, it is answered again and not done again; another write with that key is refused (422).
Keys are kept for ten minutes, and not across a restart. `Recollex-Timeout` is how many seconds the
caller will wait."""

_ANSWERS = {
    400: "It cannot be read.",
    401: "No token, or one that the server does not know.",
    403: "The token does not allow it; or a page of another site asks where there are no tokens.",
    404: "No such id.",
    409: "It contradicts what is there.",
    413: "The body is too large.",
    415: "The body is of another kind.",
    422: "It may not be said: the detail names the bound and the value.",
    423: "Another process has the agent open for writing.",
    503: "Too much waits, or the server is stopping: try again after Retry-After seconds.",
    504: "The time given was over.",
}


def document(endpoints: Iterable[Endpoint], with_tokens: bool) -> dict[str, Any]:
    """Return the document. ``with_tokens``: whether requests must carry one."""
    rows = list(endpoints)
    written, bodies = schema_components(
        (kind for row in rows for kind in _kinds(row)),
        ref_template="#/components/schemas/{name}",
    )
    schemas = iter(written)
    paths: dict[str, dict[str, Any]] = {}
    for row in rows:
        paths.setdefault(row.path, {})[row.verb.lower()] = _operation(row, schemas)
    components: dict[str, Any] = {
        "schemas": {**bodies, **responses.COMPONENTS, "Problem": problems.SCHEMA},
        "responses": {
            str(status): _problem(about)
            for status, about in {**_ANSWERS, 404: "No such id."}.items()
        },
    }
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "recollex", "version": __version__, "description": DESCRIPTION},
        "paths": paths,
        "components": components,
    }
    if with_tokens:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"token": []}]
    return found


def _kinds(endpoint: Endpoint) -> Iterator[Any]:
    """Give the types of what a request holds, in the order in which `_operation` writes them."""
    yield from (endpoint.parameters[name] for name in endpoint.names)
    yield from endpoint.query.values()
    if endpoint.body is not None:
        yield endpoint.body


def _operation(endpoint: Endpoint, schemas: Iterator[dict[str, Any]]) -> dict[str, Any]:
    """Return an operation; schemas: those of `_kinds`; it takes its own."""
    never = set() if endpoint.unknown else {404}
    if endpoint.body is None:
        never |= {413, 415}
    found: dict[str, Any] = {
        "operationId": _name(endpoint),
        "summary": endpoint.summary,
        "tags": [endpoint.group],
        "parameters": [
            *(_parameter(name, next(schemas), "path") for name in endpoint.names),
            *(_parameter(name, next(schemas), "query") for name in endpoint.query),
        ],
        "responses": {
            "200": {"description": "Done.", "content": _json(endpoint.answer)},
            **{
                str(each): {"$ref": f"#/components/responses/{each}"}
                for each in _ANSWERS
                if each not in never
            },
        },
    }
    if endpoint.about:
        found["description"] = endpoint.about
    if endpoint.body is not None:
        found["requestBody"] = {"required": True, "content": _json(next(schemas))}
    if endpoint.writes:
        key = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"^[!-~]+$"}
        found["parameters"].append(
            {"name": "Idempotency-Key", "in": "header", "required": False, "schema": key}
        )
    return found


def _parameter(name: str, schema: Mapping[str, Any], where: str) -> dict[str, Any]:
    return {"name": name, "in": where, "required": where == "path", "schema": schema}


def _json(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"application/json": {"schema": schema}}


def _problem(about: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": about, "content": {problems.CONTENT_TYPE: {"schema": schema}}}


def _name(endpoint: Endpoint) -> str:
    """Return a unique name for an endpoint.

    >>> from recollex.remote.http.memories import ENDPOINTS
    >>> _name(ENDPOINTS[3])
    'post_agents_at_search'
    """
    segments = endpoint.path.strip("/").split("/")
    words = [part for part in segments[1:] if not part.startswith("{")]
    last = segments[-1]
    ending = f"_{last[1:-1]}" if last.startswith("{") else ""
    return f"{endpoint.verb.lower()}_{'_'.join(words)}{ending}"
