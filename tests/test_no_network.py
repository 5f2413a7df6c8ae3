"""Nothing calls out, and nothing is left in the user's folders.

`conftest.py` guards every test, but sees only the sockets of Python. What native libraries do is
seen from outside: in folders that were empty, and by strace, where that may trace.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import CALLED, CalledOutError


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "example.org"])
def test_a_host_elsewhere_cannot_be_reached(host):
    with pytest.raises(CalledOutError, match="called out"):
        socket.create_connection((host, 80), timeout=0.1)
    with socket.socket(type=socket.SOCK_DGRAM) as datagrams, pytest.raises(CalledOutError):
        datagrams.sendto(b"tea", ("192.0.2.1", 53))
    assert CALLED
    CALLED.clear()


def test_this_machine_can_be_reached(tmp_path):
    for family, address in ((socket.AF_INET, ("localhost", 0)), (socket.AF_UNIX, None)):
        with socket.socket(family) as server, socket.socket(family) as client:
            server.bind(address or str(tmp_path / "s"))
            server.listen()
            client.connect(server.getsockname())
    assert not CALLED


LIBRARY = """
import recollex
with recollex.open("memory") as store:
    agent = store.agent("ann")
    agent.retain("Ann moved to Oslo in May.")
    assert len(agent.recall("Where is Ann?")) == 1
    with recollex.open("memory", read_only=True) as reader:
        assert len(reader.agent("ann").recall("Where is Ann?")) == 1
"""
SERVER = """
import os, subprocess, sys, recollex
run = "import sys; from recollex.cli import main; sys.exit(main())"
command = [sys.executable, "-c", run, "serve", "--store", "memory", "--socket", "socket"]
server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
server.stdout.readline()
with recollex.connect("unix://" + os.path.abspath("socket")) as client:
    agent = client.agent("ann")
    agent.retain("Ann moved to Oslo in May.")
    assert len(agent.recall("Where is Ann?")) == 1
server.terminate()
server.communicate()
"""
MCP = """
import json, subprocess, sys
version = "2025-06-18"
info = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}

def called(id, name, **arguments):
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}

messages = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    called(2, "retain", text="Ann moved to Oslo in May."),
    called(3, "recall", query="Where is Ann?"),
]
run = "import sys; from recollex.cli import main; sys.exit(main())"
command = [sys.executable, "-c", run, "mcp", "memory"]
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for message in messages:
    server.stdin.write(json.dumps(message) + "\\n")
    server.stdin.flush()
    answer = server.stdout.readline() if "id" in message else ""
server.communicate()
assert "Oslo" in answer, answer
"""
WARMUP = "from recollex.cli.warmup import warm; warm(None, only_default=True)"
DEMO = "from recollex.cli import main; main(['demo'])"
DOORS = {"library": LIBRARY, "mcp": MCP}
SLOW = {"server": SERVER, "warmup": WARMUP, "demo": DEMO}
KEPT = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH")
USERS = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
CALLS = "connect,sendto,sendmsg,sendmmsg,openat,open,creat,mkdir,mkdirat"
ELSEWHERE = r'sin6?_port=.*inet_(?:addr|pton)\([^)]*"(?!127\.|::1"|0\.0\.0\.0")'


@cache
def tracer() -> list[str]:
    """Return the command that traces another; an empty one where that is not possible."""
    command = ["strace", "-f", "-qq", "--seccomp-bpf", "-e", f"trace={CALLS}", "-o"]
    if shutil.which("strace") is None:
        return []
    tried = subprocess.run([*command, "/dev/null", "true"], capture_output=True, check=False)
    return command if tried.returncode == 0 else []


@pytest.mark.parametrize(
    "script",
    [*DOORS.values(), *(pytest.param(each, marks=pytest.mark.slow) for each in SLOW.values())],
    ids=[*DOORS, *SLOW],
)
def test_no_door_calls_out_or_writes_beside_the_store(tmp_path, script):
    work, users = tmp_path / "work", tmp_path / "users"
    for folder in (work, users, tmp_path / "tmp"):
        folder.mkdir()
    cache = os.environ.get("RECOLLEX_CACHE") or str(Path.home() / ".cache" / "recollex")
    asked = {"RECOLLEX_CACHE": cache, "TMPDIR": str(tmp_path / "tmp")}
    asked["PYTHONDONTWRITEBYTECODE"] = "1"
    asked |= {name: str(users / name) for name in USERS}
    # No more of the environment: onnxruntime is silent where CI or the like is set.
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    trace = tmp_path / "trace"
    traced = [*tracer(), str(trace)] if tracer() else []
    done = subprocess.run(
        [*traced, sys.executable, "-c", script],
        cwd=work,
        env=environment | asked,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(users.rglob("*")) == []
    if not traced:
        return  # the folders are empty, and no more can be seen
    seen = trace.read_text().splitlines()
    assert seen
    assert [line for line in seen if re.search(ELSEWHERE, line)] == []
    assert [line for line in seen if "/etc/resolv.conf" in line] == []
    made = [line for line in seen if "O_CREAT" in line or "mkdir" in line or "creat(" in line]
    paths = [re.findall(r'"(/[^"]*)"', line) for line in made]
    ours = (str(tmp_path), cache, "/dev/", "/proc/")
    assert [path for found in paths for path in found if not path.startswith(ours)] == []
