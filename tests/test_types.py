"""Types of public attributes are declared, so that every type checker reads the same ones.

Lint demands the types of functions. `pyright --verifytypes recollex --ignoreexternal` demands more:
an attribute that is not declared may be inferred differently by each checker.
"""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import recollex

BINDINGS = Path(__file__).parents[1] / "bindings"
PUBLIC = [getattr(recollex, name) for name in recollex.__all__]
MODULES = {
    *BINDINGS.rglob("*.py"),
    *(Path(inspect.getfile(each)) for each in PUBLIC if inspect.isclass(each)),
}
"""The bindings, and where the engine defines public classes."""


def assigned(function: ast.FunctionDef) -> Iterator[tuple[str, bool]]:
    """Yield each public attribute that is assigned, and whether its type is said there."""
    parameters = {each.arg for each in [*function.args.args, *function.args.kwonlyargs]}
    for node in ast.walk(function):
        if isinstance(node, ast.AnnAssign):
            targets, typed = [node.target], True
        elif isinstance(node, ast.Assign):
            targets = [part for each in node.targets for part in getattr(each, "elts", [each])]
            typed = isinstance(node.value, ast.Name) and node.value.id in parameters
        else:
            continue
        for target in targets:
            is_own = isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self"
            if is_own and not target.attr.startswith("_"):
                yield target.attr, typed


def undeclared(module: Path) -> Iterator[str]:
    for cls in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if not isinstance(cls, ast.ClassDef) or cls.name.startswith("_"):
            continue
        said = {each.target.id for each in cls.body if isinstance(each, ast.AnnAssign)}
        said |= {each.name for each in cls.body if isinstance(each, ast.FunctionDef)}
        for function in cls.body:
            if isinstance(function, ast.FunctionDef):
                for name, typed in assigned(function):
                    if not typed and name not in said:
                        yield f"{cls.name}.{name}"
                    said.add(name)


def test_every_public_attribute_has_a_declared_type() -> None:
    assert [f"{path.stem}: {each}" for path in sorted(MODULES) for each in undeclared(path)] == []
