import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import recollex_kernels

TOY = """
from recollex_kernels.machine.jit import kernel


@kernel
def answer(x: int) -> int:
    return x + {plus}
"""
ASK = "from recollex_kernels.toy import answer; print(answer(1), answer.stats.cache_hits)"


@pytest.fixture
def source(tmp_path):
    """A copy of the decorator with one toy kernel, as a package of its own."""
    package = tmp_path / "source" / "recollex_kernels"
    machine = package / "machine"
    machine.mkdir(parents=True)
    shutil.copy(Path(recollex_kernels.__file__).parent / "machine" / "jit.py", machine)
    (package / "__init__.py").touch()
    (machine / "__init__.py").touch()
    (package / "toy.py").write_text(TOY.format(plus=41))
    return package


def ask(source, **environment):
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "RECOLLEX"))}
    inherited |= {"PYTHONPATH": str(source.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", ASK],
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    value, *hits = run.stdout.split(maxsplit=1)
    return int(value), "(" in hits[0] and "{}" not in hits[0] and ": 1" in hits[0]


def said(source, cache, script):
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(source.parent), "RECOLLEX_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout


def test_the_cache_lands_in_the_given_folder_and_the_next_process_uses_it(source, tmp_path):
    cache = tmp_path / "cache"
    assert ask(source, RECOLLEX_CACHE=str(cache)) == (42, False)
    (folder,) = cache.iterdir()
    assert folder.name.startswith("kernels-")
    assert list(folder.rglob("*.nbi"))
    assert not list(source.rglob("*.nbi"))
    assert ask(source, RECOLLEX_CACHE=str(cache)) == (42, True)


def test_a_change_in_any_kernel_file_compiles_into_a_new_folder(source, tmp_path):
    cache = tmp_path / "cache"
    ask(source, RECOLLEX_CACHE=str(cache))
    (source / "toy.py").write_text(TOY.format(plus=42))
    assert ask(source, RECOLLEX_CACHE=str(cache)) == (43, False)
    (source / "other.py").write_text("X = 1\n")
    assert ask(source, RECOLLEX_CACHE=str(cache)) == (43, False)
    assert len(list(cache.iterdir())) == 3


def test_kernels_run_uncached_where_nothing_can_be_written(source, tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()  # a folder cannot be made under a file, whoever asks
    assert ask(source, RECOLLEX_CACHE=str(blocked / "cache")) == (42, False)
    assert ask(source, HOME=str(blocked)) == (42, False)
    assert not list(tmp_path.rglob("*.nbi"))


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


BESIDE = """
from recollex_kernels.toy import answer
files = answer._cache._cache_file
files._load_index = dict  # another process saves meanwhile: neither sees the other's file,
files._save_index = lambda overloads: None  # and its index is the later one
print(answer(1))
"""


def test_of_two_processes_that_compile_a_kernel_at_once_none_runs_the_code_of_the_other(
    source, tmp_path
):
    ask = "from recollex_kernels.toy import answer; print(answer(1.5), {0})"
    assert said(source, tmp_path, ask.format("1")) == "42.5 1\n"
    assert said(source, tmp_path, BESIDE) == "42\n"
    assert (
        said(source, tmp_path, ask.format("dict(answer.stats.cache_hits)"))
        == "42.5 {(float64,): 1}\n"
    )
