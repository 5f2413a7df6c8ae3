"""The names that users may rely on, the errors they may catch, the examples they will copy."""

import doctest
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import recollex
import recollex.aio
from recollex_engine import errors

BINDINGS = Path(__file__).parents[1] / "bindings"
MODULES = sorted(
    ".".join(path.relative_to(BINDINGS).with_suffix("").parts).removesuffix(".__init__")
    for path in BINDINGS.rglob("*.py")
    if path.parent.name != "frameworks"  # tests/bindings/frameworks has theirs
)


@pytest.mark.parametrize("module", [recollex, recollex.aio])
def test_public_names_are_sorted_and_there(module: object) -> None:
    names = list(module.__all__)
    assert names == sorted(names) and len(names) > 3
    for name in names:
        assert inspect.getdoc(getattr(module, name))


def test_asyncio_offers_every_method_of_an_agent() -> None:
    plain = {
        name
        for name, member in inspect.getmembers(recollex.Agent, inspect.isfunction)
        if not name.startswith("_")
    }
    assert plain <= set(dir(recollex.aio.Agent))


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_say_what_happens(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # their folders go with the test's
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.testmod(importlib.import_module(name), optionflags=flags)
    assert result.failed == 0


def test_errors_are_as_drawn() -> None:
    drawn = dict(re.findall(r"^(?:[ |]*[|`]-- )?(\w+Error)(?: \((\w+)\))?", _tree(), re.M))
    defined = {
        name: kind
        for name, kind in inspect.getmembers(errors, inspect.isclass)
        if kind.__module__ == errors.__name__
    }
    assert set(drawn) == set(defined)
    for name, builtin in drawn.items():
        bases = {base.__name__ for base in defined[name].__bases__}
        assert bases == {builtin, *_parent(name)} - {""}


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from recollex.cli import main; main(['--help']); "
        "print(sorted({'numpy', 'numba', 'onnxruntime', 'usearch'} & set(sys.modules)))"
    )
    path = ":".join(str(BINDINGS.parent / root) for root in ("kernels", "engine", "bindings"))
    run = [sys.executable, "-c", code]
    out = subprocess.run(run, capture_output=True, text=True, env={"PYTHONPATH": path}, check=True)
    assert out.stdout.splitlines()[-1] == "[]"


def _tree() -> str:
    """Return the drawing in the errors' docstring, one class a line."""
    lines = (errors.__doc__ or "").splitlines()
    return "\n".join(line[4:] for line in lines if re.match(r"    [ |`-]*\w+Error\b", line))


def _parent(name: str) -> set[str]:
    """Return the class under which another hangs in the drawing; Exception for the root."""
    above: list[tuple[int, str]] = [(-1, "Exception")]
    for line in _tree().splitlines():
        match = re.search(r"\w+Error", line)
        assert match
        while above[-1][0] >= match.start():
            above.pop()
        if match[0] == name:
            return {above[-1][1]}
        above.append((match.start(), match[0]))
    raise AssertionError(name)
