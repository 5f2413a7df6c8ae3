"""A crash, or a full disk, at each step of an erasure: nothing was erased, or all of it is."""

import errno
import gc
import os
import shutil

import pytest

import recollex
from recollex_engine.errors import StoreFullError
from recollex_engine.writing import checkpoint
from tests.engine.erasure.traces import assert_gone, unit
from tests.engine.faults.small_store import answers, contents, fill, opened, vectors

WORDS = ["anzibarin", "secret-id"]
CALLS = ("pwrite", "rename", "unlink", "rmdir", "fdatasync", "fsync", "ftruncate")


class Crash(BaseException):
    """The process is gone: nothing that it would do afterwards happens."""


class Disk:
    """Lets the first ``calls`` calls that change files happen, and none after them."""

    def __init__(self, monkeypatch, calls, error):
        self.calls, self.left, self.error = 0, calls, error
        for name in CALLS:
            monkeypatch.setattr(os, name, self.counted(getattr(os, name)))

    def counted(self, call):
        def counted(*arguments, **options):
            self.calls += 1
            if self.left is not None and self.calls > self.left:
                raise self.error()
            return call(*arguments, **options)

        return counted


def build(path, monkeypatch):
    monkeypatch.setattr(checkpoint, "LOG_BYTES", 3_000)
    with opened(path) as agent:
        fill(agent, 0, 12)
        agent.checkpoint()
        agent.retain("Zanzibarina.", id="secret-id", embedding=vectors(777, 1)[0])
        agent.facts.add("Zanzibarina", "is", "here", id="f", evidence=["secret-id"])
        fill(agent, 12, 12)
        agent.checkpoint()
        fill(agent, 24, 3)
        before = contents(agent), answers(agent)
    return before


@pytest.fixture(scope="module")
def states(tmp_path_factory):
    """A store, what it holds before and after an erasure, and how many calls that takes."""
    folder = tmp_path_factory.mktemp("erasure")
    with pytest.MonkeyPatch.context() as patch:
        before = build(folder / "store", patch)
        shutil.copytree(folder / "store", folder / "erased")
        with opened(folder / "erased") as agent:
            with pytest.MonkeyPatch.context() as inner:
                disk = Disk(inner, None, Crash)
                agent.erase("secret-id", by="ben", why="x")
                calls = disk.calls
            after = contents(agent), answers(agent)
    return folder / "store", before, after, calls


def attempt(path, monkeypatch, calls, error):
    """Erase with a disk that fails after some calls; return the error, if any."""
    store = recollex.open(path, embedder=recollex.GivenVectors(32))
    agent = store.agent("a")
    fill(agent, 27, 1)  # so that the log is open
    gc.collect()  # else a lock of an earlier attempt meets this attempt's disk in its `__del__`
    gc.disable()
    try:
        with monkeypatch.context() as patch:
            Disk(patch, calls, error)
            try:
                agent.erase("secret-id", by="ben", why="x")
            except BaseException as raised:
                return store, raised
        return store, None
    finally:
        gc.enable()


def assert_either(path, states, *, acknowledged):
    _, _, after, _ = states
    begun = (path / "agents" / "a" / "ERASE").exists()
    with opened(path, read_only=True) as agent:
        problems = agent.verify().problems
        assert [problem[:20] for problem in problems] == ["an erasure was begun"] * begun
        assert len(contents(agent)) in (28, 29)
    with opened(path) as agent:
        assert agent.verify().problems == ()
        held = [each for each in contents(agent) if each[0] != "m27"]
        ids = [id for id, _ in contents(agent)]
        assert "m27" in ids
        if "secret-id" in ids:
            assert not acknowledged
            assert not (path / "agents" / "a" / "ERASE").exists()
            assert len(agent.facts.find()) == 1
            agent.erase("secret-id", by="ben", why="again")
            held = [each for each in contents(agent) if each[0] != "m27"]
        assert held == after[0]
        assert len(agent.facts.find()) == 0
        assert len(agent.log(op="erase")) == 1
        assert agent.verify().problems == ()
        assert_gone(path, WORDS, [unit(vectors(777, 1)[0])])
        agent.forget("m27")
        agent.retain("One more of tea.", id="more", embedding=vectors(1, 1)[0])
    with opened(path) as agent:
        assert agent.verify().problems == ()


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_a_crash_at_each_call_leaves_all_or_nothing(states, tmp_path, monkeypatch, step):
    store, _, _, calls = states
    assert calls > 40
    completed = 0
    most = 100 if step > 1 else calls + 5  # the later calls are those of a checkpoint
    for left in range(0, most, step):
        path = tmp_path / f"crash-{left}"
        shutil.copytree(store, path)
        opened_store, error = attempt(path, monkeypatch, left, Crash)
        copy = tmp_path / f"after-{left}"
        shutil.copytree(path, copy, ignore=shutil.ignore_patterns("LOCK"))
        completed += (copy / "agents" / "a" / "ERASE").exists()
        assert_either(copy, states, acknowledged=error is None)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("warnings.warn", lambda *_, **__: None)
            try:
                opened_store.close()
            except StoreFullError:
                assert error is not None
        shutil.rmtree(path)
        shutil.rmtree(copy)
    assert completed > 20 / step


def test_a_full_disk_at_each_call_leaves_all_or_nothing(states, tmp_path, monkeypatch):
    store = states[0]

    def full():
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for left in range(0, 100, 17):
        path = tmp_path / f"full-{left}"
        shutil.copytree(store, path)
        opened_store, error = attempt(path, monkeypatch, left, full)
        assert isinstance(error, StoreFullError | None), repr(error)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("warnings.warn", lambda *_, **__: None)
            try:
                opened_store.close()
            except StoreFullError:
                assert error is not None
        assert_either(path, states, acknowledged=error is None)
        shutil.rmtree(path)


def test_a_writer_that_failed_midway_refuses_and_the_next_one_completes(
    states, tmp_path, monkeypatch
):
    store, _, after, calls = states
    path = tmp_path / "store"
    shutil.copytree(store, path)

    def full():
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    opened_store, error = attempt(path, monkeypatch, calls // 4, full)
    assert isinstance(error, StoreFullError)
    assert "completed when the agent is opened" in str(error)
    agent = opened_store.agent("a")
    with pytest.raises(StoreFullError):
        agent.forget("m1")
    assert len(agent.list()) == 29 or len(agent.list()) == 28
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        with pytest.raises(StoreFullError):
            opened_store.close()
            raise StoreFullError(None, "reported already")
    with opened(path) as agent:
        assert [each for each in contents(agent) if each[0] != "m27"] == after[0]
