"""The JavaScript client: its tables are Python's, its own tests pass, its page's examples run."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import recollex
from bindings.js import declarations
from recollex.remote.client import calls as retries
from recollex.remote.client import store
from recollex.remote.server.access import Access
from recollex.remote.wire.methods import METHODS
from tests.bindings.serving import serving
from tests.bindings.test_remote_progress import Slow
from tests.bindings.word_vectors import WordVectors

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "bindings" / "js"
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(
    NODE is None or not (FOLDER / "node_modules").is_dir(),
    reason="needs node 20 and its packages: npm install --prefix bindings/js",
)


def node(*arguments: str, **environment: str) -> str:
    """Return what node prints; fail with all of it if it ends with an error."""
    assert NODE is not None
    run = subprocess.run(
        [NODE, *arguments],
        cwd=FOLDER,
        env={**os.environ, "RECOLLEX_PYTHON": sys.executable, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-8000:]
    return run.stdout


def package() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "package.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize("name", declarations.FILES)
def test_a_file_that_is_made_is_up_to_date(name: str) -> None:
    held, made = (FOLDER / "src" / name).read_text("utf-8"), declarations.FILES[name]()
    assert held == made, "run: python -m bindings.js.declarations"


def test_the_version_is_that_of_the_python_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert package()["version"] == project["version"]
    assert f'VERSION = "{project["version"]}"' in (FOLDER / "src" / "store.js").read_text("utf-8")


def test_the_pauses_are_those_of_the_python_client() -> None:
    calls = (FOLDER / "src" / "calls.js").read_text("utf-8")
    assert f"FIRST_PAUSE_MS = {retries.FIRST_PAUSE * 1000:.0f};" in calls
    assert f"LONGEST_PAUSE_MS = {retries.LONGEST_PAUSE * 1000:_.0f};" in calls
    assert f"patience = {store.PATIENCE:.0f}," in (FOLDER / "src" / "store.js").read_text("utf-8")


@needs_node
def test_every_method_of_the_table_can_be_called() -> None:
    code = """
      import { Agent } from "recollex";
      const agent = new Agent("a", { do: (wire) => Promise.resolve(wire) }, {});
      const called = [];
      const groups = Object.values(agent).filter((value) => typeof value === "object");
      for (const of of [agent, ...groups])
        for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(of)))
          if (!["constructor", "at", "within", "abortedBy", "reportingTo"].includes(name))
            called.push(await of[name]());
      console.log(JSON.stringify(called));
    """
    called = json.loads(node("--input-type=module", "--eval", code))
    assert sorted(called) == sorted(METHODS.keys() - set(declarations.OF_STORE))


@needs_node
def test_its_own_tests_pass() -> None:
    tests = package()["scripts"]["test"].split()[1:]
    said = node(*tests)
    assert re.search(r"^# pass [1-9]", said, re.MULTILINE) and "# fail 0" in said


@needs_node
def test_a_talk_is_retained_and_recalled(address: str) -> None:
    node("--test", "--test-force-exit", "test/words.test.js", RECOLLEX_ADDRESS=address)


@needs_node
def test_a_long_call_tells_how_far_it_is(tmp_path: Path) -> None:
    with serving(recollex.open(tmp_path / "memory", embedder=Slow())) as server:
        (address,) = server.addresses
        node("--test", "--test-force-exit", "test/progress.test.js", RECOLLEX_ADDRESS=address)


@needs_node
def test_it_speaks_tls(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    chain, key = map(str, certificate)
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(f'[[token]]\nname = "one"\nsecret = "{"s" * 32}"\nscope = "write"\n')
    tokens.chmod(0o600)
    with serving(
        recollex.open(tmp_path / "memory", embedder=WordVectors()),
        address="tls://127.0.0.1:0",
        certificate=chain,
        key=key,
        access=Access.from_file(tokens),
    ) as server:
        node(
            "--throw-deprecation",
            *("--test", "--test-force-exit", "test/tls.test.js"),
            RECOLLEX_ADDRESS="tls://localhost:" + server.addresses[0].rpartition(":")[2],
            RECOLLEX_CERTIFICATE=chain,
            RECOLLEX_TOKEN="s" * 32,
        )


@needs_node
def test_its_types_fit_what_users_write() -> None:
    node("node_modules/typescript/bin/tsc", "--project", "test")


@needs_node
def test_the_examples_of_its_page_print_what_they_say(address: str) -> None:
    page = (FOLDER / "README.md").read_text("utf-8")
    examples = re.findall(r"```js\n(.*?)```", page, re.DOTALL)
    assert len(examples) == 5
    for example in examples:
        code = example.replace("unix:///run/recollex.sock", address)
        expected = [line.partition("// ")[2] for line in example.splitlines() if "// " in line]
        assert node("--input-type=module", "--eval", code).splitlines() == expected
