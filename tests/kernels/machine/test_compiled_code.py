import os
import signal
import subprocess
import sys
import time

import pytest

from tests.kernels.machine.toy_kernel import ASK, TOY, ask, said


def test_the_cache_lands_in_the_given_folder_and_the_next_process_uses_it(source, tmp_path):
    cache = tmp_path / "cache"
    assert ask(source, RECOLLEX_CACHE=str(cache)) == (42, False)
    (folder,) = cache.iterdir()
    assert folder.name.startswith("kernels-")
    assert list(folder.glob("toy.answer-*.nbc"))
    assert not list(source.rglob("*.nb?"))
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
    blocked.touch()  # no user can make a folder under a file
    assert ask(source, RECOLLEX_CACHE=str(blocked / "cache")) == (42, False)
    assert ask(source, HOME=str(blocked)) == (42, False)
    assert not list(tmp_path.rglob("*.nb?"))


REMOVED = """
import os, shutil
from recollex_kernels.toy import answer
assert answer(1) == 42
shutil.rmtree(os.environ["RECOLLEX_CACHE"])
print(answer(1.5), answer(1))
"""
REFUSED = """
import errno, io, os
real_open, real_file = os.open, io.open

def check(path):
    if "kernels-" in str(path):
        raise OSError(errno.{error}, os.strerror(errno.{error}), str(path))

def open_(path, *rest, **options):
    check(path)
    return real_open(path, *rest, **options)

def open_file(path, *rest, **options):
    check(path)
    return real_file(path, *rest, **options)

os.open, io.open = open_, open_file
from recollex_kernels.toy import answer
print(answer(1.5), answer(1))
"""


@pytest.mark.parametrize("error", ["EACCES", "EIO", "EMFILE", "ESTALE"])
def test_kernels_run_where_the_system_refuses_every_file_of_the_cache(source, cache, error):
    assert said(source, cache, REFUSED.format(error=error)).split() == ["42.5", "42"]
    assert ask(source, RECOLLEX_CACHE=str(cache)) == (42, True)


def test_kernels_run_on_when_the_cache_is_removed_meanwhile(source, tmp_path):
    cache = tmp_path / "cache"
    assert said(source, cache, REMOVED).split() == ["42.5", "42"]
    ask(source, RECOLLEX_CACHE=str(cache))
    assert ask(source, RECOLLEX_CACHE=str(cache)) == (42, True)


def compiled_files(cache):
    return sorted(path.relative_to(cache) for path in cache.rglob("*.nbc"))


def test_a_second_environment_uses_what_the_first_compiled(source, cache):
    os.utime(source / "toy.py", (0, 0))
    assert ask(source, RECOLLEX_CACHE=str(cache)) == (42, True)


@pytest.mark.parametrize("version", ["numba", "llvmlite"])
def test_another_version_of_a_compiler_compiles_into_a_new_folder(source, cache, version):
    other = f"import {version}; {version}.__version__ = '0.1'; "
    for script in (other + ASK, ASK, other + ASK):
        said(source, cache, script)
    assert len(list(cache.iterdir())) == 2


def test_code_of_one_signature_is_not_used_for_another(source, tmp_path):
    ask = "from recollex_kernels.toy import answer; print({0}, {1})"
    for hits in ("{}", "{(int64,): 1, (float64,): 1}"):
        script = ask.format("answer(1), answer(1.5)", "dict(answer.stats.cache_hits)")
        assert said(source, tmp_path, script) == f"42 42.5 {hits}\n"


