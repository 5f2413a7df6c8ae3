import errno
import gc
import os
import subprocess
import sys

import numpy as np
import pytest

from recollex_engine.errors import AccessError, CorruptError, LockedError, StoreMovedError
from recollex_engine.state.access_journal import AccessJournal, entries
from recollex_engine.storage.lock import NO_LOCKS, WriterLock, is_locked

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def python(script, *arguments, **options):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(
        command, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "LOCK"


def test_a_second_lock_in_one_process_is_refused_with_the_holder(path):
    with WriterLock(path) as lock:
        assert lock.is_held
        with pytest.raises(LockedError, match=f"process {os.getpid()}") as caught:
            WriterLock(path)
        assert caught.value.path == path
    assert not lock.is_held
    lock.close()
    WriterLock(path).close()


def test_dropping_a_lock_releases_it(path):
    lock = WriterLock(path)
    del lock
    gc.collect()
    WriterLock(path).close()


def test_releasing_also_frees_it_from_copies_of_the_descriptor(path):
    lock = WriterLock(path)
    copy = os.dup(lock._fd)  # as in a child that C code forked
    lock.close()
    WriterLock(path).close()
    os.close(copy)


HOLD = """
import sys
from pathlib import Path
from recollex_engine.storage.lock import WriterLock
lock = WriterLock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_another_process_holds_it_until_it_is_killed(path):
    with python(HOLD, path) as child:
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(LockedError, match=f"process {child.pid}"):
            WriterLock(path)
        child.kill()
        child.wait()
        WriterLock(path).close()


FORK = """
import os, sys
from pathlib import Path
from recollex_engine.errors import LockedError
from recollex_engine.storage.lock import WriterLock
path = Path(sys.argv[1])
lock = WriterLock(path)

def refused():
    try:
        WriterLock(path)
    except LockedError:
        return True

released, release = os.pipe()
tried, tell = os.pipe()
child = os.fork()
if child == 0:
    ok = not lock.is_held
    lock.close()                        # must not release the parent's
    ok = ok and refused()
    os.write(tell, b"x")
    os.read(released, 1)                # the parent has released it now, and this child lives
    WriterLock(path).close()
    os._exit(0 if ok else 1)
grandchild = os.fork()
if grandchild == 0:
    os._exit(0)                         # nor must the end of a child
os.waitpid(grandchild, 0)
os.read(tried, 1)
assert refused() and lock.is_held
lock.close()
WriterLock(path).close()                # free although a child still lives
os.write(release, b"x")
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def test_a_forked_child_neither_holds_nor_releases_it(path):
    with python(FORK, path) as child:
        assert child.wait(30) == 0


EXEC = """
import subprocess, sys
from pathlib import Path
from recollex_engine.storage.lock import WriterLock
lock = WriterLock(Path(sys.argv[1]))
sleeper = subprocess.Popen(["sleep", "60"], close_fds=False, stdout=subprocess.DEVNULL)
print(sleeper.pid, flush=True)
"""


def test_a_program_started_meanwhile_does_not_hold_it(path):
    with python(EXEC, path) as child:
        sleeper = int(child.stdout.readline())
        child.wait(30)
        try:
            WriterLock(path).close()
        finally:
            os.kill(sleeper, 9)


def test_the_holder_is_not_named_if_none_was_written(path):
    with python(HOLD, path) as child:
        assert child.stdout.readline() == b"held\n"
        path.write_bytes(b"")
        with pytest.raises(LockedError) as caught:
            WriterLock(path)
        assert caught.value.holder == ""
        child.kill()


def test_a_lock_that_this_process_holds_is_said_to_be_its_own(path):
    with WriterLock(path):
        path.write_bytes(b"1\n")  # a number that a process of another container may have too
        with pytest.raises(LockedError, match=r"which is this one.*notebook.*recollex serve"):
            WriterLock(path)
    with python(HOLD, path) as child:
        assert child.stdout.readline() == b"held\n"
        path.write_bytes(b"%d\n" % os.getpid())
        with pytest.raises(LockedError, match=r"recollex serve.*recollex\.connect") as caught:
            WriterLock(path)
        assert "this one" not in str(caught.value)
        child.kill()


@pytest.mark.parametrize("number", NO_LOCKS, ids=errno.errorcode.get)
def test_a_file_system_without_locks_is_named_with_advice(path, monkeypatch, number):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(AccessError, match=r"no locks .*local disk.*read_only=True") as caught:
        WriterLock(path)
    assert (caught.value.errno, caught.value.filename) == (number, str(path))
    with pytest.raises(AccessError, match="no locks"):
        AccessJournal(path).append(entries(1, np.array([0]), "used"), 1)
    path.write_bytes(b"1\n")
    assert not is_locked(path)


def test_a_disk_that_fails_to_lock_is_an_error_of_ours(path, monkeypatch):
    def fail(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    path.write_bytes(b"1\n")
    monkeypatch.setattr("fcntl.flock", fail)
    for call in (WriterLock, is_locked):
        with pytest.raises(CorruptError, match="Input/output error"):
            call(path)
    assert path.read_bytes() == b"1\n"


def test_a_lock_whose_file_was_removed_says_so(path):
    with WriterLock(path) as lock:
        lock.check_place()
        path.unlink()
        with WriterLock(path) as second:
            second.check_place()
            with pytest.raises(StoreMovedError, match="another file"):
                lock.check_place()
        assert not lock.is_kept
