"""Every connection has a clock, from accept to the end of a body, whoever reads it or nobody."""

import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollex.remote.server.access import Access
from recollex.remote.server.limits import ServerLimits
from tests.bindings.remote.http.http_service import HashedWords, Served, served
from tests.bindings.remote.http.test_http_limits import TOKENS, WRITER
from tests.waiting import until

LIMITS = ServerLimits(message_bytes=10_000, stall=0.5, handshake=0.5, idle=1.0)
PATIENCE = 8.0
"""Seconds after which a connection counts as held for ever; half a second and a sweep are due."""
HOST = b"Host: localhost\r\n"
TOKEN = b"Authorization: Bearer " + WRITER.encode() + b"\r\n"
JSON = b"Content-Type: application/json\r\n"
LONG = b"Content-Length: 9000\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


def head(verb: bytes, path: bytes, *lines: bytes) -> bytes:
    return verb + b" " + path + b" HTTP/1.1\r\n" + HOST + b"".join(lines)


GET = head(b"GET", b"/healthz", b"\r\n")
HELD = {
    "nothing": (b"", b""),
    "empty lines": (b"", b"\r\n"),
    "half a head": (head(b"GET", b"/healthz"), b"x"),
    "half a header": (head(b"GET", b"/healthz", b"X-"), b"x"),
    "a refused body": (head(b"POST", b"/api/search", JSON, LONG), b" "),
    "a refused body in pieces": (head(b"POST", b"/api/search", JSON, CHUNKED), b"1\r\n \r\n"),
    "a body of a page": (head(b"GET", b"/healthz", LONG), b" "),
    "a body of a wrong verb": (head(b"POST", b"/healthz", CHUNKED), b"1\r\n \r\n"),
    "a body of the studio": (head(b"GET", b"/studio", LONG), b" "),
    "a body of nothing": (head(b"PUT", b"/nowhere", LONG), b" "),
    "a body": (head(b"POST", b"/api/search", TOKEN, JSON, LONG), b" "),
    "a body in pieces": (head(b"POST", b"/api/search", TOKEN, JSON, CHUNKED), b"1\r\n \r\n"),
    "a body of an RPC": (head(b"POST", b"/api/rpc", TOKEN, LONG), b"\x90"),
    "a refused RPC": (head(b"POST", b"/api/rpc", LONG), b"\x90"),
    "a body that is asked for": (
        head(b"POST", b"/api/search", TOKEN, b"Expect: 100-continue\r\n", LONG),
        b" ",
    ),
    "trailers": (head(b"POST", b"/healthz", CHUNKED) + b"0\r\n", b"x: y\r\n"),
    "a piece's size": (head(b"POST", b"/healthz", CHUNKED), b"0"),
    "no further request": (GET, b""),
    "empty lines after an answer": (GET, b"\r\n"),
    "half a second head": (GET + b"GET /hea", b"x"),
    "a second body": (GET + head(b"GET", b"/healthz", LONG), b" "),
    "an upgrade": (head(b"GET", b"/docs", b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"), b"x"),
    "another protocol": (b"\x16\x03\x01\x02\x00\x01", b"\x00"),
}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("clocks")
    tokens = folder / "tokens.toml"
    tokens.write_text(TOKENS)
    tokens.chmod(0o600)
    with served(folder / "store", LIMITS, Access.from_file(tokens)) as running:
        yield running


def seconds_held(address: tuple[str, int], first: bytes, then: bytes) -> tuple[float, bytes]:
    """Return how long a connection stays that sends little, again and again, and what it got."""
    received = b""
    with socket.create_connection(address, timeout=0.1) as made:
        began = time.monotonic()
        with contextlib.suppress(ConnectionError):
            made.sendall(first)
            while time.monotonic() < began + PATIENCE:
                with contextlib.suppress(TimeoutError):
                    if not (data := made.recv(65_536)):
                        break
                    received += data
                if then:
                    made.sendall(then)
        return time.monotonic() - began, received


def held_by_all(
    address: tuple[str, int], clients: dict[str, tuple[bytes, bytes]]
) -> dict[str, tuple[float, bytes]]:
    found: dict[str, tuple[float, bytes]] = {}

    def hold(name: str) -> None:
        found[name] = seconds_held(address, *clients[name])

    threads = [threading.Thread(target=hold, args=(name,)) for name in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: took for name, (took, _) in found.items() if took >= PATIENCE} == {}
    return found


def test_no_connection_is_held(guarded: Served) -> None:
    found = held_by_all(guarded.server.address, HELD)
    assert found["a body"][1].startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert b'"title":"TooSlow"' in found["a body"][1]
    assert found["a refused body"][1].startswith(b"HTTP/1.1 401")  # before its body is read
    until(lambda: not len(guarded.service.limiter))
    assert guarded.server.connections == 0


def test_no_connection_to_mcp_is_held(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(TOKENS)
    tokens.chmod(0o600)
    code = (
        "from recollex.remote.server.limits import ServerLimits as Limits; "
        "import recollex.frameworks.mcp.http_serving as serving; "
        "own = {'message_bytes': 10_000, 'stall': 0.5, 'handshake': 0.5, 'idle': 1}; "
        "serving.ServerLimits = lambda: Limits(**own); "
        "from recollex.cli import main; raise SystemExit(main())"
    )
    command = [sys.executable, "-W", "ignore", "-c", code, "mcp", str(tmp_path / "store")]
    command += ["--http", "127.0.0.1:0", "--tokens", str(tokens)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline().split(":")[-1].partition("/")[0])
            whole = head(b"POST", b"/mcp", TOKEN, JSON, b"Accept: application/json\r\n", LONG)
            held_by_all(("127.0.0.1", port), {**HELD, "a body": (whole, b" ")})
        finally:
            server.terminate()


@pytest.mark.parametrize(
    "first",
    [
        head(b"POST", b"/api/search", JSON, b"Content-Length: 1000000\r\n\r\n"),
        head(b"POST", b"/api/search", TOKEN, JSON, b"Content-Length: 1000000\r\n\r\n"),
        head(b"POST", b"/api/agents/a/expire", TOKEN, b"Content-Length: 1000000\r\n\r\n"),
        head(b"POST", b"/api/search", TOKEN, JSON, CHUNKED),
        head(b"GET", b"/healthz", CHUNKED),
    ],
)
def test_a_body_is_bounded_whoever_reads_it(guarded: Served, first: bytes) -> None:
    piece = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
    sent = 0
    with socket.create_connection(guarded.server.address, timeout=10) as made:
        with contextlib.suppress(ConnectionError, TimeoutError):
            made.sendall(first)
            for _ in range(2000):
                made.sendall(piece)
                sent += len(piece)
        assert sent < 2000 * len(piece) // 2
    with guarded.http(headers={"Authorization": f"Bearer {WRITER}"}) as client:
        assert client.get("/api/agents").json() == {"agents": []}


class Slow(HashedWords):
    """Takes longer for a question than a request may take to be whole."""

    def embed_query(self, text: str) -> Any:
        if "slow" in text:
            time.sleep(3)
        return super().embed_query(text)


def test_the_clock_stands_still_while_the_server_does_not_read(tmp_path: Path) -> None:
    ask = head(b"POST", b"/api/agents/a/search", JSON, b"Content-Length: 400000\r\n\r\n")
    first = ask + b'{"query": "slow tea"}'.ljust(400_000)
    second = ask + b'{"query": "tea"}'.ljust(400_000)
    limits = ServerLimits(stall=0.5, handshake=0.5)
    with served(tmp_path, limits, embedder=Slow()) as running, running.http() as client:
        client.post("/api/agents/a/memories", json={"text": "Bob likes tea."})
        with socket.create_connection(running.server.address, timeout=20) as made:
            made.sendall(first + second)
            received = b""
            while received.count(b"HTTP/1.1 200 OK") < 2 and (data := made.recv(65_536)):
                received += data
    assert received.count(b"HTTP/1.1 200 OK") == 2
