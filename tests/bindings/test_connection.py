"""Wrong or hostile clients: no other client notices, and nothing leaks."""

import contextlib
import socket
import ssl
import stat
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollex.remote.server.access import Access
from recollex.remote.server.limits import ServerLimits
from recollex.remote.server.server import Server
from recollex.remote.wire.codec import encode
from recollex_engine.errors import InputError
from tests.bindings.serving import VECTOR, Raw, Told, serving
from tests.waiting import until

LIMITS = ServerLimits(message_bytes=1 << 20, kept_bytes=2 << 20, stall=1.0, handshake=1.0, idle=3.0)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("store") / "memory", limits=LIMITS) as server:
        with Raw(server.addresses[0]) as client:
            client.write(
                encode([0, 99, "retain", ["a", {"text": "Tea.", "embedding": VECTOR}, {}]])
            )
            client.receive()
        yield server


def connected(server: Server, hello: bool = True) -> Raw:
    return Raw(server.addresses[0], {"protocol": 1} if hello else {})


def told_and_closed(client: Raw) -> str:
    """Return the name of the error with which the server closed the connection."""
    found = ""
    with client:
        try:
            while True:
                message = client.receive()
                if message[1] == "closing":
                    found = message[2][0]
        except (EOFError, ConnectionResetError):
            return found


@pytest.mark.parametrize(
    "data",
    [
        b"\xc1",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x91" * 100,
        b"\xdd\xff\xff\xff\xff",
        b"\xdf\x7f\xff\xff\xff",
        b"\xc6\xff\xff\xff\xff",
        b"\x93\x00\x01\x02",
        msgpack.packb([0, -1, "ping", [None, {}, {}]]),
        msgpack.packb([0, 2**32, "ping", [None, {}, {}]]),
        msgpack.packb([0, 1, "list", ["a", [], {}]]),
        msgpack.packb([0, 1, "list", ["a", {}, {"colour": 1}]]),
        msgpack.packb([0, 1, "list", ["a", {}, {"parts": 0}]]),
        msgpack.packb([0, 1, "list", ["a", {}, {"deadline_ms": "soon"}]]),
        msgpack.packb([0, 1, "list", ["a", {1: 2}, {}]]),
        msgpack.packb([0, 1, "get", ["a", {"id": msgpack.ExtType(77, b"x")}, {}]]),
        msgpack.packb([0, 1, "get", ["a", {"id": msgpack.ExtType(1, b"x")}, {}]]),
        msgpack.packb([0, 1, "get", ["a", {"id": msgpack.ExtType(3, b"4\x02\xff\xff")}, {}]]),
        msgpack.packb([0, 1, "get", ["a", {"id": msgpack.ExtType(4, b"\xff" * 40)}, {}]]),
        msgpack.packb([0, 1, "get", ["a", {"id": msgpack.ExtType(5, b"\xa9WriterLog\x80")}, {}]]),
        msgpack.packb([0, 1, "get", ["a", {"id": b"\xff\xfe".decode("latin-1")}, {}]])[:-6]
        + b"\xa2\xff\xfe\x80",
        msgpack.packb([0, 1, "sessions.backfill", ["a", {"recall": msgpack.ExtType(5, b"")}, {}]]),
    ],
)
def test_what_is_no_message_ends_the_connection_and_no_other(server: Server, data: bytes) -> None:
    other, client = connected(server), connected(server)
    client.write(data)
    client.socket.shutdown(socket.SHUT_WR)
    assert told_and_closed(client) in ("ProtocolError", "")
    assert other.call("ping", None, {}) is None
    other.close()


def test_wrong_arguments_are_the_callers_and_keep_the_connection(server: Server) -> None:
    with connected(server) as client:
        for arguments in [
            {"limit": "many"},
            {"limit": None},
            {"limit": {}},
            {"after": ["x"]},
            {"after": b"x"},
            {"limit": -(2**60)},
            {"limit": msgpack.ExtType(2, b"\0" * 8)},
        ]:
            with pytest.raises(Told):
                client.call("list", "a", arguments)
        assert client.call("ping", None, {}) is None


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.binary(min_size=1, max_size=200), max_size=4), st.booleans())
def test_any_bytes_leave_the_server_as_it_was(
    server: Server, chunks: list[bytes], hello: bool
) -> None:
    with connected(server, hello) as client:
        for chunk in chunks:
            try:
                client.write(chunk)
            except OSError:
                break
    with connected(server) as other:
        assert len(other.call("list", "a", {})) == 1


