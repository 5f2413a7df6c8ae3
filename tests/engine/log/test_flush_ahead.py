"""The flush that is begun when a log and its vectors were written."""

import numpy as np
import pytest

from recollex_engine.errors import StoreFullError
from recollex_engine.log import durability
from recollex_engine.log.writer import LogWriter
from recollex_engine.storage import vectors_file
from recollex_engine.storage.vectors_file import VectorsWriter


class Flush:
    """A flush that was begun, and what is asked of it."""

    def __init__(self, fds, is_whole=True, failure=None):
        self.fds, self.is_whole, self.failure, self.waited = len(fds), is_whole, failure, 0

    def wait(self):
        self.waited += 1
        if self.failure is not None:
            raise self.failure


@pytest.fixture
def begun(monkeypatch):
    """The flushes that were begun, and how the next are."""
    flushes = []
    options = {}

    def begin(fds):
        flushes.append(Flush(fds, **options))
        return flushes[-1]

    monkeypatch.setattr(durability, "begin_flush", begin)
    flushes_and_options = flushes, options
    return flushes_and_options


@pytest.fixture
def held(tmp_path, monkeypatch):
    """A log and vectors, whose first writes are flushed; and the plain flushes since."""
    plain = []
    monkeypatch.setattr(vectors_file, "flush", plain.append)
    monkeypatch.setattr("recollex_engine.log.writer.flush", plain.append)
    with (
        VectorsWriter(tmp_path / "vectors", 8) as vectors,
        LogWriter(tmp_path / "log", before_flush=vectors.sync) as log,
    ):
        write(log, vectors)
        log.sync()
        plain.clear()
        yield log, vectors, plain


def write(log, vectors, rows=1):
    if rows:
        vectors.append(np.ones((rows, 8), "<f2"))
    return log.append(log.position.recorded_at + 1, [("note", b"{}")]).op


def test_a_begun_flush_takes_the_place_of_two(held, begun):
    log, vectors, plain = held
    for rows, files in ((1, 2), (0, 1), (2, 2)):
        op = write(log, vectors, rows)
        log.begin_flush(vectors)
        log.begin_flush(vectors)  # one at a time
        log.wait_durable(op)
        assert begun[0][-1].fds == files and begun[0][-1].waited == 1
        log.wait_durable(op)
        vectors.sync()
    assert len(begun[0]) == 3 and not plain


def test_what_was_written_later_is_flushed_after_it(held, begun):
    log, vectors, plain = held
    write(log, vectors)
    log.begin_flush(vectors)
    op = write(log, vectors)
    log.wait_durable(op)
    assert begun[0][0].waited == 1 and len(plain) == 2


def test_a_flush_of_some_of_the_files_is_followed_by_one_of_all(held, begun):
    log, vectors, plain = held
    begun[1]["is_whole"] = False
    op = write(log, vectors)
    log.begin_flush(vectors)
    log.wait_durable(op)
    assert begun[0][0].waited == 1 and len(plain) == 2


def test_a_begun_flush_that_fails_ends_the_writing(held, begun):
    log, vectors, plain = held
    begun[1]["failure"] = OSError(5, "Input/output error")
    op = write(log, vectors)
    log.begin_flush(vectors)
    head = log.folder.with_name("HEAD").read_bytes()
    for _ in range(2):
        with pytest.raises(StoreFullError, match="could not be made durable"):
            log.wait_durable(op)
    with pytest.raises(StoreFullError):
        vectors.sync()
    with pytest.raises(StoreFullError):
        write(log, vectors)
    assert log.folder.with_name("HEAD").read_bytes() == head and not plain


def test_an_interrupted_wait_loses_no_failure(held, begun):
    log, vectors, _ = held
    begun[1]["failure"] = KeyboardInterrupt()
    op = write(log, vectors)
    log.begin_flush(vectors)
    with pytest.raises(KeyboardInterrupt):
        log.wait_durable(op)
    begun[0][0].failure = OSError(5, "Input/output error")
    with pytest.raises(StoreFullError, match="could not be made durable"):
        log.wait_durable(op)


@pytest.mark.parametrize("mode", ["interval", "off"])
def test_other_modes_begin_none(tmp_path, begun, mode):
    with LogWriter(tmp_path / "log", durability=mode) as log:
        log.append(1, [("note", b"{}")])
        log.sync()
        log.append(2, [("note", b"{}")])
        log.begin_flush(None)
    assert not begun[0]
