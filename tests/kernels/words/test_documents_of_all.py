"""Which documents of a segment hold a term, all terms; in one part of 65,536 and in several."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.words.keyword import admitted_frequency, document_frequency
from recollex_kernels.words.postings import STOP, build_postings, documents_of_all
from recollex_kernels.words.segments import SLICE, list_of, postings_of, set_stops, slices_of, table
from tests.kernels.inputs import frozen
from tests.kernels.posting_lists import graded_lists

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

VOCABULARY = 4
texts = st.lists(st.lists(st.sampled_from([0, 1, 2, 3, int(STOP)]), max_size=6), max_size=20)
queries = st.lists(st.integers(0, VOCABULARY), min_size=1, max_size=4)  # may repeat, be unknown


def segment(texts, first, end):
    offsets = frozen(np.cumsum([0, *map(len, texts)]), np.int64)
    words = frozen([word for text in texts for word in text], np.uint32)
    lengths = frozen([len(text) for text in texts[first:end]], np.uint32)
    lists = build_postings(offsets, words, first, end, VOCABULARY)
    return graded_lists(*lists, lengths, first, end)


@given(texts, queries, st.integers(0, 25), st.data())
def test_they_hold_every_term_and_come_before_the_view_ends(texts, query, end, data):
    first = data.draw(st.integers(0, len(texts)))
    last = data.draw(st.integers(first, len(texts)))
    kept = segment(texts, first, last)
    asked = table([kept]), 0, frozen(query, np.uint32), end
    held = [set(text) - {int(STOP)} for text in texts]
    seen = range(first, min(last, end))
    assert documents_of_all(*asked).tolist() == [n for n in seen if set(query) <= held[n]]
    counts = [sum(term in held[n] for n in seen) for term in query]
    assert document_frequency(*asked).tolist() == counts


SIZES = [1, SLICE - 1, SLICE, SLICE + 1, 2 * SLICE, 3 * SLICE + 77]
HOLDERS = "none", "few", "first and last", "edges", "one part", "many", "all"


def holders(kind, size, rng):
    """Documents of a segment that hold a term."""
    edges = np.arange(0, size + SLICE, SLICE)[:, None] + np.array([-1, 0, 1])
    chosen = {
        "none": [],
        "few": rng.integers(0, size, 9),
        "first and last": [0, size - 1],
        "edges": edges.ravel(),
        "one part": np.arange(SLICE, 2 * SLICE),
        "many": np.flatnonzero(rng.random(size) < 0.05),
        "all": np.arange(size),
    }[kind]
    documents = np.unique(np.array(chosen, np.int64))
    return documents[(documents >= 0) & (documents < size)]


@pytest.mark.parametrize("size", SIZES)
def test_documents_of_several_parts_are_those_that_were_divided(size):
    rng = np.random.default_rng(size)
    first = 70_001
    held = [holders(kind, size, rng) for kind in HOLDERS]
    starts = np.cumsum([0, *map(len, held)])
    documents = (np.concatenate(held) + first).astype(np.uint32)
    counts, lengths = np.ones(len(documents), np.uint8), np.full(size, 7, np.uint32)
    kept = graded_lists(starts, documents, counts, lengths, first, first + size)
    lists = table([kept])
    assert slices_of(lists, 0) == -(-size // SLICE)
    numbers, stops = postings_of(lists, 0)[0], np.empty((2, slices_of(lists, 0) + 3), np.int64)
    allowed = frozen(rng.random(first + 2 * size) < 0.3, np.uint8)
    ends = {0, first + size // 2, first + size, first + 2 * size}
    ends |= {first + SLICE * part + step for part in range(5) for step in (-1, 0, 1)}
    for end in sorted(ends):
        seen = [(own + first)[: np.searchsorted(own, end - first)] for own in held]
        for term, expected in enumerate(seen):
            set_stops(lists, 0, np.uint32(term), end, 1, stops)
            own = stops[1]
            assert (own[slices_of(lists, 0) :] == own[-1]).all()
            read = [
                numbers[own[part] : own[part + 1]].astype(np.int64) + first + SLICE * part
                for part in range(slices_of(lists, 0))
            ]
            assert np.concatenate(read).tolist() == expected.tolist()
            assert own[0] == list_of(lists, 0, np.uint32(term))[0] == starts[term]
        terms = frozen([*range(len(held)), len(held)], np.uint32)
        counted = document_frequency(lists, 0, terms, end)
        assert counted.tolist() == [*map(len, seen), 0]
        admitted = admitted_frequency(lists, 0, terms, end, allowed)
        assert admitted.tolist() == [*(int(allowed[own].sum()) for own in seen), 0]
        for one, other in ((3, 5), (5, 6), (4, 3), (1, 6)):
            both = documents_of_all(lists, 0, frozen([one, other], np.uint32), end)
            assert both.tolist() == np.intersect1d(seen[one], seen[other]).tolist()