def test_a_large_message_is_refused_before_it_has_come(server: Server) -> None:
    client = connected(server)
    client.write(b"\x94\x00\x01\xa6retain\x93\xa1a\x81\xa4text\xdb" + struct.pack(">I", 1 << 21))
    assert told_and_closed(client) == "ProtocolError"


def test_many_unfinished_messages_are_not_kept(server: Server) -> None:
    begun = b"\x94\x00\x01\xa6retain\x93\xa1a\x81\xa4text\xdb" + struct.pack(">I", 900_000)
    clients = [connected(server) for _ in range(4)]
    for client in clients:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the server has closed it
            client.write(begun + b"x" * 800_000)
    ends = [told_and_closed(client) for client in clients]
    assert "OverloadedError" in ends  # the others are closed because they do not go on
    with connected(server) as client:
        assert client.call("ping", None, {}) is None
    assert server.listener._kept == 0


def test_slow_senders_are_cut_off_and_served_while_they_go_on(server: Server) -> None:
    with connected(server) as client:
        for byte in msgpack.packb([0, 7, "ping", [None, {}, {}]]):
            client.write(bytes([byte]))
            time.sleep(0.01)
        assert client.receive() == [1, 7, None, None]
        client.write(b"\x94\x00")
        with pytest.raises((EOFError, ConnectionResetError)):
            client.receive()


def test_a_client_without_a_hello_is_cut_off(server: Server) -> None:
    silent, idle = connected(server, hello=False), connected(server)
    begun = time.monotonic()
    for client, least in [(silent, 0.5), (idle, 2.5)]:
        with client, pytest.raises((EOFError, ConnectionResetError)):
            client.receive()
        assert least < time.monotonic() - begun < 8


def test_a_client_that_sends_all_but_a_hello_is_cut_off(server: Server) -> None:
    began = time.monotonic()
    client = connected(server, hello=False)
    with client, pytest.raises((BrokenPipeError, ConnectionResetError)):
        while time.monotonic() < began + 8:
            client.write(encode([2, "later", []]))
            time.sleep(0.05)
    assert LIMITS.handshake <= time.monotonic() - began < 8


def test_a_half_closed_client_gets_its_answers(server: Server) -> None:
    with connected(server) as client:
        ids = {client.send("list", "a", {}) for _ in range(50)}
        client.socket.shutdown(socket.SHUT_WR)
        assert {client.receive()[1] for _ in ids} == ids
        with pytest.raises(EOFError):
            client.receive()


def test_one_that_reads_nothing_is_not_worked_for(server: Server) -> None:
    greedy, other = connected(server), connected(server)
    request = msgpack.packb([0, 0, "ping", [None, {}, {}]])
    listing = [msgpack.packb([0, number, "list", ["a", {}, {}]]) for number in range(1, 20_000)]
    greedy.socket.setblocking(False)
    sent = refused = 0
    data = request + b"".join(listing)
    while refused < 20 and sent < len(data):
        try:
            sent += greedy.socket.send(data[sent : sent + 65536])
            refused = 0
        except BlockingIOError:
            refused += 1
            time.sleep(0.01)
        assert other.call("ping", None, {}) is None
    assert sent < len(data)
    assert server.service.status().waiting <= 64
    greedy.close()
    until(lambda: server.service.status().running == 0)
    other.close()


def test_clients_that_leave_leave_nothing(server: Server) -> None:
    def files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    def busy() -> tuple[int, int]:
        return len(server.listener), server.service.status().running

    before, threads = files(), set(threading.enumerate())
    for number in range(50):
        client = connected(server, hello=number % 2 == 0)
        if number % 4 == 0:
            client.send("list", "a", {})
        client.close()
    until(lambda: busy() == (0, 0) and files() <= before)
    assert set(threading.enumerate()) <= threads


def test_too_many_clients_are_told(tmp_path: Path) -> None:
    with serving(tmp_path / "memory", limits=ServerLimits(connections=2)) as server:
        kept = [Raw(server.addresses[0]) for _ in range(2)]
        assert told_and_closed(Raw(server.addresses[0], {})) == "OverloadedError"
        assert [client.call("ping", None, {}) for client in kept] == [None, None]
        for client in kept:
            client.close()


