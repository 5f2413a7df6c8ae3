"""Connections that do not finish the handshake of TLS are counted, and dropped soon."""

import asyncio
import contextlib
import gc
import select
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import recollex
from recollex.remote.server.limits import ConnectionLimiter, ServerLimits
from recollex.remote.server.listener import TlsAccepting, listening_sockets, tls_context
from recollex.remote.server.server import Server
from recollex.remote.wire.codec import encode
from tests.bindings.remote.http.http_service import served
from tests.bindings.serving import serving
from tests.waiting import until

LIMITS = ServerLimits(connections=3, handshake=1.0)


@pytest.fixture(params=["asyncio", "uvloop"])
def loop(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "uvloop":
        uvloop = pytest.importorskip("uvloop", reason="uvloop is in the extra server")
        monkeypatch.setattr(asyncio, "new_event_loop", uvloop.new_event_loop)


@pytest.fixture
def server(tmp_path: Path, certificate: tuple[Path, Path], loop: None) -> Iterator[Server]:
    chain, key = map(str, certificate)
    with serving(
        tmp_path / "memory", address="tls://localhost:0", certificate=chain, key=key, limits=LIMITS
    ) as found:
        yield found


@pytest.fixture
def port(server: Server) -> int:
    return int(server.addresses[0].rpartition(":")[2])


def wait_until_all_left(server: Server) -> None:
    until(lambda: not len(server.listener))


def silent(port: int) -> socket.socket:
    return socket.create_connection(("localhost", port), timeout=5)


def received(client: socket.socket) -> bytes:
    data = client.recv(1 << 16)
    assert data
    return data


def is_dropped(client: socket.socket) -> bool:
    with contextlib.suppress(ConnectionResetError):
        return client.recv(1) == b""
    return True


def silent_ones_are_dropped(port: int) -> None:
    began = time.monotonic()
    with silent(port) as one, silent(port) as other, silent(port) as wrong:
        with silent(port) as too_many:
            assert is_dropped(too_many)
        wrong.sendall(b"no TLS at all, and too long to be the beginning of it\r\n" * 9)
        assert is_dropped(wrong)
        left = select.select([one, other], [], [], 0)[0]
        assert not left or time.monotonic() >= began + LIMITS.handshake
        assert is_dropped(one) and is_dropped(other)
        assert LIMITS.handshake - 0.1 < time.monotonic() - began < 20


def test_a_socket_drops_connections_that_say_nothing(
    server: Server, port: int, certificate: tuple[Path, Path]
) -> None:
    silent_ones_are_dropped(port)
    address = f"tls://localhost:{port}"
    with recollex.connect(address, certificates=certificate[0]) as client:
        assert client.agents() == []
        with silent(port), silent(port), silent(port) as fourth:
            assert is_dropped(fourth)
        assert client.agents() == []
    wait_until_all_left(server)


def test_what_is_sent_with_the_end_of_the_handshake_is_read(
    server: Server, port: int, certificate: tuple[Path, Path]
) -> None:
    context = ssl.create_default_context(cafile=certificate[0])
    for _ in range(10):
        coming, going = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = context.wrap_bio(coming, going, server_hostname="localhost")
        with silent(port) as plain:
            while True:
                try:
                    client.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    plain.sendall(going.read())
                    coming.write(received(plain))
            client.write(encode([0, 1, "hello", [None, {"protocol": 1}, {}]]))
            plain.sendall(going.read())  # the end of the handshake, and a request
            while True:
                coming.write(received(plain))
                with contextlib.suppress(ssl.SSLWantReadError):
                    assert b"instance" in client.read(1 << 16)
                    break
        wait_until_all_left(server)


def test_http_drops_connections_that_say_nothing(
    tmp_path: Path, certificate: tuple[Path, Path], loop: None
) -> None:
    chain, key = map(str, certificate)
    with served(tmp_path, tls=tls_context(chain, key), limits=LIMITS) as server:
        _, port = server.server.address
        silent_ones_are_dropped(port)
        trusting = ssl.create_default_context(cafile=chain)
        with httpx.Client(base_url=f"https://localhost:{port}", verify=trusting) as http:
            assert http.get("/healthz").text == "ok\n"


def test_a_server_that_stops_does_not_wait_for_handshakes(
    tmp_path: Path, certificate: tuple[Path, Path], loop: None
) -> None:
    chain, key = map(str, certificate)
    with serving(
        tmp_path / "memory", address="tls://localhost:0", certificate=chain, key=key
    ) as server:
        client = silent(int(server.addresses[0].rpartition(":")[2]))
        time.sleep(0.1)
        began = time.monotonic()
    with client:
        assert is_dropped(client) and time.monotonic() - began < ServerLimits().handshake


@pytest.mark.parametrize("turns", range(12))
def test_a_connection_accepted_while_the_server_stops_is_closed(
    certificate: tuple[Path, Path], loop: None, turns: int
) -> None:
    async def connected() -> None:
        [listening] = listening_sockets("127.0.0.1", 0, 8)
        context = tls_context(*map(str, certificate))
        with socket.create_connection(listening.getsockname(), timeout=5) as client:
            limiter = ConnectionLimiter(LIMITS, lambda *_: None)
            accepting = TlsAccepting([listening], context, lambda _: asyncio.Protocol(), limiter)
            for _ in range(turns):
                await asyncio.sleep(0)
            accepting.close()
            for _ in range(5):
                await asyncio.sleep(0)
            assert is_dropped(client)

    gc.disable()  # it would close what is left open
    try:
        new_loop = asyncio.new_event_loop()
        try:
            new_loop.run_until_complete(connected())
        finally:
            new_loop.close()
    finally:
        gc.enable()
    gc.collect()
