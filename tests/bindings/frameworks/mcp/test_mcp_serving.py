"""`recollex mcp` as a program: over stdio with the real client, and over HTTP with tokens."""

import asyncio
import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

import recollex
from recollex.cli import main
from tests.bindings.command_line import Shell
from tests.bindings.frameworks.mcp.small_servers import called, mcp
from tests.bindings.serving import serving
from tests.bindings.word_vectors import WordVectors
from tests.imported_later import imported_later

stdio = imported_later("mcp.client.stdio", reason="mcp is not installed")
streaming = imported_later("mcp.client.streamable_http", reason="as above")
requesting = imported_later("mcp.shared._httpx_utils", reason="as above")

CODE = "import sys; from recollex.cli import main; sys.exit(main(sys.argv[1:]))"
TOKENS = """
[[token]]
name = "reader"
secret = "reader-reader-reader"
agents = ["default"]

[[token]]
name = "other"
secret = "other-other-other-other"
agents = ["other"]
scope = "write"
"""
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
HEADERS = {"Accept": "application/json, text/event-stream"}


def words(*arguments: str) -> Any:
    command = ["-W", "ignore", "-c", CODE, "mcp", *arguments]
    return mcp.StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    with recollex.open(tmp_path / "memory", embedder=recollex.GivenVectors(8)) as store:
        store.agent("default").retain("Ann has a boat.", id="boat", embedding=[1.0] * 8)
    return tmp_path / "memory"


def test_the_real_client_talks_over_stdio(memory: Path) -> None:
    async def run(mode: str) -> None:
        async with mcp.Client(stdio.stdio_client(words(str(memory))), mode=mode) as client:
            assert client.server_info.name == "recollex"
            assert len((await client.list_tools()).tools) == 13
            got = await called(client, "get", id="boat")
            assert got["memory"]["text"] == "Ann has a boat."
            assert "Ann" in (await called(client, "recall", query="boat"))["text"]
            assert "vector" in (await called(client, "retain", text="Ann rows."))["error"]
            assert "'x'" in (await called(client, "forget", id="x"))["error"]
            await called(client, "forget", id="boat") if mode == "legacy" else None

    for mode in ("auto", "legacy"):
        asyncio.run(run(mode))
    with recollex.open(memory, embedder=recollex.GivenVectors(8)) as store:
        assert store.agent("default").count() == 0


def test_a_client_of_a_server_reads_and_writes(tmp_path: Path) -> None:
    async def run(address: str) -> None:
        async with mcp.Client(stdio.stdio_client(words(address, "--agent", "ann"))) as client:
            await called(client, "retain", text="Ann has a boat.", id="boat")
            assert "boat" in (await called(client, "recall", query="boat"))["text"]
        async with mcp.Client(stdio.stdio_client(words(address, "--read-only"))) as client:
            assert "retain" not in {tool.name for tool in (await client.list_tools()).tools}

    with serving(recollex.open(tmp_path / "memory", embedder=WordVectors())) as server:
        asyncio.run(run(server.addresses[0]))


