"""Do the tests notice a wrong line in the log, a column or the commit word?

    python -m tests.mutations --count 150 --seed 1

A mutant is a module with one change: a comparison, a number, a condition, an operator, or a
statement that is left out. A sample of all mutants is drawn by a seed. Each runs the tests in a
fork of this process, which has imported all that is not changed, and from a copy of the engine, so
that processes started by a test see the change too. A mutant that passes every test is printed as
survived: it needs a test, or does the same as before.
"""

import argparse
import ast
import copy
import os
import pkgutil
import random
import resource
import shutil
import signal
import sys
import tempfile
from importlib import import_module
from importlib.util import cache_from_source
from pathlib import Path

ENGINE = Path(__file__).parents[1] / "engine"
MODULES = ["log/*.py", "storage/column.py", "storage/commit_word.py"]
TESTS = ["tests/engine/log", "tests/engine/storage"]
MOST_BYTES, SECONDS = 16 << 30, 120
"""What a mutant may take; one that takes longer hangs, which is noticed."""

COMPARISONS = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.LShift: ast.RShift,
}  # fmt: skip
STATEMENTS = (ast.Expr, ast.Assign, ast.AugAssign, ast.Raise, ast.Continue, ast.Break, ast.Delete)
UNCHANGED = (ast.Import, ast.ImportFrom, ast.Assert, ast.JoinedStr, ast.arguments)


def changes(node):
    """Yield what may stand in the place of a node."""
    if isinstance(node, ast.Compare):
        for at, old in enumerate(node.ops):
            for new in COMPARISONS[type(old)]:
                yield ast.Compare(node.left, [*node.ops[:at], new(), *node.ops[at + 1 :]],
                                  node.comparators)  # fmt: skip
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        if not isinstance(node.test, (ast.UnaryOp, ast.Compare)):  # whose own mutants negate it
            yield type(node)(**vars(node) | {"test": ast.UnaryOp(ast.Not(), node.test)})
    elif isinstance(node, ast.Return) and not isinstance(node.value, ast.Constant | type(None)):
        yield ast.Return(ast.Constant(None))
    elif isinstance(node, STATEMENTS) and not is_plain(node):
        yield ast.Pass()


def is_plain(node):
    """A docstring, or the assignment of a name: without it the name is missing, which is seen."""
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Name) for target in node.targets)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def places(node):
    """Yield (parent, field, index or None, child) of each node that may be changed."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "exc", "bases"):
            continue
        for at, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.AST) and not isinstance(child, UNCHANGED):
                yield node, field, at if isinstance(value, list) else None, child
                yield from places(child)


def mutants(path):
    """Yield (line, before, after, source) of every mutant of a file."""
    tree = ast.parse(path.read_text())
    for parent, field, at, child in places(tree):
        for new in changes(child):
            held = getattr(parent, field)
            changed = new if at is None else [*held[:at], new, *held[at + 1 :]]
            setattr(parent, field, changed)
            source = ast.unparse(ast.fix_missing_locations(copy.deepcopy(tree)))
            setattr(parent, field, held)
            before, after = (ast.unparse(each).split("\n")[0] for each in (child, new))
            yield child.lineno, before, after, source


def passes(engine, tests, seconds=SECONDS):
    """Return whether the tests pass with this copy of the engine, in a fork."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    import pytest
    from hypothesis import Phase, settings

    os.setpgid(0, 0)
    signal.alarm(seconds)  # its default action ends the process
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, resource.RLIM_INFINITY))
    with (engine / "output").open("wb") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    settings.register_profile(
        "mutant", database=None, deadline=None, phases=[Phase.explicit, Phase.generate]
    )
    settings.load_profile("mutant")
    sys.path.insert(0, str(engine))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(engine), os.environ.get("PYTHONPATH", "")])
    options = ["-o", f"pythonpath={engine} .", f"--basetemp={engine / 'tmp'}", "-x", "-q"]
    os._exit(pytest.main(["-p", "no:cacheprovider", *options, *tests]))


def nearest_first(name):
    """Return the files of the tests: the module's own first, then its folder's, then the others."""
    files = [file for each in TESTS for file in sorted(Path(each).rglob("test_*.py"))]
    own, folder = f"test_{name.stem}.py", name.parent.name
    return sorted(files, key=lambda file: (file.name != own, file.parent.name != folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=150, help="how many mutants")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    package = ENGINE / "recollex_engine"
    paths = [path for module in MODULES for path in sorted(package.glob(module))]
    every = [(path.relative_to(package), *each) for path in paths for each in mutants(path)]
    chosen = random.Random(given.seed).sample(every, min(given.count, len(every)))
    import hypothesis.stateful, numba, orjson, pytest, recollex_kernels  # noqa: E401, F401, I001 - once, not in each fork

    for module in pkgutil.walk_packages(recollex_kernels.__path__, "recollex_kernels."):
        import_module(module.name)
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(shutil.copytree(ENGINE, folder, dirs_exist_ok=True))
        if not passes(copied, TESTS, 10 * SECONDS):
            sys.exit(f"{(copied / 'output').read_text()}\nthe tests fail without a change")
        survived = 0
        for name, line, before, after, source in chosen:
            path = copied / "recollex_engine" / name
            original = path.read_text()
            cached = Path(cache_from_source(str(path)))
            path.write_text(source)
            cached.unlink(missing_ok=True)
            lives = passes(copied, nearest_first(name))
            path.write_text(original)
            cached.unlink(missing_ok=True)
            survived += lives
            outcome = "survived" if lives else "killed  "
            print(f"{outcome} {name}:{line}: {before}  ->  {after}", flush=True)
    print(f"{survived} of {len(chosen)} survived, of {len(every)} mutants in all")


if __name__ == "__main__":
    main()
