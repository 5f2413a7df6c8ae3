"""Routing: the endpoint of a request, by its verb and path, and the check of what it holds."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

import orjson

from recollex.remote.http.endpoint import CheckedRequest, Endpoint
from recollex.remote.http.problems import RequestError
from recollex.remote.http.schema import Schema, known_words, read, read_word
from recollex_engine.errors import InputError

MAX_QUERY_STRING = 16_384
"""The most bytes after the question mark."""
ALIKE = 0.7
"""How much each word of a path must resemble another's for it to be suggested (difflib's ratio)."""
OTHER_WORDS = {"query": "search", "recall": "search", "remember": "memories", "retain": "memories"}
"""What Python and other programs call a thing -> the word of its path."""
LONGEST = 120
"""The most bytes of a path for which one is suggested: comparing takes the square of the length."""


class Routes:
    """The endpoints, by their paths.

    A segment of a path is percent-encoded, so ids may hold slashes. Cost: one look-up a segment.
    pages: the paths of pages that are no endpoints, for suggestions.
    """

    def __init__(self, endpoints: Iterable[Endpoint], pages: Iterable[str] = ()) -> None:
        self._root: dict[str, Any] = {}
        self._paths = [tuple(page.strip("/").split("/")) for page in pages]
        for endpoint in endpoints:
            self._paths.append(endpoint.segments)
            node = self._root
            for segment in endpoint.segments:
                node = node.setdefault("{}" if segment.startswith("{") else f"/{segment}", {})
            node.setdefault("", {})[endpoint.verb] = endpoint

    def find(self, verb: str, raw_path: bytes) -> tuple[Endpoint, list[str]]:
        """Return the endpoint, and the words of the path that stand for its names.

        Raises `RequestError`.
        """
        node = self._root
        words = []
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
                raise self._nothing(raw_path)
        verbs: Mapping[str, Endpoint] = node.get("", {})
        if not verbs:
            raise self._nothing(raw_path)
        if verb not in verbs:
            allowed = ", ".join(sorted(verbs))
            raise no_such_verb(verb, allowed)
        return verbs[verb], words

    def _nothing(self, raw_path: bytes) -> RequestError:
        """Return the refusal of a path that does not exist, with one that it resembles."""
        given = raw_path.decode("ascii", "replace")
        near = self._like(given) if len(given) <= LONGEST else None
        hint = f"did you mean {near}? " if near else ""
        return RequestError(
            404,
            "NoSuchPath",
            f"there is nothing at {given[:80]!r}: {hint}/docs and /openapi.json say what there is",
        )

    def _like(self, given: str) -> str | None:
        """Return the path that a given one resembles most, with the names that it gives."""
        parts = given.strip("/").split("/")
        best = 0.0
        found = None
        for path in self._paths:
            pairs = list(zip(path, parts, strict=False))
            if len(path) != len(parts) or any(not part and word[0] == "{" for word, part in pairs):
                continue
            alike = [_alike(part, word) for word, part in pairs if word[0] != "{"]
            if min(alike) >= ALIKE and (sum(alike) / len(alike)) > best:
                best = sum(alike) / len(alike)
                found = "/" + "/".join(part if word[0] == "{" else word for word, part in pairs)
        return found


def _alike(given: str, word: str) -> float:
    """Return how much a word of a path resembles one that there is, from 0 to 1."""
    if OTHER_WORDS.get(given) == word:
        return 1.0
    return difflib.SequenceMatcher(None, given, word).ratio()


def no_such_verb(verb: str, allowed: str) -> RequestError:
    """Return the refusal of a verb that a path does not take."""
    return RequestError(405, "NoSuchVerb", f"it takes {allowed}, got {verb[:20]}", allow=allowed)


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
            415,
            "MediaTypeError",
            f"the body must be application/json, got {kind[:80]!r}: send the header "
            "Content-Type: application/json",
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
            raise InputError(f"the query has an unknown parameter {known_words(name, schemas)}")
        if name in said:
            raise InputError(f"{name} is given twice")
        said[name] = read_word(value, schemas[name], name)
    return said