def test_silent_clients_make_room_for_one_that_calls(tmp_path: Path) -> None:
    limits = ServerLimits(connections=2)
    with serving(tmp_path / "memory", address="tcp://127.0.0.1:0", limits=limits) as server:
        silent = [Raw(server.addresses[0], {}) for _ in range(5)]
        with Raw(server.addresses[0]) as client:
            silent += [Raw(server.addresses[0], {}) for _ in range(5)]
            assert client.call("ping", None, {}) is None
            assert told_and_closed(silent[0]) == ""
        for each in silent:
            each.close()


def test_a_socket_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with serving(tmp_path / "memory") as server:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with (
            pytest.raises(InputError, match="another server answers"),
            serving(tmp_path / "other", address=server.addresses[0]),
        ):
            pass
    assert not path.exists()
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(path))
    left.close()  # as a killed server leaves it
    with serving(tmp_path / "memory") as server, Raw(server.addresses[0]) as client:
        assert client.call("ping", None, {}) is None
    path.write_text("mine")
    with pytest.raises(InputError, match="is no socket"), serving(tmp_path / "memory"):
        pass
    assert path.read_text() == "mine"


def test_tcp_needs_tokens_beyond_this_machine(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="give a token file"),
        serving(tmp_path / "memory", address="tcp://0.0.0.0:0"),
    ):
        pass
    with (
        serving(tmp_path / "memory", address="tcp://127.0.0.1:0") as server,
        Raw(server.addresses[0]) as client,
    ):
        assert client.call("agents", None, {}) == []


def token_file(path: Path) -> Path:
    file = path / "tokens.toml"
    file.write_text(
        '[[token]]\nname = "reader"\nsecret = "a-secret-for-reading"\nagents = ["a*"]\n'
        '[[token]]\nname = "writer"\nsecret = "a-secret-for-writing"\nscope = "write"\n'
    )
    file.chmod(0o600)
    return file


def test_tokens_say_who_may_do_what(tmp_path: Path) -> None:
    access = Access.from_file(token_file(tmp_path))
    with serving(tmp_path / "memory", access=access, address="tcp://127.0.0.1:0") as server:
        where = server.addresses[0]
        for token in (None, "", "a-secret-for-guessing", 7, b"\xff"):
            with pytest.raises(Told) as told:
                Raw(where, {"protocol": 1, "token": token})
            assert told.value.name == "UnauthorizedError"
        with Raw(where, {"protocol": 1, "token": "a-secret-for-writing"}) as writer:
            vector = [float(value) for value in VECTOR]
            for agent in ("alice", "bob"):
                writer.call("retain", agent, {"text": "Tea.", "embedding": vector})
        with Raw(where, {"protocol": 1, "token": "a-secret-for-reading"}) as reader:
            assert reader.call("agents", None, {}) == ["alice"]
            assert len(reader.call("list", "alice", {})) == 1
            for method, agent, arguments in [
                ("list", "bob", {}),
                ("forget", "alice", {"id": "x"}),
                ("sessions.recall", "alice", {"query": "x", "document_id": "d"}),
            ]:
                with pytest.raises(Told) as told:
                    reader.call(method, agent, arguments)
                assert told.value.name == "ForbiddenError"


def test_another_version_is_told(server: Server) -> None:
    with pytest.raises(Told, match="speaks protocol 1"):
        Raw(server.addresses[0], {"protocol": 2})
    client = connected(server, hello=False)
    client.send("list", "a", {})
    assert told_and_closed(client) == "ProtocolError"


def test_tls(tmp_path: Path) -> None:
    certificate, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)],
        capture_output=True, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("needs openssl to make a certificate")
    access = Access.from_file(token_file(tmp_path))
    with serving(
        tmp_path / "memory",
        access=access,
        address="tls://localhost:0",
        certificate=str(certificate),
        key=str(key),
    ) as server:
        port = int(server.addresses[0].rpartition(":")[2])
        context = ssl.create_default_context(cafile=str(certificate))
        plain = socket.create_connection(("localhost", port))
        client: Any = Raw.__new__(Raw)
        client.socket = context.wrap_socket(plain, server_hostname="localhost")
        client.socket.settimeout(20)
        client._unpacker, client._id = msgpack.Unpacker(), 0
        with client:
            client.call("hello", None, {"protocol": 1, "token": "a-secret-for-writing"})
            ids = {client.send("agents", None, {}) for _ in range(500)}
            assert {client.receive()[1] for _ in ids} == ids
