"""Which documents hold phrases; in segments, in none, of several rows, and before a view's end."""

from itertools import chain

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.words.postings import STOP, build_postings, documents_holding
from recollex_kernels.words.segments import places, table
from tests.kernels.inputs import frozen, kept
from tests.kernels.posting_lists import graded_lists

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

VOCABULARY = 4
rows = st.lists(st.sampled_from([0, 1, 2, 3, int(STOP)]), max_size=6)
documents = st.lists(st.lists(rows, min_size=1, max_size=3), max_size=16)
phrases = st.lists(
    st.lists(st.sampled_from([0, 1, 2, 3, VOCABULARY, int(STOP)]), max_size=3), max_size=3
)


def segment(texts, first, end):
    """The posting lists of documents [first, end), each with all of its rows as one text."""
    joined = [list(chain.from_iterable(text)) for text in texts]
    offsets = frozen(np.cumsum([0, *map(len, joined)]), np.int64)
    words = frozen(list(chain.from_iterable(joined)), np.uint32)
    lengths = frozen([len(text) for text in joined[first:end]], np.uint32)
    lists = build_postings(offsets, words, first, end, VOCABULARY)
    return graded_lists(*lists, lengths, first, end)


def places_of(texts):
    """What `documents_holding` reads of documents, as a view keeps it; without chains."""
    every = list(chain.from_iterable(texts))
    nothing, counts = kept(np.zeros(0, np.uint32)), kept(np.zeros(0, np.uint8))
    forward = (
        frozen([sum(map(len, text)) for text in texts], np.uint32),
        frozen(np.cumsum([0, *map(len, texts)]), np.uint32),
        frozen(np.cumsum([0, *map(len, every)]), np.uint64),
        frozen(list(chain.from_iterable(every)), np.uint32),
    )
    return places((nothing, nothing, counts, *forward)), forward


def holds(text, phrase):
    size = len(phrase)
    return any(row[i : i + size] == phrase for row in text for i in range(len(row) - size + 1))


@given(documents, phrases, st.data())
def test_they_are_those_in_which_a_search_at_every_place_finds_the_phrases(texts, asked, data):
    middle = data.draw(st.integers(0, len(texts)))
    indexed = data.draw(st.integers(middle, len(texts)))
    end = data.draw(st.integers(0, len(texts)))
    allowed = frozen(data.draw(st.lists(st.booleans(), min_size=end, max_size=end)), np.uint8)
    bounds = [(0, middle), (middle, indexed)] if middle and indexed > middle else [(0, indexed)]
    segments = [segment(texts, first, last) for first, last in bounds if last > first]
    texts_at, _forward = places_of(texts)  # the arrays live while they are read
    words = frozen(list(chain.from_iterable(asked)), np.uint32)
    ends = frozen(np.cumsum([len(phrase) for phrase in asked]), np.int64)
    found, counts = documents_holding(table(segments), texts_at, words, ends, end, allowed)
    held = [sum(holds(text, phrase) for phrase in asked) for text in texts[:end]]
    expected = [(d, count) for d, count in enumerate(held) if allowed[d] and count]
    assert list(zip(found.tolist(), counts.tolist(), strict=True)) == expected
