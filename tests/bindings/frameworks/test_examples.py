"""The examples of the adapters, of those whose frameworks are installed, and what imports load."""

import doctest
import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ADAPTERS = Path(__file__).parents[3] / "bindings" / "recollex" / "frameworks"
MODULES = sorted(path.stem for path in ADAPTERS.glob("[!_]*.py"))
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NEEDS = {
    "langgraph": "langgraph",
    "openai_agents": "agents",
    "langchain": "langchain_core",
    "langchain_stores": "langchain_core",
    "anthropic": "anthropic",
    "llama_index": "llama_index.core",
    "pydantic_ai": "pydantic_ai",
    "crewai": "crewai",
    "autogen": "autogen_core",
    "google_adk": "google.adk",
    "agent_framework": "agent_framework",
    "hermes": "agent.memory_provider",
}
"""Module -> the package that it needs; modules without one import no framework."""


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_say_what_happens(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # their folders go with the test's
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{NEEDS[name]} is not installed")
    module = importlib.import_module(f"recollex.frameworks.{name}")
    result = doctest.testmod(module, optionflags=FLAGS)
    assert result.failed == 0
    assert result.attempted or name not in NEEDS


@pytest.mark.parametrize("name", NEEDS)
def test_an_absent_framework_is_named_with_the_line_that_installs_it(name, monkeypatch):
    monkeypatch.delitem(sys.modules, f"recollex.frameworks.{name}", raising=False)
    for loaded in list(sys.modules):
        if loaded.split(".")[0] == NEEDS[name].split(".")[0]:
            monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, NEEDS[name], None)  # as if it were not installed
    with pytest.raises(ImportError, match=r"pip install 'recollex\[[a-z-]+\]'"):
        importlib.import_module(f"recollex.frameworks.{name}")


def test_recollex_loads_no_framework_and_no_adapter():
    code = (
        "import sys, recollex, recollex.aio; recollex.Agent; recollex.connect; "
        f"print([name for name in {[*set(NEEDS.values()), 'recollex.frameworks']} "
        "if name in sys.modules])"
    )
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=environment())
    assert done.stdout.split() == ["[]"]


def environment():
    roots = [str(ADAPTERS.parents[2] / root) for root in ("kernels", "engine", "bindings")]
    return {"PYTHONPATH": ":".join(roots)}
