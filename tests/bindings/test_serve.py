"""`recollex serve` as a process: it prints its address, ends on a signal, and loses no write."""

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import recollex
from recollex.cli import main
from recollex.remote.wire.codec import encode
from tests.bindings.serving import DIMENSION, VECTOR, Raw, Told, given

VECTORS = f"given:{DIMENSION}"


@contextmanager
def process(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a server, and give it with the address that it prints."""
    code = "import sys; from recollex.cli import main; sys.exit(main(sys.argv[1:]))"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    server = subprocess.Popen(
        [sys.executable, "-c", code, "serve", "--embedder", VECTORS, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    with server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            assert line.startswith("listening on "), server.stderr and server.stderr.read()
            yield server, line.removeprefix("listening on ").strip()
        finally:
            server.kill()


def write_until_it_ends(address: str, agent: str, acknowledged: list[str]) -> None:
    """Retain again and again, and record the answers; pipelined, as an eager client would."""
    try:
        with Raw(address) as client:
            for number in range(100_000):
                if number >= 8:
                    message = client.receive()
                    while message[0] != 1:
                        message = client.receive()
                    if message[2] is None:
                        acknowledged.append(message[3])
                arguments = {"text": f"Number {number}.", "id": f"{number}", "embedding": VECTOR}
                client.write(encode([0, number, "retain", [agent, arguments, {}]]))
    except (EOFError, OSError):
        return
    finally:
        acknowledged.append("end")


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_that_was_acknowledged_is_lost(tmp_path: Path, by: signal.Signals) -> None:
    acknowledged: dict[str, list[str]] = {f"agent {n}": [] for n in range(4)}
    with process("--store", str(tmp_path / "memory"), "--durability", "interval") as (
        server,
        address,
    ):
        threads = [
            threading.Thread(target=write_until_it_ends, args=(address, agent, ids))
            for agent, ids in acknowledged.items()
        ]
        for thread in threads:
            thread.start()
        while min(map(len, acknowledged.values())) < 50:
            time.sleep(0.01)
        server.send_signal(by)
        for thread in threads:
            thread.join(30)
            assert not thread.is_alive()
        code = server.wait(30)
    assert code == (0 if by == signal.SIGTERM else -signal.SIGKILL)
    with given(tmp_path / "memory") as store:
        for agent, ids in acknowledged.items():
            assert ids.pop() == "end" and len(ids) >= 50
            assert {memory.id for memory in store.agent(agent).list(limit=100_000)} >= set(ids)
    assert (tmp_path / "memory" / "socket").exists() == (by == signal.SIGKILL)


def test_it_listens_where_it_is_told(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with process(str(tmp_path / "memory"), "--listen", "127.0.0.1:0") as (_, address):
        assert re.fullmatch(r"tcp://127\.0\.0\.1:\d+", address)
        with Raw(address) as client:
            assert client.call("agents", None, {}) == []
    with process("--store", str(tmp_path / "memory"), "--socket", str(path)) as (_, address):
        assert address == f"unix://{path}"
        with Raw(address) as client, pytest.raises(Told, match="has no memory"):
            client.call("get", "a", {"id": "x"})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--listen", "0.0.0.0:0"], "give a token file"),
        (["--listen", "0.0.0.0:0", "--tokens", "TOKENS"], "give --certificate and --key, or"),
        (["--http", "0.0.0.0:0", "--tokens", "TOKENS"], "give --certificate and --key, or"),
        (
            ["--listen", "unix:///s"],
            "--listen must be HOST:PORT, such as 127.0.0.1:7077, got 'unix:///s'; --socket PATH is",
        ),
        (["--tokens", "/nowhere"], "token file /nowhere cannot be read"),
        (["--certificate", "x.pem"], "is for TCP"),
        (["--embedder", "given:x"], "given:N says how long"),
        (["--socket", "/nowhere/socket"], "cannot be made"),
    ],
)
def test_what_cannot_be_served_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text('[[token]]\nname = "a"\nsecret = "0123456789abcdef"\n')
    tokens.chmod(0o600)
    arguments = [str(tokens) if each == "TOKENS" else each for each in arguments]
    given = [] if "--embedder" in arguments else ["--embedder", VECTORS]
    code = main(["serve", "--store", str(tmp_path / "memory"), *given, *arguments])
    said = capsys.readouterr().err
    assert code == 2 and words in said and said.count("\n") == 1


@pytest.mark.parametrize("option", ["--listen", "--http"])
@pytest.mark.parametrize("address", ["nowhere", "localhost:", "localhost:x", "localhost:70000"])
def test_a_mistyped_address_is_told_before_anything_is_made_or_compiled(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    option: str,
    address: str,
) -> None:
    monkeypatch.setattr("recollex.cli.serve.Store", lambda *_: pytest.fail("a store was opened"))
    code = main(["serve", "--store", str(tmp_path / "memory"), option, address])
    said = capsys.readouterr().err
    assert code == 2 and f"{option} must be HOST:PORT" in said and repr(address) in said


def test_a_token_file_that_others_may_read_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = tmp_path / "tokens.toml"
    for text, mode, words in [
        ('[[token]]\nname = "a"\nsecret = "0123456789abcdef"\n', 0o644, "chmod 600"),
        ('[[token]]\nname = "a"\nsecret = "short"\n', 0o600, "at least 16"),
        ('[[token]]\nsecret = "0123456789abcdef"\n', 0o600, "needs a name"),
        ('[[token]]\nname = "a"\nsha256 = "00"\n', 0o600, "64 hex digits"),
        ('[[token]]\nname = "a"\n', 0o600, "either a secret or its sha256"),
        ('[[token]]\nname = "a"\nsecret = "0123456789abcdef"\nscope = "all"\n', 0o600, "scope"),
        ("", 0o600, "must hold [[token]]"),
    ]:
        tokens.write_text(text)
        tokens.chmod(mode)
        assert main(["serve", "--store", str(tmp_path / "m"), "--embedder", VECTORS,
                     "--tokens", str(tokens)]) == 2  # fmt: skip
        assert words in capsys.readouterr().err


def test_a_second_server_of_a_store_is_told_that_the_agent_is_open(tmp_path: Path) -> None:
    with given(tmp_path / "memory") as store:
        store.agent("a").retain("Tea.", embedding=VECTOR)
        with (
            process("--store", str(tmp_path / "memory")) as (_, address),
            Raw(address) as client,
            pytest.raises(Told) as told,
        ):
            client.call("list", "a", {})
    assert told.value.name == "LockedError"


WARMING = """
import sys, time
from recollex.cli import main, serve, warmup
from tests.bindings.word_vectors import WordVectors

def warm(embedder, stopped):
    while not stopped():
        time.sleep(0.01)
    raise warmup.Stopped

class Model:  # not of given vectors, which need no warming up
    def __getattr__(self, name):
        return getattr(words, name)

words = WordVectors()
serve._embedder = lambda given: Model()
serve.warm = {warm}
sys.exit(main(["serve", "--log-level", "error", *sys.argv[1:]]))
"""


@contextmanager
def starting(code: str, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """Run a server in a session of its own, where a Ctrl-C is for all of its processes."""
    paths = [*(path for path in sys.path if path), str(Path(__file__).parents[2])]
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        start_new_session=True,
    ) as server:
        deadline = threading.Timer(60, server.kill)  # ends the reading of a test that waits
        deadline.start()
        try:
            yield server
        finally:
            deadline.cancel()
            server.kill()


def test_it_listens_and_answers_while_it_warms_up_and_a_ctrl_c_then_is_quiet(
    tmp_path: Path,
) -> None:
    memory = str(tmp_path / "memory")
    code = WARMING.format(warm="warm")
    with starting(code, "--store", memory, "--workers", "0") as server:
        assert server.stdout and server.stderr
        address = server.stdout.readline().removeprefix("listening on ").strip()
        warming = server.stderr.readline()
        assert warming == "recollex: warming up: until it is ready, calls take longer\n"
        with Raw(address) as client:
            assert client.call("agents", None, {}) == []
        os.killpg(server.pid, signal.SIGINT)
        rest = server.stderr.read()
        assert server.wait(30) == 0
    assert rest == "recollex: stopping: finishing what was begun\n"


def test_it_says_when_it_is_ready_and_fails_where_it_cannot_warm_up(tmp_path: Path) -> None:
    memory = str(tmp_path / "memory")
    code = WARMING.format(warm="lambda embedder, stopped: None")
    with starting(code, "--store", memory, "--workers", "0") as server:
        assert server.stdout and server.stderr
        assert server.stdout.readline().startswith("listening on ")
        said = [server.stderr.readline() for _ in range(2)]
        assert said[1] == "recollex: ready\n" and "warming up" in said[0]
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
    code = WARMING.format(warm="lambda *given: (_ for _ in ()).throw(main_error)").replace(
        "import sys, time",
        "import sys, time, recollex.errors\nmain_error = recollex.errors.ModelError('no model')",
    )
    with starting(code, "--store", memory, "--workers", "0") as server:
        assert server.stderr and server.stderr.read().endswith("\nrecollex: no model\n")
        assert server.wait(30) == 2


def test_it_serves_agents_with_the_vectors_that_they_have(tmp_path: Path) -> None:
    memory = str(tmp_path / "memory")
    with recollex.open(memory, embedder=recollex.GivenVectors(DIMENSION)) as store:
        store.agent("a").retain("Ann lives in Oslo.", embedding=VECTOR)
    code = "import sys; from recollex.cli import main; sys.exit(main(sys.argv[1:]))"
    with starting(code, "serve", "--store", memory, "--workers", "0") as server:
        assert server.stdout
        address = server.stdout.readline().removeprefix("listening on ").strip()
        with Raw(address) as client:
            assert client.call("count", "a", {}) == 1
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0


def test_a_ctrl_c_while_reader_processes_start_is_quiet(tmp_path: Path) -> None:
    code = "import sys; from recollex.cli import main; sys.exit(main(sys.argv[1:]))"
    given = ["--embedder", VECTORS, "--workers", "2", "--log-level", "error"]
    with starting(code, "serve", "--store", str(tmp_path / "memory"), *given) as server:
        assert server.stderr
        while server.stderr.readline() != "recollex: ready\n":
            assert server.poll() is None
        time.sleep(0.3)  # they import
        os.killpg(server.pid, signal.SIGINT)
        assert server.stderr.read() == "recollex: stopping: finishing what was begun\n"
        assert server.wait(30) == 0


def test_ten_thousand_idle_connections_slow_no_client(tmp_path: Path) -> None:

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(10_000, limit[1] // 3 - 200)
    if count < 1_000:
        pytest.skip("needs more open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit[1], limit[1]))
    try:
        path = tmp_path / "s"
        with process("--store", str(tmp_path / "memory"), "--socket", str(path)) as (_, address):
            idle = []
            for _ in range(count):
                one = socket.socket(socket.AF_UNIX)
                one.connect(str(path))
                idle.append(one)
            with Raw(address) as client:
                for _ in range(100):
                    assert client.call("ping", None, {}) is None
            for one in idle:
                one.close()
            with Raw(address) as client:
                assert client.call("agents", None, {}) == []
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)