def test_the_first_answer_waits_for_no_engine() -> None:
    code = (
        "import sys; import recollex.cli.mcp, recollex.frameworks.mcp.server; "
        "print(sorted({'numpy', 'numba', 'onnxruntime'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


HEAVY = """
import atexit, sys
import recollex.frameworks.mcp.agents
from recollex.cli import main

recollex.frameworks.mcp.agents.HEAD_START = 60
heavy = {"numpy", "numba", "onnxruntime", "tokenizers", "tiktoken"}
atexit.register(lambda: open(sys.argv[1], "w").write(" ".join(sorted(heavy & set(sys.modules)))))
sys.exit(main(sys.argv[2:]))
"""


def test_the_engine_is_imported_for_the_first_call_that_needs_it(
    memory: Path, tmp_path: Path
) -> None:
    async def run(call: bool) -> str:
        command = ["-W", "ignore", "-c", HEAVY, str(tmp_path / "heavy"), "mcp", str(memory)]
        server = mcp.StdioServerParameters(
            command=sys.executable, args=command, env=dict(os.environ)
        )
        async with mcp.Client(stdio.stdio_client(server)) as client:
            assert len((await client.list_tools()).tools) == 13
            assert (await client.list_prompts()).prompts and (
                await client.list_resources()
            ).resources
            if call:
                assert (await called(client, "get", id="boat"))["memory"]["id"] == "boat"
        return (tmp_path / "heavy").read_text()

    assert asyncio.run(run(call=False)) == ""
    assert "numba" in asyncio.run(run(call=True))


@contextmanager
def http_server(*arguments: str, code: str = CODE) -> Iterator[str]:
    """Give the address of a server."""
    command = [sys.executable, "-W", "ignore", "-c", code, "mcp", *arguments]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        line = server.stdout.readline()
        assert line.startswith("listening on http://127.0.0.1:")
        yield line.split()[-1]
        server.terminate()
        assert server.wait(20) == 0
    finally:
        server.kill()
        server.communicate()


def test_http_asks_for_a_token(memory: Path, tmp_path: Path) -> None:
    file = tmp_path / "tokens.toml"
    file.write_text(TOKENS)
    file.chmod(0o600)

    async def run(address: str) -> None:
        refused = httpx.post(address, json=LIST, headers=HEADERS)
        assert refused.status_code == 401 and refused.headers["www-authenticate"] == "Bearer"
        for secret, wrong in (("reader-reader-reader", None), ("other-other-other-other", "reach")):
            bearer = {"Authorization": f"Bearer {secret}"}
            for mode in ("auto", "legacy"):
                async with (
                    requesting.create_mcp_http_client(headers=bearer) as http,
                    mcp.Client(
                        streaming.streamable_http_client(address, http_client=http), mode=mode
                    ) as client,
                ):
                    got = await called(client, "get", id="boat")
                    assert (wrong in got["error"]) if wrong else got["memory"]["id"] == "boat"
                    said = (await called(client, "forget", id="boat"))["error"]
                    assert (wrong or "may read, and not write") in said

    with http_server(str(memory), "--http", "127.0.0.1:0", "--tokens", str(file)) as address:
        asyncio.run(run(address))


def test_http_refuses_another_host_and_origin(memory: Path) -> None:
    with http_server(str(memory), "--http", "127.0.0.1:0") as address:
        assert httpx.post(address, json=LIST, headers=HEADERS).status_code < 500
        for other, status in (
            ({"Host": "evil.example"}, 421),
            ({"Origin": "http://evil.example"}, 403),
            ({"Origin": "http://localhost:1"}, 403),
            ({"Sec-Fetch-Site": "cross-site"}, 403),
        ):
            answer = httpx.post(address, json=LIST, headers=HEADERS | other)
            assert answer.status_code == status and "without tokens" in answer.text


def test_whitespace_around_a_header_is_no_part_of_it(memory: Path) -> None:
    version = "2026-07-28"
    about = {"protocolVersion": version, "clientCapabilities": {}}
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in about.items()}
    call = {"name": "get", "arguments": {"id": "boat"}, "_meta": meta}
    body = json.dumps(LIST | {"method": "tools/call", "params": call})
    headers = HEADERS | {"MCP-Protocol-Version": version, "Mcp-Method": "tools/call"}
    headers["Content-Type"] = "application/json"
    with http_server(str(memory), "--http", "127.0.0.1:0") as address:
        for name, status in (("get", 200), (" get \t ", 200), ("g et", 400)):
            connection = http.client.HTTPConnection(address.split("/")[2], timeout=30)
            connection.request("POST", "/mcp", body, headers | {"Mcp-Name": name})
            answer = connection.getresponse()
            said = answer.read().decode()
            connection.close()
            assert answer.status == status and ("Ann has a boat." in said) is (status == 200), said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--http", "0.0.0.0:0"], "give a token file"),
        (["--http", "7078"], "--http must be HOST:PORT"),
        (["--http", "127.0.0.1:99999"], "--http must be HOST:PORT"),
        (["--tokens", "t.toml"], "--tokens is for HTTP"),
        (["--agent", "a", "--agent-by-client"], "give one of them"),
        (["--compat", "referense"], "did you mean reference?"),
        (["--readonly"], "did you mean --read-only?"),
    ],
)
def test_wrong_options_are_one_line(shell: Shell, arguments: list[str], said: str) -> None:
    code, out, err = shell("mcp", "memory", *arguments)
    assert (code, out) == (2, "") and said in err and err.count("\n") == 1


def test_a_folder_of_other_files_is_refused(shell: Shell) -> None:
    Path("other").mkdir()
    Path("other/file").touch()
    code, _, err = shell("mcp", "other")
    assert code == 2 and "holds other files" in err


def test_a_missing_package_is_named(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollex.cli.mcp.find_spec", lambda name: None)
    assert main(["mcp", "memory"]) == 2
    code, _, err = shell("mcp", "memory")
    assert code == 2 and "pip install 'recollex[mcp]'" in err
