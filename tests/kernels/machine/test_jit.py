from tests.kernels.machine.toy_kernel import said


def test_other_users_of_numba_keep_their_cache_folder():
    import numba

    before = numba.config.CACHE_DIR
    from recollex_kernels.fusing import token_budget as budget  # decorates on import

    assert budget.fill is not None
    assert before == numba.config.CACHE_DIR


TELL = """
from recollex_kernels.machine.jit import tell_of_compiling
tell_of_compiling(lambda: print("compiling"))
from recollex_kernels.toy import answer
answer(1), answer(1.0)
"""


def test_who_asks_to_is_told_once_that_something_is_compiled(source, tmp_path):
    for expected in ("compiling\n", ""):
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
from recollex_kernels.machine.jit import kernel
from recollex_kernels.toy import answer

@kernel
def both(x):
    return answer(x) + answer(0) + answer(x=1)

print(both(1), answer.signatures)
"""


def test_numbers_written_out_in_a_call_make_no_versions(source, tmp_path):
    assert said(source, tmp_path, NUMBERS) == "125 [(int64,)]\n"
