import dataclasses
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.errors import CorruptError, FormatError
from recollex_engine.state import postings
from recollex_engine.state.postings import Postings
from recollex_engine.storage.content_file import read_arrays, write_arrays

STOP = 0xFFFFFFFF
VOCABULARY = 9
MEMORIES = st.lists(
    st.lists(st.sampled_from([*range(VOCABULARY), 0, 0, STOP]), max_size=12), max_size=30
)


def build(memories, first, end, vocabulary):
    offsets, terms = forward(memories)
    return Postings.build(
        offsets[first : end + 1], terms, lengths(memories)[first:end], first, vocabulary
    )


def lengths(memories):
    return np.array([sum(term != STOP for term in memory) for memory in memories], np.uint32)


def forward(memories):
    offsets = np.cumsum([0, *map(len, memories)]).astype(np.uint64)
    return offsets, np.array([term for memory in memories for term in memory], np.uint32)


def naive(memories, first, end):
    """For each term the memories that hold it, how often, and their length."""
    lists = {term: [] for term in range(VOCABULARY)}
    for memory in range(first, end):
        for term, count in sorted(Counter(memories[memory]).items()):
            if term != STOP:
                words = sum(each != STOP for each in memories[memory])
                lists[term].append((memory, min(count, 255), words))
    return lists


def lists_of(found):
    """The same, read from the codes: there are few pairs, so each has a code of its own."""
    limits = found.limits.reshape(4, 256).T
    assert (limits[:, :2] == limits[:, 2:]).all()
    return {
        term: [
            (found.first_memory + int(found.memories[p]), *limits[found.codes[p], :2].tolist())
            for p in range(found.starts[term], found.starts[term + 1])
        ]
        for term in range(len(found.starts) - 1)
    }


@settings(deadline=None)
@given(MEMORIES, st.integers(0, 30), st.integers(0, 30))
def test_lists_are_those_of_the_memories_alone_and_come_back_from_the_file(memories, first, count):
    first = min(first, len(memories))
    end = min(first + count, len(memories))
    built = build(memories, first, end, VOCABULARY)
    assert lists_of(built) == naive(memories, first, end)
    with tempfile.TemporaryDirectory() as folder:
        built.write(Path(folder) / "postings")
        read = Postings.read(Path(folder) / "postings")
    assert (read.first_memory, read.end_memory) == (first, end)
    assert lists_of(read) == naive(memories, first, end)


@settings(deadline=None)
@given(MEMORIES, st.integers(0, 30), st.integers(0, 12))
def test_segments_side_by_side_hold_what_one_holds(memories, cut, more):
    """And a dictionary that grew meanwhile adds empty lists alone."""
    cut = min(cut, len(memories))
    whole = lists_of(build(memories, 0, len(memories), VOCABULARY))
    left = lists_of(build(memories, 0, cut, VOCABULARY))
    right = lists_of(build(memories, cut, len(memories), VOCABULARY + more))
    assert {term: left[term] + right[term] for term in range(VOCABULARY)} == whole
    assert all(not right[term] for term in range(VOCABULARY, VOCABULARY + more))


def test_counts_stop_at_what_a_byte_holds():
    built = build([[3] * 300, [3, 1] * 255], 0, 2, VOCABULARY)
    assert lists_of(built)[3] == [(0, 255, 300), (1, 255, 510)]


def test_another_format_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(postings, "FORMAT", 7)
    build([[1]], 0, 1, VOCABULARY).write(tmp_path / "postings")
    monkeypatch.undo()
    with pytest.raises(FormatError, match="format 7"):
        Postings.read(tmp_path / "postings")


@pytest.mark.parametrize(
    "damage", [(b"first_memory", b"first^memory"), (b"end_memory", b"gnd_memory"), (b":1,", b":-,")]
)
def test_a_flipped_bit_in_the_header_is_corruption(tmp_path, damage):
    path = tmp_path / "postings"
    build([[1], [2]], 1, 2, VOCABULARY).write(path)
    path.write_bytes(path.read_bytes().replace(*damage, 1))
    with pytest.raises(CorruptError):
        Postings.read(path)


def test_lists_are_never_changed(tmp_path):
    build([[1, 2]], 0, 1, VOCABULARY).write(tmp_path / "postings")
    read = Postings.read(tmp_path / "postings")
    with pytest.raises(ValueError, match="read-only"):
        read.memories[0] = 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        read.first_memory = 5


def same(found, expected):
    for mine, other in zip(found.lists, expected.lists, strict=True):
        assert np.array_equal(mine, other)
        assert getattr(mine, "dtype", None) == getattr(other, "dtype", None)


def test_memories_of_several_parts_come_back_from_the_file(tmp_path):
    rng = np.random.default_rng(0)
    frequent = rng.random(140_000) < 0.4
    memories = [
        [0] * int(often) + ([1] if n % 997 == 0 else []) for n, often in enumerate(frequent)
    ]
    memories[65_536 + 7] += [2, 3]
    memories[131_072 + 7] += [3]
    built = build(memories, 7, len(memories), VOCABULARY)
    assert built.memories.dtype == np.uint16
    cuts = [np.cumsum(frequent[7:])[65_536 * part - 1] for part in (1, 2)]
    assert built.dense.tolist() == [0] and built.dense_cuts.tolist() == cuts
    cuts = [len(range(997, 7 + 65_536 * part, 997)) for part in (1, 2)]
    assert built.cuts.reshape(VOCABULARY, 2)[:4].tolist() == [[0, 0], cuts, [0, 1], [0, 1]]
    built.write(tmp_path / "postings")
    same(Postings.read(tmp_path / "postings"), built)


def test_arrays_that_do_not_fit_each_other_are_refused(tmp_path):
    memories = [[*range(VOCABULARY)], [2], [0, 8, 8]]
    path = tmp_path / "postings"
    build(memories, 0, 3, VOCABULARY).write(path)
    arrays, meta = read_arrays(path)
    for name, array in arrays.items():
        wider = array.astype(np.uint64) if name in ("memories", "codes") else array
        for lying in (array[:-1], np.append(array, array[-1:] + 1), wider):
            if (lying.dtype, len(lying)) != (array.dtype, len(array)):
                write_arrays(path, arrays | {name: lying}, meta)
                with pytest.raises(CorruptError, match="items"):
                    Postings.read(path)
        write_arrays(path, {own: held for own, held in arrays.items() if own != name}, meta)
        with pytest.raises(CorruptError):
            Postings.read(path)
