"""Arrows point down: kernels <- engine <- bindings, and no module is part of a cycle."""

import ast
import functools
import graphlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {  # each package's source root, and the packages of ours it may import
    "recollex_kernels": ("kernels", {"recollex_kernels"}),
    "recollex_engine": ("engine", {"recollex_engine", "recollex_kernels"}),
    "recollex_mind": ("engine", {"recollex_mind", "recollex_engine", "recollex_kernels"}),
    "recollex": ("bindings", {"recollex", "recollex_mind", "recollex_engine", "recollex_kernels"}),
}
MODULES = {
    ".".join(path.relative_to(ROOT / root).with_suffix("").parts).removesuffix(".__init__"): path
    for package, (root, _) in PACKAGES.items()
    for path in (ROOT / root / package).rglob("*.py")
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
    ],
    "recollex_mind": ["llm", "talks", "", "episodic"],
    "recollex": [
        "api",
        "files",
        "files.imports",
        "cluster",
        "remote",
        "remote.wire",
        "remote.client",
        "",
        "remote.server",
        "pages",
        "pages.studio",
        "remote.http",
        "frameworks",
        "frameworks.mcp",
        "cli",
    ],
}
ROOTS = {  # the modules that may stand in a package's root
    "recollex_kernels": set(),
    "recollex_engine": {
        *(
            "errors",
            "clock",
            "trace",
            "fork",
            "deferred_signals",
            "waiting",
            "background_work",
            "compiled_code",
            "private_files",
        ),
    },
    "recollex": {"aio", "encryption", "errors", "presets"},
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
    package, _, folder = name.partition(".")
    while folder and folder not in FOLDERS[package]:
        folder = folder.rpartition(".")[0]
    return folder


def parse(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_text("utf-8"))


@functools.cache
def imports_of(name: str) -> frozenset[str]:
    return frozenset(imports(parse(name)))


def ours(name: str) -> Iterator[str]:
    """Yield what a module imports of ours."""
    return (imported for imported in imports_of(name) if imported.split(".")[0] in PACKAGES)


def test_a_module_imports_its_own_layer_and_those_below() -> None:
    wrong = [
        (name, imported)
        for name in MODULES
        for imported in ours(name)
        if imported.split(".")[0] not in PACKAGES[name.split(".")[0]][1]
    ]
    assert wrong == []


def test_what_is_imported_of_ours_exists() -> None:
    wrong = [(name, used) for name in MODULES for used in ours(name) if not module_of(used)]
    assert wrong == []


def test_a_folder_imports_those_below() -> None:
    wrong = [
        (name, imported)
        for package, order in FOLDERS.items()
        for name in MODULES
        if in_package(name, package)
        for imported in ours(name)
        if in_package(imported, package)
        if order.index(folder_of(module_of(imported) or package)) > order.index(folder_of(name))
    ]
    assert wrong == []


@pytest.mark.parametrize("package", sorted(FOLDERS))
def test_a_package_has_these_folders_and_nothing_else_in_its_root(package: str) -> None:
    own = [name.removeprefix(package).lstrip(".") for name in MODULES if in_package(name, package)]
    modules = {name: MODULES[f"{package}.{name}".rstrip(".")].name for name in own}
    folders = {name for name, file in modules.items() if file == "__init__.py"}
    assert folders >= set(FOLDERS[package])
    assert {name for name in folders if "." not in name} <= set(FOLDERS[package])
    if package in ROOTS:
        assert {name for name in own if "." not in name} - folders == ROOTS[package]


def test_no_cycle_of_imports() -> None:
    graph = {}
    for name in MODULES:
        # those for annotations alone, too
        graph[name] = {module_of(used) for used in ours(name)} - {name, None}
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the cycle


def test_a_kernel_imports_numpy_numba_and_other_kernels() -> None:
    libraries = {"numpy", "numba", "llvmlite"}
    without_files = {"math", "typing", "collections", "contextlib", "functools"}
    allowed = {*PACKAGES, *libraries, *without_files}
    wrong = [
        (name, imported)
        for name in KERNELS
        for imported in imports_of(name)
        if imported.split(".")[0] not in allowed
    ]
    assert wrong == []


def test_a_private_module_is_imported_in_its_folder_alone() -> None:
    wrong = []
    for name in MODULES:
        for imported in ours(name):
            folder, _, module = (module_of(imported) or "").rpartition(".")
            if module.startswith("_") and folder != name.rpartition(".")[0]:
                wrong.append((name, imported))
    assert wrong == []


def test_a_module_is_a_concept_of_bearable_size() -> None:
    vague = {"utils", "common", "helpers", "core", "base", "manager"}
    assert [name for name in MODULES if name.split(".")[-1] in vague] == []
    lines = {name: len(path.read_text("utf-8").splitlines()) for name, path in MODULES.items()}
    assert {name: count for name, count in lines.items() if count > 600} == {}


LONGEST = {"recollex_kernels": 180, "recollex_engine": 120, "recollex_mind": 120, "recollex": 120}
"""Lines of a function, its documentation included."""


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
                    assert len(named) <= 15, where
