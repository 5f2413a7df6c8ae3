"""Arrows point down: kernels <- engine <- bindings, and no module is part of a cycle."""

import ast
import graphlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = {  # each layer's source root, package, and the packages of ours it may import
    "kernels": ("recollex_kernels", {"recollex_kernels"}),
    "engine": ("recollex_engine", {"recollex_engine", "recollex_kernels"}),
    "bindings": ("recollex", {"recollex", "recollex_engine", "recollex_kernels"}),
}
OURS = {package for package, _ in LAYERS.values()}
MODULES = {
    ".".join(path.relative_to(ROOT / layer).with_suffix("").parts).removesuffix(".__init__"): path
    for layer in LAYERS
    for path in (ROOT / layer).rglob("*.py")
}
KERNELS = [name for name in MODULES if name.startswith("recollex_kernels.")]
SHARED = "recollex_kernels._"
"""What kernels share. Numba misses a change there; the cache folder, named by a hash, does not."""


def imports(tree: ast.AST) -> set[str]:
    """Return the full names of the modules, or names in modules, that a tree imports."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in line {node.lineno}"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def without_typing_only(tree: ast.Module) -> ast.Module:
    """Return the tree without its ``if TYPE_CHECKING:`` blocks, which never run."""
    body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"))
    ]
    return ast.Module(body, type_ignores=[])


def module_of(name: str) -> str | None:
    """Return our module that an imported name lives in."""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name or None


def parse(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_text("utf-8"))


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_module_imports_its_own_layer_and_those_below(name: str) -> None:
    package = name.split(".")[0]
    allowed = next(below for own, below in LAYERS.values() if own == package)
    roots = {imported.split(".")[0] for imported in imports(parse(name))}
    assert roots & OURS <= allowed


@pytest.mark.parametrize("name", sorted(MODULES))
def test_what_is_imported_of_ours_exists(name: str) -> None:
    for imported in imports(parse(name)):
        if imported.split(".")[0] in OURS:
            assert module_of(imported), imported


def test_no_cycle_of_imports() -> None:
    graph = {}
    for name in MODULES:
        needed = imports(without_typing_only(parse(name)))
        graph[name] = {module_of(n) for n in needed if n.split(".")[0] in OURS} - {name, None}
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the cycle


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_a_kernel_imports_numpy_numba_and_what_kernels_share(name: str) -> None:
    for imported in imports(parse(name)):
        root = imported.split(".")[0]
        if root in OURS:
            assert imported.startswith(SHARED), imported
        elif not name.startswith(SHARED):
            assert root in {"numpy", "numba", "math", "typing", "collections"}, imported


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_module_is_a_concept_of_bearable_size(name: str) -> None:
    assert name.split(".")[-1] not in {"utils", "common", "helpers", "core", "base", "manager"}
    assert len(MODULES[name].read_text("utf-8").splitlines()) <= 400
