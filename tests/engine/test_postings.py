import dataclasses
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine import postings
from recollex_engine.errors import FormatError
from recollex_engine.pack import write_pack
from recollex_engine.postings import Postings
from recollex_kernels.postings import build_postings

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
            (int(found.memories[p]), *limits[found.codes[p], :2].tolist())
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
        read = Postings.read(Path(folder) / "postings", lengths(memories))
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
        Postings.read(tmp_path / "postings", np.zeros(1, np.uint32))


def test_lists_are_never_changed(tmp_path):
    build([[1, 2]], 0, 1, VOCABULARY).write(tmp_path / "postings")
    read = Postings.read(tmp_path / "postings", np.zeros(1, np.uint32))
    with pytest.raises(ValueError, match="read-only"):
        read.memories[0] = 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        read.first_memory = 5


@settings(deadline=None, max_examples=30)
@given(MEMORIES, st.integers(0, 30))
def test_lists_of_the_format_before_are_graded_when_they_are_read(memories, first):
    first = min(first, len(memories))
    built = build(memories, first, len(memories), VOCABULARY)
    offsets, terms = forward(memories)
    starts, held, counts = build_postings(
        offsets[first:], terms, 0, len(memories) - first, VOCABULARY
    )
    arrays = {"starts": starts, "memories": held + np.uint32(first), "counts": counts}
    meta = {"format": 2, "first_memory": first, "end_memory": len(memories)}
    with tempfile.TemporaryDirectory() as folder:
        write_pack(Path(folder) / "postings", arrays, meta)
        read = Postings.read(Path(folder) / "postings", lengths(memories))
    for mine, other in zip(read.lists, built.lists, strict=True):
        assert np.array_equal(mine, other)
