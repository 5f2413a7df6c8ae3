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
FOLDERS = {  # a package's folders, lowest first; "" is its root
    "recollex_kernels": ["", "machine", "vectors", "words", "memories", "graph", "fusing", "wire"],
    "recollex_engine": [
        "",
        "storage",
        "log",
        "text",
        "dates",
        "models",
        "domain",
        "state",
        "ranking",
        "facts",
        "writing",
        "recall",
        "agents",
        "backup",
        "talks",
    ],
    "recollex": ["api", "wire", "client", "", "server", "http", "graph_page", "cli"],
}
ROOTS = {  # the modules that may stand in a package's root
    "recollex_kernels": set(),
    "recollex_engine": {"errors", "clock", "trace", "fork", "deferred_signals", "waiting"},
    "recollex": {"aio", "encryption", "presets"},
}
KERNELS = [name for name in MODULES if name.startswith("recollex_kernels.")]


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


def module_of(name: str) -> str | None:
    """Return our module that an imported name lives in."""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name or None


def in_package(name: str, package: str) -> bool:
    return name.split(".")[0] == package


def folder_of(name: str) -> str:
    """Return the folder of a package that a module stands in; "" for the package's root."""
    parts = name.split(".")
    folders = FOLDERS[parts[0]]
    return parts[1] if len(parts) > 1 and parts[1] in folders else ""


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


@pytest.mark.parametrize("name", sorted(name for name in MODULES if name.count(".")))
def test_a_folder_imports_those_below(name: str) -> None:
    package = name.split(".")[0]
    if package in FOLDERS:
        order = FOLDERS[package]
        below = order[: order.index(folder_of(name)) + 1]
        for imported in imports(parse(name)):
            if imported.split(".")[0] == package:
                assert folder_of(module_of(imported) or "") in below, imported


@pytest.mark.parametrize("package", sorted(FOLDERS))
def test_a_package_has_these_folders_and_nothing_else_in_its_root(package: str) -> None:
    own = [name.removeprefix(package).lstrip(".") for name in MODULES if in_package(name, package)]
    folders = {
        name.split(".")[0]
        for name in own
        if "." in name or MODULES[f"{package}.{name}".rstrip(".")].name == "__init__.py"
    } - {""}
    assert folders == set(FOLDERS[package]) - {""}
    assert {name for name in own if "." not in name} - folders - {""} == ROOTS[package]


def test_no_cycle_of_imports() -> None:
    graph = {}
    for name in MODULES:
        needed = imports(parse(name))  # those for annotations alone, too
        graph[name] = {module_of(n) for n in needed if n.split(".")[0] in OURS} - {name, None}
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the cycle


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_a_kernel_imports_numpy_numba_and_other_kernels(name: str) -> None:
    if folder_of(name) != "machine":
        for imported in imports(parse(name)):
            root = imported.split(".")[0]
            allowed = {"numpy", "numba", "llvmlite", "math", "typing", "collections"}
            assert root in OURS | allowed, imported


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_private_module_is_imported_in_its_folder_alone(name: str) -> None:
    for imported in imports(parse(name)):
        module = module_of(imported)
        if module and module.rpartition(".")[2].startswith("_"):
            assert module.rpartition(".")[0] == name.rpartition(".")[0], imported


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_module_is_a_concept_of_bearable_size(name: str) -> None:
    assert name.split(".")[-1] not in {"utils", "common", "helpers", "core", "base", "manager"}
    assert len(MODULES[name].read_text("utf-8").splitlines()) <= 400


LONGEST = {"recollex_kernels": 160, "recollex_engine": 120, "recollex": 120}
"""Lines of a function, its documentation included."""
PUBLIC = {"recollex.api.agent.recall"}
"""Functions with more than 14 parameters: those of `Agent.recall` are all of a user's choices."""


@pytest.mark.parametrize("package", sorted(LONGEST))
def test_a_function_is_short_and_takes_few_arguments(package: str) -> None:
    for name in MODULES:
        if in_package(name, package):
            for node in ast.walk(parse(name)):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    where = f"{name}.{node.name}"
                    assert node.end_lineno is not None
                    assert node.end_lineno - node.lineno < LONGEST[package], where
                    taken = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
                    named = [each for each in taken if each.arg not in {"self", "cls"}]
                    assert len(named) <= 14 or where in PUBLIC, where
