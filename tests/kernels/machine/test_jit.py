import pytest

from tests.kernels.machine.toy_kernel import said


def test_other_users_of_numba_keep_their_cache_folder():
    import numba

    before = numba.config.CACHE_DIR
    from recollex_kernels.fusing import token_budget as budget  # decorates on import

    assert budget.fill is not None
    assert before == numba.config.CACHE_DIR


TELL = """
from recollex_kernels.machine.jit import tell_of_compiling
tell_of_compiling(lambda: print("<", end=""), lambda: print(">"))
from recollex_kernels.toy import answer
answer(1), answer(1.0)
"""


def test_who_asks_to_is_told_before_and_after_each_kernel(source, tmp_path):
    for expected in ("<>\n" * 2, ""):
        assert said(source, tmp_path, TELL) == expected


EACH = """
from recollex_kernels.machine.jit import each_compiled
from recollex_kernels.toy import answer
with each_compiled(lambda: print("compiled")):
    answer(1), answer(2), answer(1.0)
answer(1j)
"""


def test_who_asks_to_is_told_of_each_kernel_while_it_lasts(source, tmp_path):
    for expected in ("compiled\n" * 2, ""):
        assert said(source, tmp_path, EACH) == expected


NUMBERS = """
from recollex_kernels.machine.jit import each_compiled, kernel
from recollex_kernels.toy import answer

@kernel
def both(x):
    return answer(x) + answer(0) + answer(x=1)

with each_compiled(lambda: print("compiled")):
    print(both(1))
"""


def test_numbers_written_out_in_a_call_make_no_versions(source, tmp_path):
    assert said(source, tmp_path, NUMBERS) == "compiled\n125\n"


CALLED_BY_BOTH = """
from recollex_kernels.machine.jit import kernel
from recollex_kernels.toy import answer

@kernel
def twice(x):
    return 2 * answer(x)

print({0})
"""


@pytest.mark.parametrize("order", ["twice(1), answer(1)", "answer(1), twice(1)"])
def test_a_kernel_is_called_by_python_and_by_kernels(source, tmp_path, order):
    for _ in range(2):
        found = said(source, tmp_path, CALLED_BY_BOTH.format(order))
        assert sorted(found.split()) == ["42", "84"]
