"""The limits of HTTP: who may call, how much, and for how long."""

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import recollex
from recollex.remote.http.http_server import start_http
from recollex.remote.server.access import Access
from recollex.remote.server.limits import ServerLimits
from recollex.remote.server.service import Service
from recollex.remote.server.telemetry import Telemetry
from recollex_engine.errors import DisconnectedError, InputError, ModelError, StoreFullError
from tests.bindings.remote.http.http_service import HashedWords, Served, served
from tests.waiting import until

READER, WRITER = "a secret of the reader", "a secret of the writer"
TOKENS = f"""
[[token]]
name = "reader"
secret = "{READER}"
agents = ["team-*"]
scope = "read"

[[token]]
name = "writer"
secret = "{WRITER}"
scope = "write"
"""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("guarded")
    tokens = folder / "tokens.toml"
    tokens.write_text(TOKENS)
    tokens.chmod(0o600)
    limits = ServerLimits(message_bytes=10_000, stall=0.5, handshake=0.5)
    with served(folder / "store", limits, Access.from_file(tokens)) as running:
        with running.http(headers=bearer(WRITER)) as writer:
            for agent in ("team-a", "secret"):
                items = [{"content": "Bob likes tea.", "id": "m"}]
                body = {"agent_id": agent, "items": items}
                assert writer.post("/api/memories/batch", json=body).status_code == 200
        yield running


@pytest.fixture(scope="module")
def unguarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("unguarded")) as running:
        yield running


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def title(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["title"]


def test_a_token_reaches_what_it_may(guarded: Served) -> None:
    search = {"query": "tea"}
    with guarded.http() as client:
        for headers in ({}, bearer("something else"), {"Authorization": "Basic abc"}):
            answer = client.post("/api/agents/team-a/search", json=search, headers=headers)
            assert title(answer) == (401, "UnauthorizedError")
            assert answer.headers["www-authenticate"] == "Bearer"
        reader = bearer(READER)
        found = client.post("/api/agents/team-a/search", json=search, headers=reader)
        assert found.status_code == 200 and len(found.json()["memories"]) == 1
        other = client.post("/api/agents/secret/search", json=search, headers=reader)
        assert title(other) == (403, "ForbiddenError")
        write = client.delete("/api/agents/team-a/memories/m", headers=reader)
        assert title(write) == (403, "ForbiddenError")
        profile = client.put("/api/agents/team-a", json={"background": "x"}, headers=reader)
        assert title(profile) == (403, "ForbiddenError")
        agents = client.get("/api/agents", headers=reader).json()["agents"]
        assert [each["agent_id"] for each in agents] == ["team-a"]


def test_pages_ask_for_a_token_where_they_tell_something_of_this_server(guarded: Served) -> None:
    with guarded.http() as client:
        for path in ("/healthz", "/readyz", "/docs", "/openapi.json", "/api/openapi.json"):
            assert client.get(path).status_code == 200
        assert client.get("/metrics").status_code == 401
        assert client.get("/metrics", headers=bearer(READER)).status_code == 200


def test_a_body_may_be_only_so_long(guarded: Served) -> None:
    body = b'{"query": "' + b"x" * 10_000 + b'"}'
    headers = bearer(WRITER) | {"content-type": "application/json"}

    def chunks() -> Iterator[bytes]:
        yield body[:5000]
        yield body[5000:]

    with guarded.http(headers=headers) as client:
        for content in (body, chunks()):
            answer = client.post("/api/agents/team-a/search", content=content)
            assert title(answer) == (413, "TooLong")
            assert "10,000 bytes" in answer.json()["detail"]


def test_a_caller_says_how_long_it_waits(guarded: Served) -> None:
    with guarded.http(headers=bearer(WRITER)) as client:
        path, body = "/api/agents/team-a/search", {"query": "tea"}
        late = client.post(path, json=body, headers={"Recollex-Timeout": "0"})
        assert title(late) == (504, "DeadlineError")
        wrong = client.post(path, json=body, headers={"Recollex-Timeout": "soon"})
        assert title(wrong) == (422, "InputError")


def silent(server: Served, first: bytes) -> float:
    """Return after how many seconds the server hangs up on a client that falls silent."""
    host, port = server.server.address
    with socket.create_connection((host, port), timeout=10) as made:
        began = time.monotonic()
        made.sendall(first)
        with contextlib.suppress(ConnectionError):
            while made.recv(4096):
                pass
        return time.monotonic() - began


@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"GET /healthz HT",
        b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
        + WRITER.encode()
        + b"\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{",
    ],
)
def test_a_silent_client_is_hung_up_on(guarded: Served, first: bytes) -> None:
    assert silent(guarded, first) < 5