DAMAGES = {
    "cut off": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "one bit": lambda data: data[:-500] + bytes([data[-500] ^ 1]) + data[-499:],
    "of zeros": lambda data: bytes(len(data)),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_compiled_again(source, cache, damage):
    (file,) = cache.glob("kernels-*/*.nbc")
    file.write_bytes(damage(file.read_bytes()))
    assert ask(source, RECOLLEX_CACHE=str(cache)) == (42, False)
    assert ask(source, RECOLLEX_CACHE=str(cache)) == (42, True)


KILLED = """
import os, signal
from pathlib import Path
Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from recollex_kernels.toy import answer
answer(1)
"""


def test_a_compiler_that_is_killed_leaves_nothing_wrong(source, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(source.parent), "RECOLLEX_CACHE": str(tmp_path)}
    killed = subprocess.run([sys.executable, "-c", KILLED], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = tmp_path.glob("kernels-*/*.part")
    assert not compiled_files(tmp_path)
    assert ask(source, RECOLLEX_CACHE=str(tmp_path)) == (42, False)
    os.utime(left, (0, 0))
    (source / "other.py").write_text("X = 1\n")
    ask(source, RECOLLEX_CACHE=str(tmp_path))  # a new folder: the others are looked through
    assert not left.exists()
    assert len(compiled_files(tmp_path)) == 2


TOGETHER = """
import sys
from recollex_kernels.toy import answer
print("ready", flush=True)
sys.stdin.read(1)
print(answer(1), answer(1.5), answer(1j))
"""


def test_two_processes_compile_at_once_and_a_third_uses_what_they_leave(source, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(source.parent), "RECOLLEX_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", TOGETHER]
    both = [
        subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    assert [process.stdout.readline() for process in both] == [b"ready\n"] * 2
    for process in both:
        process.stdin.write(b".")
        process.stdin.flush()
    assert [process.communicate()[0] for process in both] == [b"42 42.5 (41+1j)\n"] * 2
    assert len(compiled_files(tmp_path)) == 3
    assert not list(tmp_path.glob("kernels-*/*.part"))
    asked = "from recollex_kernels.toy import answer; print(answer(1), answer(1.5), answer(1j), "
    script = asked + "len(answer.stats.cache_hits))"
    assert said(source, tmp_path, script) == "42 42.5 (41+1j) 3\n"


def unused_folders(cache, ages):
    """Make folders of other hashes, unused for as many days."""
    for days in ages:
        folder = cache / f"kernels-{days:016d}"
        folder.mkdir(parents=True)
        (folder / "toy.answer-0.nbc").touch()
        (folder / "used").touch()
        then = time.time() - 24 * 3600 * days
        os.utime(folder / "used", (then, then))


def days_left(cache, current):
    return sorted(int(path.name[8:]) for path in cache.glob("kernels-*") if path.name != current)


def test_old_folders_go_when_a_new_one_is_made(source, tmp_path):
    unused_folders(tmp_path, [2, 3, 4, 5, 6])
    (tmp_path / "models").mkdir()
    ask(source, RECOLLEX_CACHE=str(tmp_path))
    (current,) = {
        path.parent.name for path in tmp_path.glob("kernels-*/*.nbc") if path.stat().st_size
    }
    assert days_left(tmp_path, current) == [2, 3, 4]
    assert (tmp_path / "models").exists()


def test_folders_of_the_last_day_all_stay(source, tmp_path):
    unused_folders(tmp_path, [2, 3, 4, 5])
    for path in tmp_path.glob("kernels-*"):
        (path / "used").touch()
    ask(source, RECOLLEX_CACHE=str(tmp_path))
    assert len(list(tmp_path.glob("kernels-*"))) == 5


HOLD = """
import sys
from recollex_kernels.toy import answer
print(answer(1), flush=True)
sys.stdin.read(1)
"""


def test_a_folder_of_a_running_process_stays_and_goes_when_that_has_ended(source, tmp_path):
    cache = tmp_path / "cache"
    environment = {**os.environ, "PYTHONPATH": str(source.parent), "RECOLLEX_CACHE": str(cache)}
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout.readline() == b"42\n"
    (held,) = cache.iterdir()
    unused_folders(cache, [2, 3, 4])
    for number, stays in enumerate((True, False)):
        os.utime(held / "used", (0, 0))
        (source / "other.py").write_text(f"X = {number}\n")
        ask(source, RECOLLEX_CACHE=str(cache))
        assert held.exists() == stays
        if stays:
            assert holder.communicate(b".")[1] is None


def test_use_of_a_folder_is_noted(source, cache):
    (folder,) = cache.glob("kernels-*")
    os.utime(folder / "used", (0, 0))
    ask(source, RECOLLEX_CACHE=str(cache))
    assert (folder / "used").stat().st_mtime > 1e9


UNCOVERED = """
from recollex_kernels.machine.jit import kernel
from recollex_kernels.toy import answer

@kernel
def both(x):
    return answer(x) + answer(0)

print(both(1), both.stats.cache_path)
"""


def test_a_function_that_the_hash_does_not_cover_is_not_kept(source, tmp_path):
    assert said(source, tmp_path, UNCOVERED) == "83 None\n"
    assert [file.name[:10] for file in compiled_files(tmp_path)] == ["toy.answer"]


CALLERS = """
import numpy as np
from recollex_kernels.machine.jit import kernel


@kernel
def part(x):
    if x < 0:
        raise ValueError("below zero")
    return np.arange(x).sum()


@kernel
def one(x):
    return part(x)


@kernel
def other(x):
    return part(x) + part(x)
"""
CALL = """
import sys
from recollex_kernels.callers import {name}
print({name}(4))
try:
    {name}(-1)
except ValueError as error:
    print(error)
print("numba.np.arraymath" in sys.modules)
"""


def test_who_compiles_nothing_imports_nothing_of_what_numba_compiles_with(source, tmp_path):
    """Numba's part for numpy imports scipy where it is installed: 0.2 s of CPU."""
    (source / "callers.py").write_text(CALLERS)
    for name, answer in (("one", "6"), ("other", "12")):
        for compiles in ("True", "False"):
            found = said(source, tmp_path, CALL.format(name=name), alone=True)
            assert found.split("\n") == [answer, "below zero", compiles, ""]


NAMES = """
from recollex_engine.compiled_code import levels_here, name_in_wheel
for level in levels_here():
    print(name_in_wheel(level), level.processor, level.features, sep="\t")
"""


def carried_levels(source, tmp_path):
    """Compile the toy for each level of this processor, as a wheel carries it; return the names."""
    names = []
    for line in said(source, tmp_path / "unused", NAMES).splitlines():
        name, processor, features = line.split("\t")
        work = tmp_path / name
        ask(
            source,
            RECOLLEX_CACHE=str(work),
            NUMBA_CPU_NAME=processor,
            NUMBA_CPU_FEATURES=features,
        )
        (compiled,) = work.glob("kernels-*/*.nbc")
        (source / "compiled" / name).mkdir(parents=True)
        compiled.rename(source / "compiled" / name / compiled.name)
        names.append(name)
    if not names:
        pytest.skip("no level of processors that a wheel carries kernels for")
    return names


def test_kernels_that_a_wheel_carries_are_not_compiled(source, tmp_path):
    carried_levels(source, tmp_path)
    cache = tmp_path / "cache"
    assert ask(source, RECOLLEX_CACHE=str(cache)) == (42, True)
    assert not cache.exists()
    script = "from recollex_kernels.toy import answer; print(answer(1), answer(1.5))"
    assert said(source, cache, script) == "42 42.5\n"  # the other signature is compiled
    assert len(compiled_files(cache)) == 1
    assert ask(source, RECOLLEX_CACHE=str(cache), NUMBA_OPT="0") == (42, False)
    (source / "other.py").write_text("X = 1\n")
    assert ask(source, RECOLLEX_CACHE=str(cache)) == (42, False)


LACKS = """
from llvmlite import binding
has = binding.get_host_cpu_features()
has["{0}"] = False
binding.get_host_cpu_features = lambda: has
from recollex_engine.compiled_code import folder_of_wheel
found = folder_of_wheel()
print(found and found.path.name)
"""


def test_the_best_level_of_the_processor_is_taken(source, tmp_path):
    names = carried_levels(source, tmp_path)
    assert said(source, tmp_path, LACKS.format("none")) == f"{names[0]}\n"
    if len(names) == 2:
        assert said(source, tmp_path, LACKS.format("avx512vnni")) == f"{names[1]}\n"
        assert said(source, tmp_path, LACKS.format("avx2")) == "None\n"
