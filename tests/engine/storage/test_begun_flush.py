"""Flushes that the system carries out beside their caller."""

import errno
import os
import sys

import pytest

from recollex_engine.storage import begun_flush
from recollex_engine.storage.begun_flush import MOST_IDLE, begin_flush

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


def test_many_flushes_of_two_files_end(fds):
    for place in range(3 * MOST_IDLE):
        os.pwrite(fds[0], b"ink", 3 * place)
        flush = begun(fds if place % 3 else fds[:1])
        assert flush.is_whole
        flush.wait()
        flush.wait()  # a second time it returns at once
    assert len(begun_flush._idle) == 1


def test_flushes_that_are_under_way_together_have_results_of_their_own(fds):
    flushes = [begun(fds) for _ in range(2 * MOST_IDLE)]
    flushes[3]._context.results[0].result = 0
    for flush in reversed(flushes):
        flush.wait()
    assert len(begun_flush._idle) == MOST_IDLE


def test_a_failure_is_raised_each_time(fds, monkeypatch):
    flush = begun(fds)
    wait = begun_flush._Context.wait

    def fails(context, count):
        wait(context, count)
        context.results[0].result = -errno.EIO

    monkeypatch.setattr(begun_flush._Context, "wait", fails)
    for _ in range(2):
        with pytest.raises(OSError, match="Input/output error"):
            flush.wait()
    monkeypatch.undo()
    begun(fds).wait()


def test_a_wait_that_was_interrupted_is_repeated(fds, monkeypatch):
    flush = begun(fds)
    wait = begun_flush._Context.wait

    def interrupt(context, count):
        wait(context, count)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(begun_flush._Context, "wait", interrupt)
        with pytest.raises(KeyboardInterrupt):
            flush.wait()
    flush.wait()  # the results are still there


def test_a_file_that_cannot_be_flushed_is_left_to_the_caller(fds):
    begun(fds)
    read, write = os.pipe()
    assert begin_flush([write]) is None
    flush = begin_flush([fds[0], write])
    assert flush is not None and not flush.is_whole
    flush.wait()
    os.close(read)
    os.close(write)
    assert begin_flush([write]) is None  # it is closed


def test_files_may_be_closed_meanwhile(tmp_path):
    fd = os.open(tmp_path / "words", os.O_RDWR | os.O_CREAT)
    os.pwrite(fd, b"tea", 0)
    flush = begun([fd])
    os.close(fd)
    flush.wait()


def test_without_the_system_nothing_is_begun(fds, monkeypatch):
    monkeypatch.setattr(begun_flush, "_call", None)
    assert begin_flush(fds) is None


def test_a_child_begins_flushes_of_its_own(fds):
    begun(fds).wait()
    if (child := os.fork()) == 0:
        flush = begin_flush(fds)
        if flush is not None:
            flush.wait()
        os._exit(3 if flush is not None else 4)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 3
    begun(fds).wait()