def test_a_head_may_be_only_so_long(guarded: Served) -> None:
    host, port = guarded.server.address
    with socket.create_connection((host, port), timeout=10) as made:
        made.sendall(b"GET /healthz HTTP/1.1\r\nX-Long: " + b"y" * 200_000)
        with contextlib.suppress(ConnectionError):
            assert made.recv(4096).startswith(b"HTTP/1.1 400")


def test_a_long_path_that_does_not_exist_is_refused_at_once(guarded: Served) -> None:
    with guarded.http(headers=bearer(WRITER)) as client:
        began = time.monotonic()
        for name in ("x" * 60_000, "xy" * 30_000):
            assert title(client.get(f"/api/agents/{name}/memory")) == (404, "NoSuchPath")
        assert time.monotonic() - began < 2


def test_without_tokens_only_this_machine_is_answered(tmp_path: Path) -> None:
    with served(tmp_path) as running, running.http() as client:
        for host in ("localhost:99", "127.0.0.1", "[::1]:8080"):
            assert client.get("/healthz", headers={"Host": host}).status_code == 200
        for host in ("evil.example", "localhost.evil.example:80", "192.168.0.7", ""):
            answer = client.get("/healthz", headers={"Host": host})
            assert title(answer) == (421, "HostError")


REQUESTS = [
    ("POST", "/api/agents/a/expire"),
    ("POST", "/api/agents/a/memories"),
    ("GET", "/api/agents/a/memories"),
    ("DELETE", "/api/agents/a"),
    ("OPTIONS", "/api/agents/a/memories"),
    ("POST", "/api/rpc"),
    ("GET", "/metrics"),
    ("GET", "/studio"),
    ("GET", "/docs"),
    ("GET", "/healthz"),
    ("GET", "/nowhere"),
]
OTHER_SITES = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "CROSS-SITE"},
    {"Origin": "http://evil.example"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "http://127.0.0.1"},
    {"Origin": "http://localhost:8080.evil.example"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "http://OWN", "Sec-Fetch-Site": "cross-site"},
    {"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"},
]
OTHER_HOSTS = (
    *("evil.example", "evil.example:80", "localhost.evil.example:80", "[::1].evil.example"),
    *("localhost:80@evil.example", "0.0.0.0:80", "192.168.0.7", "127.0.0.1.evil.example", ""),
)


@pytest.mark.parametrize(("verb", "path"), REQUESTS)
def test_without_tokens_pages_of_other_sites_are_refused(
    unguarded: Served, verb: str, path: str
) -> None:
    own = unguarded.url.removeprefix("http://")
    with unguarded.http() as client:
        for said in OTHER_SITES:
            headers = {name: value.replace("OWN", own) for name, value in said.items()}
            assert title(client.request(verb, path, headers=headers)) == (403, "CrossSiteError")
        for host in OTHER_HOSTS:
            answer = client.request(verb, path, headers={"Host": host})
            assert title(answer) == (421, "HostError")
        for headers in (
            {"Origin": f"http://{own}", "Sec-Fetch-Site": "same-origin"},
            {"Origin": f"https://{own}".upper()},
            {"Sec-Fetch-Site": "none"},
            {"Host": "127.1.2.3:80", "Origin": "http://127.1.2.3:80"},
        ):
            assert client.request(verb, path, headers=headers).status_code not in (403, 421)


def test_two_hosts_are_none(unguarded: Served) -> None:
    host, port = unguarded.server.address
    with socket.create_connection((host, port), timeout=10) as made:
        made.sendall(b"GET /healthz HTTP/1.1\r\nHost: evil\r\nHost: localhost\r\n\r\n")
        assert made.recv(4096).startswith(b"HTTP/1.1 421")


