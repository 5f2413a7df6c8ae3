"""Bits that flip on the disk: nothing dies, and no answer is wrong in silence.

Every file of a store is flipped in many places, one bit at a time, and opened for reading and for
writing in a process of its own. What it answers is compared with what it answered before. It may
answer the same, or warn, or raise an error of recollex. After it was opened for writing with
the same answers, the next opening has nothing to say.
"""

import os
import random
import shutil

import pytest

from recollex_engine.state import integrity
from recollex_engine.state.manifest import Manifest
from recollex_engine.storage.content_file import read_arrays, whole_file
from tests.engine.faults import flipped_store
from tests.faults import flips
from tests.faults.flips import Flipping, is_fault, places_in

PLACES = int(os.environ.get("RECOLLEX_FLIPS", "2000"))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("flips") / "store"
    with flipped_store.small_parts():
        flipped_store.make(path)
        yield path


def sample(places, eager):
    return random.Random(eager).sample(places, 32)


@pytest.mark.parametrize("eager", [integrity.EAGER, 0], ids=["small", "large"])
def test_a_flipped_bit_in_any_file_is_never_a_wrong_answer_in_silence(store, tmp_path, eager):
    """An agent is large if its files are compared beside the first recalls, here all of them."""
    places = sample(places_in(store, 240, seed=1), eager)
    jobs = [("ro", places[:22]), ("rw", places[22:])]
    found = Flipping(store, tmp_path, eager).run(jobs)
    assert len(found) == len(places)
    assert [each for each in found if is_fault(each)] == []


def test_a_flipped_bit_of_an_encrypted_agent_is_never_a_wrong_answer_in_silence(tmp_path):
    store, key = tmp_path / "store", bytes(range(32))
    with flipped_store.small_parts():
        flipped_store.make(store, key)
    places = sample(places_in(store, 240, seed=1), 0)
    jobs = [("ro", places[:22]), ("rw", places[22:])]
    found = Flipping(store, tmp_path, 0, key=key).run(jobs)
    assert len(found) == len(places)
    assert [each for each in found if is_fault(each)] == []


def test_verify_names_a_bit_that_flips_while_the_agent_is_open(store, tmp_path):
    copy = tmp_path / "store"
    shutil.copytree(store, copy)
    folder = copy / "agents" / "a"
    with flipped_store.opened(copy, read_only=True) as opened:
        agent = opened.agent("a")
        assert agent.verify().ok
        arrays = read_arrays(folder / "segment-0001" / "postings-2")[0]
        graph = next(folder.glob("graphs/*"))
        places = {name: array.ctypes.data for name, array in arrays.items() if array.size}
        start = whole_file(arrays).ctypes.data
        assert {"limits", "dense", "greatest", "columns"} <= places.keys()
        for path, name, at in [
            *((folder / "segment-0001" / "postings-2", n, p - start) for n, p in places.items()),
            *((graph, "", graph.stat().st_size * part // 8) for part in (2, 4, 7)),
        ]:
            flipped_store.flip(path, at, 3)
            problems = agent.verify().problems
            assert any(path.name in each or f"differ in {name}" in each for each in problems), name
            flipped_store.flip(path, at, 3)
        assert agent.verify().ok


def test_closing_a_writer_rebuilds_what_was_not_compared_before(store, tmp_path, monkeypatch):
    monkeypatch.setattr(integrity, "EAGER", 0)
    monkeypatch.setattr(integrity, "PAUSE", 60)
    copy = tmp_path / "store"
    shutil.copytree(store, copy)
    flipped_store.flip(copy / "agents" / "a" / "columns" / "event_ids.heap", 9, 3)
    said = pytest.warns(RuntimeWarning, match=r"event_ids.heap: expected checksum")
    with said, flipped_store.opened(copy) as opened:
        opened.agent("a")
    with flipped_store.opened(copy, read_only=True) as opened:
        assert opened.agent("a").verify().ok


def test_the_last_segment_of_a_large_agent_is_compared_before_it_is_read(
    store, tmp_path, monkeypatch
):
    """Its file is read beside the opening of the columns, and a second thread is not waited for."""
    monkeypatch.setattr(integrity, "EAGER", 0)
    monkeypatch.setattr(integrity, "PAUSE", 60)
    copy = tmp_path / "store"
    shutil.copytree(store, copy)
    folder = copy / "agents" / "a"
    last = folder / Manifest.read(folder).segments[-1].postings
    flipped_store.flip(last, last.stat().st_size // 2, 3)
    said = pytest.warns(
        RuntimeWarning, match=r"an index is missing or damaged .*postings-.* checksum"
    )
    with flipped_store.opened(copy, read_only=True) as opened, said:
        opened.agent("a").list()


@pytest.mark.slow
def test_many_flipped_bits(store, tmp_path):
    assert flips.run(store, tmp_path, PLACES)[0] == []


@pytest.mark.parametrize(
    ("name", "at", "bit"),
    [
        ("trust", 67, 4),
        ("role", 17, 6),
        ("source", 252, 5),
        ("fact_kind", 69, 6),
        ("closed_by", 128, 3),
    ],
)
def test_a_damaged_code_of_a_large_agent_is_rebuilt_before_it_is_read(
    store, tmp_path, monkeypatch, name, at, bit
):
    """Each ended a call in an IndexError, a KeyError or an InputError."""
    monkeypatch.setattr(integrity, "EAGER", 0)
    monkeypatch.setattr(integrity.Integrity, "start", lambda self: None)
    copy = tmp_path / "store"
    shutil.copytree(store, copy)
    with flipped_store.opened(copy, read_only=True) as opened:
        expected = flipped_store.answers(opened)
    flipped_store.flip(copy / "agents/a/columns" / name, at, bit)
    with (
        pytest.warns(RuntimeWarning, match=f"columns/{name}: .*; rebuilding from the log"),
        flipped_store.opened(copy, read_only=True) as opened,
    ):
        assert flipped_store.answers(opened) == expected
