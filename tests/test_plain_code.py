"""Plain code: one assignment a line, no starred literal tuple, few positional parameters."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PRODUCT = [
    path for folder in ("kernels", "engine", "bindings") for path in (ROOT / folder).rglob("*.py")
]


def nodes(tree: ast.AST) -> Iterator[str]:
    """Yield the code of each name, attribute and item in a tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            yield ast.unparse(node)


def is_several(node: ast.AST) -> bool:
    """Return whether an assignment is several, which would do the same on lines of their own.

    They would not if a value reads a target that stands before it, as in a swap; a call may read
    the attributes and items that stand before it.
    """
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            pass
        case _:
            return False
    if len(targets) != len(values) or any(
        not isinstance(each, ast.Name | ast.Attribute | ast.Subscript) for each in targets
    ):
        return False
    if any(isinstance(each, ast.Starred) for each in values):
        return False
    return not any(
        reads(later, target)
        for place, target in enumerate(targets)
        for later in (*values[place + 1 :], *targets[place + 1 :])
    )


def reads(node: ast.AST, target: ast.expr) -> bool:
    """Return whether code may read what a target changes."""
    if isinstance(target, ast.Name):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            return False
        return target.id in nodes(node)
    called = any(isinstance(each, ast.Call) for each in ast.walk(node))
    if isinstance(target, ast.Attribute):
        same = any(
            isinstance(each, ast.Attribute) and each.attr == target.attr for each in ast.walk(node)
        )
        return called or same
    assert isinstance(target, ast.Subscript)
    return called or ast.unparse(target.value) in nodes(node)


def is_starred_literal(node: ast.AST) -> bool:
    return isinstance(node, ast.Starred) and isinstance(node.value, ast.Tuple)


@pytest.mark.parametrize(
    ("code", "several"),
    [
        ("a, b = 1, f()", True),
        ("a, b = b, a", False),
        ("a, b = 1, g(a)", False),
        ("a, b = pair", False),
        ("self.a, b = 1, f()", False),
        ("self.a, b = 1, 2", True),
        ("a[0], a[1] = a[1], a[0]", False),
    ],
)
def test_several_assignments_are_told_from_a_swap(code: str, several: bool) -> None:
    assert is_several(ast.parse(code).body[0]) == several


@pytest.mark.parametrize("is_golf", [is_several, is_starred_literal])
def test_code_is_plain(is_golf: object) -> None:
    assert callable(is_golf)
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in PRODUCT
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.stmt | ast.expr) and is_golf(node)
    ]
    assert found == []
