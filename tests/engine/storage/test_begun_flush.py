"""Flushes that threads of the C library carry out beside their caller."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recollex_engine.storage import pooled_file
from recollex_engine.storage.pooled_file import MOST_IDLE_REQUESTS, begin_flush

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has them")


@pytest.fixture
def fds(tmp_path):
    opened = [os.open(tmp_path / name, os.O_RDWR | os.O_CREAT) for name in ("log", "vectors")]
    for fd in opened:
        os.pwrite(fd, b"tea", 0)
    yield opened
    for fd in opened:
        os.close(fd)


def begun(fds):
    flush = begin_flush(fds)
    if flush is None:
        pytest.skip("this system begins no flush")
    return flush


def descriptors():
    return sorted(path.name for path in Path("/proc/self/fd").iterdir())


def test_many_flushes_of_two_files_end(fds):
    for place in range(3 * MOST_IDLE_REQUESTS):
        os.pwrite(fds[0], b"ink", 3 * place)
        flush = begun(fds if place % 3 else fds[:1])
        assert flush.is_whole
        flush.wait()
        flush.wait()  # a second time it returns at once
    assert len(pooled_file._idle_requests) == 1


def test_flushes_that_are_under_way_together_have_results_of_their_own(fds):
    flushes = [begun(fds) for _ in range(2 * MOST_IDLE_REQUESTS)]
    for flush in reversed(flushes):
        flush.wait()
    assert len(pooled_file._idle_requests) == MOST_IDLE_REQUESTS


def test_a_failure_is_raised_each_time(fds, monkeypatch):
    flush, wait = begun(fds), pooled_file._Context.wait
    with monkeypatch.context() as patch:
        patch.setattr(pooled_file._Context, "wait", lambda context: [errno.EIO, wait(context)[1]])
        for _ in range(2):
            with pytest.raises(OSError, match="Input/output error"):
                flush.wait()
    begun(fds).wait()


def test_a_wait_that_was_interrupted_is_repeated(fds, monkeypatch):
    flush = begun(fds)
    wait = pooled_file._Context.wait

    def interrupt(context):
        wait(context)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(pooled_file._Context, "wait", interrupt)
        with pytest.raises(KeyboardInterrupt):
            flush.wait()
    flush.wait()  # the results are still there


def test_a_file_that_the_library_does_not_take_is_left_to_the_caller(fds):
    begun(fds).wait()
    read, write = os.pipe()
    flush = begun([fds[0], write])
    with pytest.raises(OSError, match="Invalid argument"):  # as of a plain flush
        flush.wait()
    os.close(read)
    os.close(write)
    assert begin_flush([write]) is None  # it is closed
    flush = begun([fds[0], write])
    assert not flush.is_whole
    flush.wait()


def test_no_descriptor_stays_open(fds):
    begun(fds).wait()
    before = descriptors()
    for _ in range(3):
        begun(fds).wait()
    begun(fds)  # nothing waits for it
    begin_flush([fds[0], 1 << 20])
    assert descriptors() == before


def test_files_may_be_closed_meanwhile(tmp_path):
    fd = os.open(tmp_path / "words", os.O_RDWR | os.O_CREAT)
    os.pwrite(fd, b"tea", 0)
    flush = begun([fd])
    os.close(fd)
    flush.wait()


def test_without_the_system_nothing_is_begun(fds, monkeypatch):
    monkeypatch.setattr(pooled_file, "_library", None)
    assert begin_flush(fds) is None


def test_a_child_waits_for_no_thread_of_its_parent(fds):
    flush = begun(fds)
    if (child := os.fork()) == 0:
        code = 3 if begin_flush(fds) is None else 4
        flush.wait()
        del flush
        os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 3
    flush.wait()
    begun(fds).wait()


def test_a_child_of_a_process_that_began_nothing_begins_flushes(fds):
    code = (
        "import os, sys\n"
        "from recollex_engine.storage.pooled_file import begin_flush\n"
        "fds = [os.open(sys.argv[1], os.O_RDWR)]\n"
        "if os.fork() == 0:\n"
        "    begin_flush(fds).wait()\n"
        "    os._exit(3)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))\n"
    )
    begun(fds).wait()
    path = Path(f"/proc/self/fd/{fds[0]}").readlink()
    assert subprocess.run([sys.executable, "-c", code, path], check=False).returncode == 3
