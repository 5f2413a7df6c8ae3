"""A tree of kernels is compiled at its root; what only kernels call is kept as code to link."""

import pytest

from tests.kernels.machine.toy_kernel import said

TREE = """
import numpy as np

from recollex_kernels.machine.jit import kernel

WEIGHTS = np.array([1.0, 0.5])


@kernel
def leaf(x):
    if x < 0:
        raise ValueError("below zero")
    return np.full(3, x).sum() + WEIGHTS[1]


@kernel
def root(x):
    return leaf(x) + 1


@kernel
def higher(x):
    return 2 * root(x) + leaf(x)
"""
RAISES = """
try:
    {0}(-1.0)
except ValueError as wrong:
    print(wrong)
"""
ROOT = """
from recollex_kernels.toy import root
print(root(1.0))
""" + RAISES.format("root")
HIGHER = """
from recollex_kernels.machine.jit import each_compiled
from recollex_kernels.toy import higher
with each_compiled(lambda: print("compiled")):
    print(higher(2.0))
""" + RAISES.format("higher")
OTHERS = """
import numba
import numpy as np
from recollex_kernels.toy import root

def middle(x):
    return np.full(3, x).sum() + np.empty(2).size

root(1.0)
print(numba.njit(middle)(1.0), numba.njit(error_model="numpy")(middle)(1.0))
"""


@pytest.fixture
def tree(source):
    (source / "toy.py").write_text(TREE)
    return source


def test_a_tree_answers_and_raises_what_python_would(tree, tmp_path):
    for _ in range(2):  # compiled, then read from the folder
        assert said(tree, tmp_path, ROOT) == "4.5\nbelow zero\n"


def test_a_root_links_what_an_earlier_process_kept(tree, tmp_path):
    assert said(tree, tmp_path, ROOT) == "4.5\nbelow zero\n"
    # `higher`, and `root` as a part of it: `leaf` is there already
    assert said(tree, tmp_path, HIGHER) == "compiled\ncompiled\n21.5\nbelow zero\n"
    assert said(tree, tmp_path, HIGHER) == "21.5\nbelow zero\n"
    kept = {path.name.partition("-")[0] for path in tmp_path.glob("kernels-*/*.nbc")}
    assert kept == {"toy.leaf+", "toy.root+", "toy.root", "toy.higher"}


def test_only_what_python_calls_has_machine_code(tree, tmp_path):
    said(tree, tmp_path, ROOT)
    kept = {path.name.partition("-")[0]: path for path in tmp_path.glob("kernels-*/*.nbc")}
    assert sorted(kept) == ["toy.leaf+", "toy.root"]
    has = {name: b"\x7fELF" in path.read_bytes() for name, path in kept.items()}
    assert has == {"toy.leaf+": False, "toy.root": True}


def test_others_call_the_functions_of_numba_that_a_kernel_compiled(tree, tmp_path):
    assert said(tree, tmp_path, OTHERS) == "5.0 5.0\n"
