"""Flushes that fail, and writes that are interrupted."""

import threading

import pytest

import recollex
from recollex_engine.errors import StoreFullError
from recollex_engine.log import durability
from recollex_engine.log import writer as log
from recollex_engine.state.columns import Columns
from recollex_engine.storage import column, disk, vectors_file
from tests.engine.faults.small_store import (
    D,
    RefusedFlush,
    answers,
    assert_holds,
    begin_nothing,
    contents,
    fill,
    opened,
    refuse,
)
from tests.waiting import until


@pytest.mark.parametrize("place", ["pack", "column", "log"])
def test_a_failed_flush_in_a_checkpoint(path, monkeypatch, place):
    with opened(path, durability="off") as agent:
        fill(agent, 0, 30)
        expected = contents(agent), answers(agent)
        with monkeypatch.context() as patch:
            patch.setattr({"pack": disk, "column": column, "log": log}[place], "flush", refuse)
            with pytest.raises(StoreFullError, match="Input/output error"):
                agent.checkpoint()
        assert contents(agent) == expected[0] and answers(agent) == expected[1]
        if place == "log":  # poisoned: nothing can be promised any more
            with pytest.raises(StoreFullError, match="close it and open it again"):
                agent.checkpoint()
            with pytest.raises(StoreFullError, match="close it and open it again"):
                fill(agent, 40, 1)
        else:
            agent.checkpoint()
            assert_holds(agent, expected)
    with opened(path) as agent:
        assert_holds(agent, expected)


@pytest.mark.parametrize(
    ("mode", "way"), [("always", "begun"), ("always", "at the end"), ("interval", "at the end")]
)
def test_a_flush_that_fails_poisons_the_writer(path, monkeypatch, mode, way):
    failing, acknowledged = threading.Event(), threading.Event()
    if mode == "always":
        acknowledged.set()  # what fails is the call itself
    real = disk.flush

    def flush(fd):
        if failing.is_set():
            assert acknowledged.wait(60)
            refuse()
        real(fd)

    def begin(fds):
        return RefusedFlush() if failing.is_set() else None

    monkeypatch.setattr(log, "flush", flush)
    monkeypatch.setattr(durability, "begin_flush", begin if way == "begun" else begin_nothing)
    store = recollex.open(path, embedder=recollex.GivenVectors(D), durability=mode)
    agent = store.agent("a")
    fill(agent, 0, 3)
    agent.engine.files.opened_writer.log.sync()
    failing.set()
    if mode == "always":
        with pytest.raises(StoreFullError, match="could not be made durable"):
            fill(agent, 3, 1)
    else:
        fill(agent, 3, 1)  # acknowledged, and lost a moment later
        acknowledged.set()
        until(lambda: agent.engine.files.opened_writer.log._commits.has_failed)
    failing.clear()
    for call in (lambda: fill(agent, 4, 1), lambda: agent.forget("m0"), agent.checkpoint):
        with pytest.raises(StoreFullError, match="close it and open it again"):
            call()
    assert [id for id, _ in contents(agent)][:3] == ["m0", "m1", "m2"]  # recalls go on
    assert len(answers(agent)) == 3
    store.close()
    with opened(path) as agent:  # what had reached the disk is there, whole
        assert [id for id, _ in contents(agent)] in (["m0", "m1", "m2"], ["m0", "m1", "m2", "m3"])
        assert agent.verify().ok
        fill(agent, 5, 1)


def test_a_failure_in_the_background_is_told_at_the_latest_when_closing(path, monkeypatch):
    acknowledged = threading.Event()

    def flush(fd):
        assert acknowledged.wait(60)
        refuse()

    store = recollex.open(path, embedder=recollex.GivenVectors(D), durability="interval")
    fill(store.agent("a"), 0, 3)
    written = store.agent("a").engine.files.opened_writer.log
    written.sync()
    monkeypatch.setattr(log, "flush", flush)
    fill(store.agent("a"), 3, 1)
    acknowledged.set()
    until(lambda: written._commits.has_failed)
    with pytest.raises(StoreFullError, match="could not be made durable"):
        store.close()
    monkeypatch.undo()
    with opened(path) as agent:
        assert agent.verify().ok


@pytest.mark.parametrize("way", ["begun", "at the end"])
def test_a_vectors_flush_that_fails_acknowledges_nothing(path, monkeypatch, way):
    with opened(path) as agent:
        fill(agent, 0, 3)
        with monkeypatch.context() as patch:
            begin = (lambda _: RefusedFlush()) if way == "begun" else begin_nothing
            patch.setattr(durability, "begin_flush", begin)
            patch.setattr(vectors_file, "flush", refuse)
            with pytest.raises(StoreFullError):
                fill(agent, 3, 1)
        with pytest.raises(StoreFullError):
            fill(agent, 4, 1)
        assert [id for id, _ in contents(agent)] == ["m0", "m1", "m2"]


def test_an_interruption_between_log_and_columns_is_put_right_by_the_next_call(path, monkeypatch):
    store = recollex.open(path, embedder=recollex.GivenVectors(D))
    agent = store.agent("a")
    fill(agent, 0, 3)

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Columns, "extend_table", interrupt)
        with pytest.raises(KeyboardInterrupt):
            fill(agent, 3, 2)
    assert len(contents(agent)) == 3
    fill(agent, 5, 1)
    assert len(contents(agent)) in (4, 6)
    store.close()
    with opened(path) as agent:
        assert len(contents(agent)) in (4, 6)
        assert agent.verify().ok
