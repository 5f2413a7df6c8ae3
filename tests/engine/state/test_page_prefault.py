import mmap
import os
import resource
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import recollex
from recollex_engine.state import page_prefault
from recollex_engine.state.page_prefault import map_ahead, map_resident, touch, touch_codes
from recollex_engine.state.view import Indexes

PAGES = 16_384
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel of Linux")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file"
    path.write_bytes((b"\1" + os.urandom(mmap.PAGESIZE - 1)) * PAGES)
    return path


def opened(path):
    with path.open("rb") as file:
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)


def faults(array):
    before = resource.getrusage(resource.RUSAGE_SELF)
    total = int(array[:: mmap.PAGESIZE].sum())
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert total
    return after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt


def supported(path):
    if map_resident([opened(path)]) == 0:
        pytest.skip("this kernel maps nothing ahead")


def test_what_lies_in_memory_is_mapped_without_a_fault_left(path):
    supported(path)
    without, ahead = opened(path), opened(path)
    assert map_resident([ahead]) == PAGES * mmap.PAGESIZE
    assert faults(ahead) * 4 < faults(without)


def test_touching_leaves_few_faults(path):
    without, touched = opened(path), opened(path)
    touch([touched, touched[:0]])
    left, before = faults(touched), faults(without)
    if before > PAGES // 2:
        pytest.skip("this kernel maps the touched page alone")
    assert left * 4 < before


def test_only_whole_pages_within_an_array_are_touched(path):
    supported(path)
    part = opened(path)[100 : 50 * mmap.PAGESIZE + 5]
    assert map_resident([part, part[:10], part[:0]]) == 49 * mmap.PAGESIZE


def test_no_more_than_the_most_is_mapped(path, monkeypatch):
    supported(path)
    monkeypatch.setattr(page_prefault, "CHUNK", 64 * mmap.PAGESIZE)
    monkeypatch.setattr(page_prefault, "MOST", 200 * mmap.PAGESIZE)
    assert map_resident([opened(path), opened(path)]) == 192 * mmap.PAGESIZE


def test_nothing_is_read_from_a_disk(path):
    supported(path)
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    array = opened(path)
    before = resource.getrusage(resource.RUSAGE_SELF)
    mapped = map_resident([array])
    after = resource.getrusage(resource.RUSAGE_SELF)
    if mapped == PAGES * mmap.PAGESIZE and after.ru_inblock == before.ru_inblock:
        pytest.skip("this file system keeps its pages in memory")
    assert mapped == 0
    assert (after.ru_inblock, after.ru_majflt) == (before.ru_inblock, before.ru_majflt)


@pytest.mark.parametrize("call", ["madvise", "mincore"])
def test_a_system_that_cannot_is_let_be(path, monkeypatch, call):
    class Refusing:
        madvise = staticmethod(lambda *_: 0)
        mincore = staticmethod(lambda *_: 0)

    monkeypatch.setattr(Refusing, call, staticmethod(lambda *_: -1))
    monkeypatch.setattr(page_prefault, "_libc", Refusing)
    assert map_resident([opened(path)]) == 0


def test_an_agent_is_mapped_once_behind_its_first_recall_and_answers_the_same(
    tmp_path, monkeypatch
):
    threads = []

    def noted(view):
        threads.append(map_ahead(view))
        return threads[-1]

    monkeypatch.setattr("recollex_engine.agents.readable_agent.map_ahead", noted)
    vectors = np.random.default_rng(1).normal(size=(600, 64)).astype(np.float32)
    texts = [f"Ann saw boat {n}." for n in range(600)]
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(64)) as store:
        store.agent("a").retain_many(texts, embedding=vectors)

    def ask(least, read_only, past=False):
        monkeypatch.setattr(page_prefault, "LEAST", least)
        embedder = recollex.GivenVectors(64)
        with recollex.open(tmp_path, embedder=embedder, read_only=read_only) as store:
            agent = store.agent("a")
            assert not threads
            moment = agent.get(agent.list(limit=1)[0].id).recorded_at
            options = {"as_recorded": moment} if past else {}
            found = [
                agent.recall("boat 7", query_embedding=vectors[n], **options).ids for n in range(3)
            ]
        (thread,) = threads
        threads.clear()
        assert (thread is None) == (least > 1)
        if thread is not None:
            thread.join()
        return found

    assert ask(1, True) == ask(1, False) == ask(1 << 20, True) == ask(1, True, past=True)


@pytest.mark.parametrize(("rows", "expected"), [(5_000, [240_000, 960_000]), (300, None)])
def test_codes_are_touched_before_the_first_recall_alone(tmp_path, monkeypatch, rows, expected):
    touched = []
    monkeypatch.setattr(page_prefault, "touch", touched.append)
    monkeypatch.setattr(
        page_prefault, "_thread", SimpleNamespace(start_new_thread=lambda call, given: call(*given))
    )
    vectors = np.random.default_rng(1).normal(size=(rows, 384)).astype(np.float32)
    embedder = recollex.GivenVectors(384, links=False)
    with recollex.open(tmp_path, embedder=embedder, durability="off") as store:
        store.agent("a").retain_many([f"Boat {n}." for n in range(rows)], embedding=vectors)
    with recollex.open(tmp_path, embedder=embedder, read_only=True) as store:
        agent = store.agent("a")
        view = agent.engine.view()
        assert touched == []
        for n in range(2):
            agent.recall("boat 7", query_embedding=vectors[n])
        assert [[len(codes) for codes in each] for each in touched] == [expected] * bool(expected)
        touch_codes(SimpleNamespace(columns=view.columns, indexes=Indexes(graphs=(None,))))
        assert len(touched) == bool(expected)
