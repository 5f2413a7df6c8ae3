"""The socket's messages, one in each HTTP request."""

from collections.abc import Iterator
from typing import Any

import httpx
import msgpack
import pytest

from recollex.remote.wire.codec import decode
from tests.bindings.remote.http.http_service import Served, served

MSGPACK = {"content-type": "application/msgpack"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("rpc")) as running:
        yield running


@pytest.fixture(scope="module")
def http(server: Served) -> Iterator[httpx.Client]:
    with server.http() as client:
        yield client


def post(http: httpx.Client, message: Any) -> httpx.Response:
    body = message if isinstance(message, bytes) else msgpack.packb(message)
    return http.post("/api/rpc", content=body, headers=MSGPACK)


def call(http: httpx.Client, method: str, agent: str | None, **arguments: Any) -> list[Any]:
    answer = post(http, [0, 7, method, [agent, arguments, {}]])
    assert answer.headers["content-type"] == "application/msgpack"
    told: list[Any] = decode(answer.content)
    assert told[:2] == [1, 7]
    return told[2:]


def test_a_call_comes_back_as_on_the_socket(http: httpx.Client) -> None:
    assert call(http, "retain", "bob", text="Bob likes tea.", id="b1") == [None, "b1"]
    error, found = call(http, "recall", "bob", query="Who likes tea?")
    assert error is None
    assert [memory.text for memory in found] == ["Bob likes tea."]
    assert call(http, "agents", None) == [None, ["bob"]]


def test_an_error_has_its_status_and_its_class(http: httpx.Client) -> None:
    answer = post(http, [0, 7, "get", ["bob", {"id": "nobody"}, {}]])
    assert answer.status_code == 404
    name, message, data = decode(answer.content)[2]
    assert (name, data["id"]) == ("UnknownIdError", "nobody")
    assert message == "agent 'bob' has no memory with id 'nobody'"


def test_a_long_list_comes_in_parts_if_it_is_asked_so(http: httpx.Client) -> None:
    call(http, "retain_many", "many", texts=["One.", "Two.", "Three."], id=["1", "2", "3"])
    answer = post(http, [0, 7, "list", ["many", {}, {"parts": 2}]])
    unpacker = msgpack.Unpacker(ext_hook=lambda code, data: (code, len(data) > 0))
    unpacker.feed(answer.content)
    first, second, last = unpacker
    assert first[:2] == second[:2] == [2, "part"]
    assert [len(each[2][1]) for each in (first, second)] == [2, 1]
    assert last == [1, 7, None, []]


def test_hello_and_ping_answer(server: Served, http: httpx.Client) -> None:
    error, told = call(http, "hello", None, protocol=1)
    assert error is None
    assert (told["protocol"], told["instance"]) == (1, server.service.instance)
    assert call(http, "ping", None) == [None, None]
    error, text = call(http, "metrics", None)
    assert error is None and "\nrecollex_requests_total" in text


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xc1",
        b"\x94\x00",
        b"\x91" * 1000,
        b"\xdd\xff\xff\xff\xff",
        msgpack.packb([2, "cancel", [1]]),
        msgpack.packb([0, 1, "ping", [None, {}, {}]]) * 2,
        msgpack.packb([0, -1, "ping", [None, {}, {}]]),
        msgpack.packb([0, 1, "ping", [None, {}, {"deadline_ms": "soon"}]]),
    ],
)
def test_what_is_no_request_is_refused(http: httpx.Client, body: bytes) -> None:
    answer = post(http, body)
    assert (answer.status_code, answer.json()["title"]) == (400, "ProtocolError")


def test_other_kinds_and_verbs_are_refused(http: httpx.Client) -> None:
    body = msgpack.packb([0, 1, "ping", [None, {}, {}]])
    as_text = http.post("/api/rpc", content=body, headers={"content-type": "text/plain"})
    assert as_text.status_code == 415
    assert http.get("/api/rpc").status_code == 405
