"""Libraries that would call out are imported through one module, which switches that off."""

import ast
import os
import sys
import types
from pathlib import Path

import pytest

from recollex_engine.models import session
from recollex_engine.models.session import LIBRARIES, SILENT, library

ROOT = Path(session.__file__).parents[3]
SOURCES = [
    *(
        path
        for top in ("kernels", "engine", "bindings", "bench")
        for path in (ROOT / top).rglob("*.py")
    ),
    *(ROOT / "tests").rglob("*.py"),
    ROOT / "hatch_build.py",
]


def imported(path):
    """Yield the packages that a file imports, by a statement or by `importlib.import_module`."""
    text = path.read_text()
    for node in ast.walk(ast.parse(text if any(name in text for name in LIBRARIES) else "")):
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else None
            if called == "import_module":
                yield str(node.args[0].value).partition(".")[0]


def test_no_other_module_imports_them():
    assert len(SOURCES) > 500
    found = {
        str(path.relative_to(ROOT))
        for path in SOURCES
        if not {*imported(path)}.isdisjoint(LIBRARIES)
    }
    assert found == set()


@pytest.mark.parametrize("name", LIBRARIES)
def test_each_is_told_before_it_is_imported(name, tmp_path, monkeypatch):
    for variable in SILENT:
        monkeypatch.setenv(variable, "")
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    asks = [f"seen = [os.environ.get(name) for name in {[*SILENT]}]", "stopped = []"]
    stop = "def disable_telemetry_events(): stopped.append(1)"
    (tmp_path / f"{name}.py").write_text("\n".join(["import os", *asks, stop]))
    try:
        found = library(name)
        assert found.seen == [*SILENT.values()]
        assert bool(found.stopped) == (name == "onnxruntime")
    finally:
        sys.modules.pop(name, None)


def test_a_choice_of_the_user_stays(monkeypatch):
    stopped = []
    fake = types.SimpleNamespace(disable_telemetry_events=lambda: stopped.append(1))
    monkeypatch.setitem(sys.modules, "onnxruntime", fake)
    monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "0")
    assert library("onnxruntime") is fake
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "0"
    assert not stopped
