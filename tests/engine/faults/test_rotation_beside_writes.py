"""A log file is sealed while other threads write."""

import threading

import pytest

from recollex_engine.errors import ClosedError
from recollex_engine.log import writer as log
from recollex_engine.writing import checkpoint
from recollex_engine.writing.writer import Unsettled
from tests.engine.faults.small_store import contents, fill, opened, vectors


def test_a_write_beside_a_rotation_keeps_the_writer(path, monkeypatch):
    monkeypatch.setattr(checkpoint, "LOG_BYTES", 1_000)
    real = log.replace_file
    threads, started = [], []

    def replace_slowly(*arguments):
        if started and not threads:
            threads.append(threading.Thread(target=fill, args=(agent, 20, 2)))
            threads[0].start()
            threads[0].join(0.3)  # a write waits for the rotation
        real(*arguments)

    monkeypatch.setattr(log, "replace_file", replace_slowly)
    with opened(path) as agent:
        fill(agent, 0, 20)
        writer = agent.engine.files.opened_writer
        started.append(True)
        agent.checkpoint()
        threads[0].join()
        assert agent.engine.files.opened_writer is writer
        assert len(contents(agent)) == 22
        assert agent.verify().problems == ()


def test_a_checkpoint_or_erasure_goes_on_with_the_writer_that_replaced_its_own(path):
    with opened(path) as agent:
        fill(agent, 0, 5)
        files = agent.engine.files
        before = files.maintenance
        files.opened_writer.must_reopen = True  # as an interrupt leaves it
        fill(agent, 5, 1)
        assert files.maintenance is not before
        for call in (before.checkpoint, lambda: before.paused().__enter__()):
            with pytest.raises(Unsettled):
                call()
        agent.checkpoint()
        agent.erase("m1", by="Ann", why="asked")
        after = files.maintenance
    with pytest.raises(ClosedError):
        after.checkpoint()


def test_a_write_goes_on_with_the_writer_that_replaced_its_own(path):
    with opened(path) as agent:
        fill(agent, 0, 5)
        before = agent.engine.files.opened_writer
        before.must_reopen = True
        fill(agent, 5, 1)
        with pytest.raises(Unsettled):  # a thread that has it still
            before.transact(lambda draft: None, vectors(1, 0).astype("f2"), None)
        assert len(contents(agent)) == 6
