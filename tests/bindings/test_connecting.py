"""Connecting to a server: addresses, options, and what a client says when it cannot."""

import socket
import threading
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex.remote.client.sockets import read_address
from recollex_engine import errors
from tests.bindings.serving import serving
from tests.bindings.word_vectors import WordVectors


def test_an_absent_server_says_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(errors.DisconnectedError) as raised:
        recollex.connect(f"unix://{tmp_path}/nothing.sock")
    line = f"recollex serve --store DIR --socket {tmp_path}/nothing.sock"
    assert line in str(raised.value)
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(tmp_path / "left.sock"))
    left.close()
    with pytest.raises(errors.DisconnectedError, match=r"recollex serve .*left\.sock"):
        recollex.connect(tmp_path / "left.sock")
    with pytest.raises(errors.DisconnectedError, match=r"--listen 127\.0\.0\.1:1"):
        recollex.connect("tcp://127.0.0.1:1")
    assert issubclass(errors.DisconnectedError, ConnectionError)


def test_what_is_no_recollex_server_is_said_to_be_none() -> None:
    def answer(said: bytes) -> None:
        client, _ = listener.accept()
        with client:
            client.recv(1000)
            client.sendall(said)

    for said in (b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", b"\x94\x01\x00\xc0\xc0", b"\xc1"):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            thread = threading.Thread(target=answer, args=(said,))
            thread.start()
            with pytest.raises((errors.DisconnectedError, errors.ProtocolError)):
                recollex.connect(f"tcp://127.0.0.1:{listener.getsockname()[1]}", timeout=5)
            thread.join()


@pytest.mark.parametrize(
    "wrong",
    [
        7,
        "",
        "/run/recollex.sock",
        "unix://run/recollex.sock",
        "unix:///",
        "unix:///a\0b",
        "tcp://localhost",
        "tcp://localhost:70000",
        "tcp://:7077",
        "tcp://localhost:7077/path",
        "tcp://token@localhost:7077",
        "ftp://localhost:7077",
        "tcp://localhost:7077?x=1",
    ],
)
def test_an_address_that_cannot_be_read_shows_those_that_can(wrong: Any) -> None:
    with pytest.raises(errors.InputError, match="address"):
        recollex.connect(wrong)


def test_addresses_of_every_kind() -> None:
    assert read_address("unix:///run/a%20b.sock").path == "/run/a b.sock"
    assert str(read_address("tls://[::1]:7077")) == "tls://[::1]:7077"
    assert read_address("http://localhost").port == 80
    assert read_address(Path("/run/x.sock")) == read_address("unix:///run/x.sock")


@pytest.mark.parametrize(
    "options",
    [
        {"token": ""},
        {"token": 3},
        {"timeout": 0},
        {"timeout": "1"},
        {"patience": -1},
        {"connections": 0},
        {"connections": True},
        {"certificates": 3},
    ],
)
def test_an_option_that_is_not_acceptable_is_refused(address: str, options: Any) -> None:
    (name,) = options
    with pytest.raises(errors.InputError, match=f"{name}|seconds"):
        recollex.connect(address, **options)


def test_the_client_says_what_it_is(address: str) -> None:
    with recollex.connect(address) as store:
        alice = store.agent("alice")
        store.ping()
        assert repr(store) == f"<recollex.remote.client.Store at {address}>"
        assert repr(alice) == "<recollex.remote.client.Agent 'alice'>"
        alice.retain("Ann is here.", id="a")
        cut = alice.at(alice.get("a").recorded_at)
        assert "as of 20" in repr(cut)


def test_a_message_beyond_the_servers_limit_is_not_sent(tmp_path: Path) -> None:
    from recollex.remote.server.limits import ServerLimits

    address = f"unix://{tmp_path / 'memory.sock'}"
    here = recollex.open(tmp_path / "memory", embedder=WordVectors())
    with (
        serving(here, address=address, limits=ServerLimits(message_bytes=10_000)),
        recollex.connect(address) as store,
    ):
        alice = store.agent("alice")
        with pytest.raises(errors.InputError, match="the server reads up to 10,000: do it in"):
            alice.retain_many(["x" * 500] * 30)
        assert alice.stats().memories == 0
