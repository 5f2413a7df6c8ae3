"""What frameworks ask of a memory takes less than 60 lines each on the public API."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("adapter", ["mcp_server"])
def test_each_is_written_in_less_than_60_lines(adapter):
    assert len((Path(__file__).parent / f"{adapter}.py").read_text().splitlines()) < 60


def test_an_mcp_server_answers_over_stdio(tmp_path):
    pytest.importorskip("mcp", reason="mcp is not installed")
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.bindings.small_adapters.mcp_server", str(tmp_path / "s")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None and server.stdout is not None

    def ask(number, method, params):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        return json.loads(server.stdout.readline())["result"]

    info = {"name": "test", "version": "1"}
    ask(1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info})
    server.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    tools = {tool["name"] for tool in ask(2, "tools/list", {})["tools"]}
    assert tools == {"retain", "recall", "correct", "forget"}
    ask(3, "tools/call", {"name": "retain", "arguments": {"text": "Ann has a boat."}})
    found = ask(4, "tools/call", {"name": "recall", "arguments": {"query": "Who has a boat?"}})
    assert found["content"][0]["text"].endswith("Ann has a boat.")
    wrong = ask(5, "tools/call", {"name": "forget", "arguments": {"id": "no", "why": "x"}})
    assert "error: " in wrong["content"][0]["text"]
    server.communicate(timeout=20)
    assert server.returncode == 0
