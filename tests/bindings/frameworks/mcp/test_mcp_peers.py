"""Other people's tools judge the server: `make test-mcp` installs and runs them."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import recollex
from tests.bindings.frameworks.mcp.small_servers import mcp
from tests.bindings.frameworks.mcp.test_mcp_serving import CODE, http_server, stdio, words

pytestmark = pytest.mark.slow

WITH_FIXTURES = CODE.replace("recollex.cli", "tests.bindings.frameworks.mcp.conformance_fixtures")
PAGE = Path(__file__).parents[4] / "docs" / "mcp.md"
COMMAND = "npx @modelcontextprotocol/conformance server --url http://127.0.0.1:7078/mcp "
NEXT = os.environ.get("CONFORMANCE_NEXT")
CALLS: dict[str, dict[str, Any]] = {
    "retain": {"text": "Ann has a boat.", "id": "boat", "tags": ["home"]},
    "recall": {"query": "Who has a boat?", "limit": 3},
    "get": {"id": "boat"},
    "correct": {"id": "boat", "text": "Ann has two boats.", "why": "She bought one."},
    "history": {"id": "boat"},
    "facts": {"subject": "Ann"},
    "timeline": {"about": "boats"},
    "think": {"question": "Who has a boat?"},
    "semantic_retrieve": {"query": "boats"},
    "lexical_retrieve": {"query": "boats", "start_time": "2024"},
    "find_gist_contexts": {"gist_id": "boat"},
    "find_entity_contexts": {"predicate": "has", "aggregation": "count"},
    "forget": {"id": "boat", "why": "She asked for it."},
}


def needs(program: str) -> pytest.MarkDecorator:
    missing = shutil.which(program) is None
    return pytest.mark.skipif(missing, reason=f"needs {program}: make test-mcp")


def conformance(address: str, *options: str, program: str = "conformance") -> tuple[int, str]:
    """Return the exit status and the summary of the suite."""
    command = [program, "server", "--url", address, *options]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    said = re.sub(r"\x1b\[\d*m", "", ran.stdout)
    return ran.returncode, said[said.find("=== SUMMARY") :] + ran.stderr


@needs("conformance")
def test_every_scenario_passes_on_a_server_with_the_fixtures_of_the_suite(tmp_path: Path) -> None:
    """`server-sse-polling` cannot pass: it names a revision that knows no priming events."""
    path = str(tmp_path / "memory")
    with http_server(path, "--http", "127.0.0.1:0", code=WITH_FIXTURES) as address:
        code, said = conformance(address, "--suite", "all")
    passed = re.findall(r"^✓ (\S+): [1-9]\d* passed, 0 failed", said, re.M)
    assert code == 0 and len(passed) == 31, said
    assert "✓ server-sse-polling: 0 passed, 0 failed" in said


@pytest.mark.skipif(NEXT is None, reason="needs CONFORMANCE_NEXT: make test-mcp")
def test_every_scenario_of_the_stateless_revision_passes(tmp_path: Path) -> None:
    options = ["--suite", "all", "--spec-version", "2026-07-28"]
    with http_server(str(tmp_path / "m"), "--http", "127.0.0.1:0", code=WITH_FIXTURES) as address:
        code, said = conformance(address, *options, program=NEXT)
    passed = re.findall(r"^✓ (\S+): [1-9]\d* passed, 0 failed", said, re.M)
    assert code == 0 and len(passed) == 40, said


@needs("conformance")
def test_the_command_of_the_page_passes_on_the_server_itself(tmp_path: Path) -> None:
    (line,) = (line for line in PAGE.read_text().splitlines() if line.startswith(COMMAND))
    options = line.removeprefix(COMMAND).split()
    with http_server(str(tmp_path / "memory"), "--http", "127.0.0.1:0") as address:
        code, said = conformance(address, *options)
    assert code == 0 and "Baseline check passed: all failures are expected" in said, said


@needs("mcp-inspector")
def test_the_inspector_lists_and_calls_each_tool(tmp_path: Path) -> None:
    path = str(tmp_path / "memory")
    embedder = ["--embedder", "all-MiniLM-L6-v2"]

    def inspect(*arguments: str) -> Any:
        server = [sys.executable, "-W", "ignore", "-c", CODE, "mcp", path, *embedder]
        command = ["mcp-inspector", "--cli", *server, *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    listed = {tool["name"] for tool in inspect("--method", "tools/list")["tools"]}
    assert listed == set(CALLS)
    for tool, arguments in CALLS.items():
        given = [
            f"{name}={value if isinstance(value, str) else json.dumps(value)}"
            for name, value in arguments.items()
        ]
        result = inspect("--method", "tools/call", "--tool-name", tool, "--tool-arg", *given)
        assert not result.get("isError"), (tool, result)
        assert result["content"][0]["text"] and result["structuredContent"]


def test_the_first_answer_comes_soon_after_the_sdk_is_imported(tmp_path: Path) -> None:
    """From the start of the process to the list of tools, in turns with the import of MCP's SDK.

    The least of five of each: another program on the machine slows both.
    """
    with recollex.open(tmp_path / "memory") as store:
        store.agent("default").retain("Ann has a boat.")

    async def run() -> tuple[float, float]:
        started = time.perf_counter()
        async with mcp.Client(stdio.stdio_client(words(str(tmp_path / "memory")))) as client:
            await client.list_tools()
            listed = time.perf_counter() - started
            result = await client.call_tool("recall", {"query": "Who has a boat?"})
            assert not result.is_error
            return listed, time.perf_counter() - started

    def imported() -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import mcp.server"], check=True)
        return time.perf_counter() - started

    times = [(*asyncio.run(run()), imported()) for _ in range(5)]
    listed, recalled, alone = map(min, zip(*times, strict=True))
    print(f"import {alone:.2f}, list {listed:.2f}, recall {recalled:.2f} s")
    assert listed < 1.6 * alone
