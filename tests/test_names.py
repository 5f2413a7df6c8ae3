"""One meaning a word: a type's name is defined in one module, or means the same thing."""

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
SAME = {
    "Agent",
    "AgentProfile",
    "Events",
    "Facts",
    "Jobs",
    "Opinions",
    "RecollexRetriever",
    "Sessions",
    "Store",
    "Tools",
    "Transaction",
}
"""The same to its caller: embedded, for asyncio, at a server; of two frameworks."""
MOST = 23
"""Other names with two meanings: most are tuples that a kernel takes. Lower it, never raise it."""
NAME = re.compile(r"_?[A-Z][a-z]\w*")


def types_of(tree: ast.Module) -> set[str]:
    """Return the classes and the aliases of types that a module defines; no type variables."""
    found = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        made = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
        if made not in ("TypeVar", "ParamSpec"):
            found |= {each.id for each in targets if isinstance(each, ast.Name)}
    return {name for name in found if NAME.fullmatch(name)}


def modules_of() -> dict[str, list[str]]:
    """Return the name of a type -> the modules of the product that define it."""
    found = defaultdict(list)
    for folder in ("kernels", "engine", "bindings"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for name in types_of(ast.parse(path.read_text("utf-8"))):
                found[name].append(str(path.relative_to(ROOT)))
    return found


def test_a_name_of_a_type_has_one_meaning() -> None:
    several = {name: paths for name, paths in modules_of().items() if len(paths) > 1}
    others = {name: paths for name, paths in several.items() if name not in SAME}
    assert len(others) <= MOST, others
    assert set(several) >= SAME, "no longer defined twice"


def test_aliases_and_classes_are_found() -> None:
    tree = ast.parse("class A1b: pass\nPair = tuple[int, int]\nItem = TypeVar('Item')\nMOST = 3\n")
    assert types_of(tree) == {"Pair"}
