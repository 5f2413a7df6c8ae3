"""Other people's tools judge the server: `make test-mcp` installs and runs them.

The scenarios of the conformance suite that are not here call tools, resources and prompts of the
suite's own test server (`test_image_content`, `test://static-text`), or features that this server
does not declare: logging, subscriptions to a resource, sampling and elicitation.
"""

import asyncio
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="mcp is not installed")

from mcp import Client
from mcp.client.stdio import stdio_client

import recollex
from tests.bindings.mcp.test_mcp_serving import CODE, http_server, words

pytestmark = pytest.mark.slow

APPLY = {
    *("server-initialize", "ping", "completion-complete", "tools-list", "resources-list"),
    *("prompts-list", "server-sse-multiple-streams", "dns-rebinding-protection"),
}
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


@needs("conformance")
def test_the_scenarios_that_apply_pass(tmp_path: Path) -> None:
    with http_server(str(tmp_path / "memory"), "--http", "127.0.0.1:0") as address:
        ran = subprocess.run(
            ["conformance", "server", "--url", address],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    said = re.sub(r"\x1b\[\d*m", "", ran.stdout)
    passed = set(re.findall(r"^✓ (\S+): [1-9]\d* passed, 0 failed", said, re.M))
    assert passed >= APPLY, said[-3000:]


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


def test_the_first_answer_comes_within_a_second_and_a_half(tmp_path: Path) -> None:
    """From the start of the process to the list of tools: the best of five."""
    with recollex.open(tmp_path / "memory") as store:
        store.agent("default").retain("Ann has a boat.")

    async def run() -> tuple[float, float]:
        started = time.perf_counter()
        async with Client(stdio_client(words(str(tmp_path / "memory")))) as client:
            await client.list_tools()
            listed = time.perf_counter() - started
            result = await client.call_tool("recall", {"query": "Who has a boat?"})
            assert not result.is_error
            return listed, time.perf_counter() - started

    times = [asyncio.run(run()) for _ in range(5)]
    print(f"list {min(listed for listed, _ in times):.2f}, recall {min(r for _, r in times):.2f} s")
    assert min(listed for listed, _ in times) < 1.5
