"""Routing: the endpoint of a request, by its verb and path, and the check of what it holds."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

import orjson

from recollex.http.endpoint import CheckedRequest, Endpoint
from recollex.http.problems import RequestError
from recollex.http.schema import Schema, read, read_word
from recollex_engine.errors import InputError

MAX_QUERY_STRING = 16_384
"""The most bytes after the question mark."""
NOWHERE = "there is nothing here: GET /api/openapi.json says what there is"


class Routes:
    """The endpoints, by their paths.

    A segment of a path is percent-encoded, so ids may hold slashes. Cost: one look-up a segment.
    """

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self._root: dict[str, Any] = {}
        for endpoint in endpoints:
            node = self._root
            for segment in endpoint.segments:
                node = node.setdefault("{}" if segment.startswith("{") else f"/{segment}", {})
            node.setdefault("", {})[endpoint.verb] = endpoint

    def find(self, verb: str, raw_path: bytes) -> tuple[Endpoint, list[str]]:
        """Return the endpoint, and the words of the path that stand for its names.

        Raises `RequestError`.
        """
        node, words = self._root, []
        for part in raw_path.removeprefix(b"/").split(b"/"):
            try:
                segment = unquote_to_bytes(part).decode()
            except UnicodeDecodeError:
                raise RequestError(400, "PathError", "the path is not UTF-8") from None
            if (below := node.get(f"/{segment}")) is not None:
                node = below
            elif segment and (below := node.get("{}")) is not None:
                node = below
                words.append(segment)
            else:
                raise RequestError(
                    404, "NoSuchPath", "there is nothing here: see /api/openapi.json"
                )
        verbs: Mapping[str, Endpoint] = node.get("", {})
        if not verbs:
            raise RequestError(404, "NoSuchPath", NOWHERE)
        if verb not in verbs:
            allowed = ", ".join(sorted(verbs))
            raise RequestError(405, "NoSuchVerb", f"it takes {allowed}", allow=allowed)
        return verbs[verb], words


def check_request(
    endpoint: Endpoint, words: list[str], query: bytes, kind: str, body: bytes
) -> CheckedRequest:
    """Return what a request holds, checked against its endpoint's schemas.

    kind: of the body, in lower case and without parameters. Raises `RequestError` for a request
    that cannot be read, `InputError` for a value that is not allowed.
    """
    names = [part[1:-1] for part in endpoint.segments if part.startswith("{")]
    path = {
        name: read_word(word, endpoint.parameters[name], name)
        for name, word in zip(names, words, strict=True)
    }
    said = _query(query, endpoint.query) if query else {}
    if endpoint.body is None:
        if body:
            raise RequestError(400, "BodyError", f"{endpoint.verb} here takes no body")
        return CheckedRequest(path, said, {})
    if kind != "application/json":
        raise RequestError(
            415, "MediaTypeError", f"the body must be application/json, got {kind[:80]!r}"
        )
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RequestError(400, "BodyError", f"the body is not JSON: {error}") from None
    return CheckedRequest(path, said, read(value, endpoint.body, "body"))


def _query(raw: bytes, schemas: Mapping[str, Schema]) -> dict[str, Any]:
    if len(raw) > MAX_QUERY_STRING:
        raise RequestError(
            414, "QueryError", f"the query may have {MAX_QUERY_STRING} bytes, got {len(raw)}"
        )
    said: dict[str, Any] = {}
    for pair in raw.split(b"&"):
        if not pair:
            continue
        try:
            name, _, value = (
                unquote_to_bytes(part.replace(b"+", b" ")).decode() for part in pair.partition(b"=")
            )
        except UnicodeDecodeError:
            raise RequestError(400, "QueryError", "the query is not UTF-8") from None
        if name not in schemas:
            known = ", ".join(schemas) or "none"
            raise InputError(f"{name[:80]!r} is no parameter here: known are {known}")
        if name in said:
            raise InputError(f"{name} is given twice")
        said[name] = read_word(value, schemas[name], name)
    return said
