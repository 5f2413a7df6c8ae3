"""The means of an attacker: a server in another process, raw sockets, and a client to harm."""

import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack

ROOT = Path(__file__).parents[4]


class Target:
    """The server that is attacked."""

    def __init__(
        self, process: "subprocess.Popen[str]", told: dict[str, Any], folder: Path
    ) -> None:
        self.process = process
        self.socket: str = told["socket"]
        self.http: tuple[str, int] = (told["http"][0], told["http"][1])
        self.pid: int = told["pid"]
        self.folder = folder

    def connect(self, http: bool = False, timeout: float = 10.0) -> socket.socket:
        made = socket.socket(socket.AF_INET if http else socket.AF_UNIX)
        made.settimeout(timeout)
        for _ in range(1000):
            try:
                made.connect(self.http if http else self.socket)
            except BlockingIOError:  # more than the system queues
                time.sleep(0.002)
            except BaseException:
                made.close()
                raise
            else:
                return made
        raise TimeoutError("the server takes no connections")

    def memory(self) -> int:
        """Return the resident bytes of the server and of its reader processes."""
        found = Path(f"/proc/{self.pid}/task").glob("*/children")
        pids = [str(self.pid), *(pid for each in found for pid in each.read_text().split())]
        pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
        return pages * os.sysconf("SC_PAGE_SIZE")

    def files(self) -> int:
        """Return how many files and sockets the server has open."""
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))

    def bugs(self) -> list[str]:
        """Return the unexpected errors in the server's log."""
        lines = (self.folder / "log.jsonl").read_text().splitlines()
        return [line for line in lines if '"event":"bug"' in line]

    def check(self) -> None:
        assert self.process.poll() is None, f"the server ended with {self.process.returncode}"


@contextlib.contextmanager
def target(folder: Path) -> Iterator[Target]:
    roots = (ROOT / root for root in ("kernels", "engine", "bindings", ""))
    environment = os.environ | {"PYTHONPATH": ":".join(map(str, roots))}
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("hostile_server.py")), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout and process.stdin
        line = process.stdout.readline()
        assert line, "the server did not start"
        try:
            yield Target(process, json.loads(line), folder)
        finally:
            process.stdin.close()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
    assert process.returncode == 0


class Victim:
    """A well-behaved client, which gets right answers in time whatever others do."""

    def __init__(self, of: Target) -> None:
        self._socket = of.connect()
        self._unpacker = msgpack.Unpacker(ext_hook=lambda code, data: (code, bytes(data)))
        self._id = 0
        self.call("hello", None, {"protocol": 1})

    def call(self, method: str, agent: str | None, arguments: dict[str, Any]) -> Any:
        self._id += 1
        message = [0, self._id, method, [agent, arguments, {}]]
        self._socket.sendall(msgpack.packb(message))
        while True:
            for answer in self._unpacker:
                assert answer[:2] == [1, self._id], answer
                assert answer[2] is None, answer[2]
                return answer[3]
            data = self._socket.recv(65_536)
            assert data, "the server hung up on a client that behaves"
            self._unpacker.feed(data)

    def recall(self) -> float:
        """Recall, check the answer, and return how long it took."""
        began = time.perf_counter()
        code, packed = self.call("recall", "victim", {"query": "a ladder in the attic"})
        spent = time.perf_counter() - began
        assert code == 5 and b"Note 5: the attic has a ladder." in packed
        return spent

    def times(self, count: int = 200) -> list[float]:
        return sorted(self.recall() for _ in range(count))

    def close(self) -> None:
        self._socket.close()


def median(times: list[float]) -> float:
    return statistics.median(times)


def drain(made: socket.socket, seconds: float) -> bytes:
    """Return what arrives until the other end hangs up, which it must do in time."""
    end = time.monotonic() + seconds
    parts = []
    while True:
        left = end - time.monotonic()
        assert left > 0, "the server neither answers nor hangs up"
        made.settimeout(left)
        try:
            data = made.recv(65_536)
        except ConnectionError:
            return b"".join(parts)
        except TimeoutError:
            continue
        if not data:
            return b"".join(parts)
        parts.append(data)


HELLO: bytes = msgpack.packb([0, 0, "hello", [None, {"protocol": 1}, {}]])