def test_with_tokens_another_site_may_call(guarded: Served) -> None:
    headers = bearer(READER) | {"Origin": "http://app.example", "Sec-Fetch-Site": "cross-site"}
    with guarded.http(headers=headers) as client:
        assert client.get("/api/agents", headers={"Host": "memory.example"}).status_code == 200


def test_without_tokens_it_does_not_listen_to_others(tmp_path: Path) -> None:
    async def start(host: str, port: int = 0) -> None:
        service = Service(recollex.open(tmp_path, embedder=HashedWords()))
        try:
            await start_http(service, Telemetry().metrics, host, port)
        finally:
            await service.stop()

    with pytest.raises(InputError, match="can be reached from other machines"):
        asyncio.run(start("0.0.0.0"))
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(InputError, match="HTTP cannot listen at"),
    ):
        asyncio.run(start("127.0.0.1", taken.getsockname()[1]))


class Slow(HashedWords):
    """Waits with every question until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Semaphore(0)
        self.go_on = threading.Event()

    def embed_query(self, text: str) -> Any:
        if "slow" in text:
            self.begun.release()
            self.go_on.wait(20)
        return super().embed_query(text)


def test_what_is_too_much_is_refused_and_an_abandoned_call_is_not_done(tmp_path: Path) -> None:
    slow = Slow()
    limits = ServerLimits(readers=1, waiting=1)
    path = "/api/agents/a/search"

    def ask(words: str, patience: float = 20.0) -> int:
        with (
            httpx.Client(base_url=running.url, timeout=httpx.Timeout(20, read=patience)) as client,
            contextlib.suppress(httpx.ReadTimeout),
        ):
            return client.post(path, json={"query": words}).status_code
        return 0

    with served(tmp_path, limits, embedder=slow) as running, running.http() as client:
        items = [{"content": "Bob likes tea."}]
        body = {"agent_id": "a", "items": items}
        assert client.post("/api/memories/batch", json=body).status_code == 200
        first = threading.Thread(target=ask, args=("slow tea",))
        first.start()
        assert slow.begun.acquire(timeout=10)
        assert ask("tea, in vain", patience=0.3) == 0  # it waits, and its client disconnects
        until(lambda: running.service.status().waiting == 0)
        second = threading.Thread(target=ask, args=("tea",))
        second.start()
        until(lambda: running.service.status().waiting)
        answer = client.post(path, json={"query": "one too many"})
        assert title(answer) == (503, "OverloadedError")
        assert int(answer.headers["retry-after"]) >= 1
        slow.go_on.set()
        for thread in (first, second):
            thread.join(20)
            assert not thread.is_alive()


def test_a_bug_is_told_without_its_text_and_logged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "my word is Rumpelstiltskin"

    class Broken(HashedWords):
        def embed(self, *_: Any, **__: Any) -> Any:
            raise ZeroDivisionError(secret)

    with served(tmp_path, embedder=Broken()) as running, running.http() as client:
        body = {"agent_id": "a", "items": [{"content": "Bob likes tea."}]}
        answer = client.post("/api/memories/batch", json=body)
    assert title(answer) == (500, "InternalError")
    log = capsys.readouterr().err
    assert '"event":"bug"' in log and "ZeroDivisionError" in log
    assert "Rumpelstiltskin" not in answer.text + log


def test_a_problem_tells_what_led_to_it(tmp_path: Path) -> None:
    class Broken(HashedWords):
        def embed(self, *_: Any, **__: Any) -> Any:
            try:
                raise DisconnectedError("the model's host hung up") from StoreFullError(
                    28, "No space left on device", "/models/a"
                )
            except DisconnectedError as error:
                raise ModelError("the model did not answer") from error

    with served(tmp_path, embedder=Broken()) as running, running.http() as client:
        body = {"agent_id": "a", "items": [{"content": "Bob likes tea."}]}
        answer = client.post("/api/memories/batch", json=body)
    assert title(answer) == (503, "ModelError")
    cause = answer.json()["cause"]
    assert (cause["title"], cause["detail"]) == ("DisconnectedError", "the model's host hung up")
    assert cause["type"] == "urn:recollex:error:DisconnectedError" and "status" not in cause
    assert (cause["cause"]["title"], cause["cause"]["filename"]) == ("StoreFullError", "/models/a")
