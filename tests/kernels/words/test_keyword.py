from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.words.bm25 import best_rows, scores_of
from recollex_kernels.words.keyword import NONE, word_weights
from recollex_kernels.words.postings import STOP, build_postings
from recollex_kernels.words.segments import table
from recollex_kernels.words.tail import (
    BLOCK,
    add_chains,
    chain_frequency,
    extend_chains,
    publish_chains,
)
from tests.kernels.inputs import frozen, kept
from tests.kernels.posting_lists import graded_lists

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

VOCABULARY = 6
tokens = st.sampled_from([0, 1, 2, 3, 4, 5, int(STOP)])
documents = st.lists(st.lists(tokens, max_size=8), max_size=20)
queries = st.lists(st.integers(0, VOCABULARY + 2), max_size=6)  # may repeat, may be unknown


def forward(texts, offset_type=np.int64):
    offsets = np.cumsum([0] + [len(text) for text in texts])
    return frozen(offsets, offset_type), frozen(list(chain.from_iterable(texts)), np.uint32)


def chained(texts, first, steps=()):
    """The chains of documents from ``first`` on, extended in steps; two rows a document."""
    offsets, terms = forward(texts, np.uint64)
    rows = frozen(np.repeat(offsets, 2)[:-1], np.uint64)  # each first row is empty
    first_row = frozen(np.arange(len(texts) + 1) * 2, np.uint32)
    latest, head = np.zeros(VOCABULARY, np.uint32), np.zeros(VOCABULARY, np.uint32)
    room, size = BLOCK * (len(terms) + 1), BLOCK
    postings, counts = np.zeros(room, np.uint32), np.zeros(room, np.uint8)
    for end in (*steps, len(texts)):
        size = extend_chains(*(first_row, rows, terms, first, end, size, latest, postings, counts))
        publish_chains(first_row, rows, terms, first, end, latest, head)
        first = max(first, end)
    for array in (head, postings, counts):
        kept(array)
    return head, postings, counts


def holding(texts, first, end, term):
    return [row for row in range(first, end) if term in texts[row]]


@given(documents, st.sampled_from([np.int64, np.uint64]), st.data())
def test_postings_equal_a_count_of_each_row(texts, offset_type, data):
    first = data.draw(st.integers(0, len(texts)))
    end = data.draw(st.integers(first, len(texts)))
    starts, rows, counts = build_postings(*forward(texts, offset_type), first, end, VOCABULARY)
    for term in range(VOCABULARY):
        expected = holding(texts, first, end, term)
        where = slice(starts[term], starts[term + 1])
        assert rows[where].tolist() == expected
        assert counts[where].tolist() == [texts[row].count(term) for row in expected]
    assert starts[-1] == rows.size == counts.size


def test_counts_saturate():
    texts = [[0] * 255, [0] * 256, [0] * 300 + [1]]
    counts = build_postings(*forward(texts), 0, 3, 2)[2]
    assert counts.tolist() == [255, 255, 255, 1]
    counts = chained(texts, 0)[2]
    assert counts[BLOCK + 1 : BLOCK + 4].tolist() == [255, 255, 255]
    assert counts[2 * BLOCK + 1] == 1


@given(documents, queries, st.data())
def test_chain_frequency_counts_the_documents_before_the_view(texts, query, data):
    first = data.draw(st.integers(0, len(texts)))
    end = data.draw(st.integers(0, len(texts)))
    steps = data.draw(st.lists(st.integers(first, len(texts)), max_size=3))
    head, postings, _ = chained(texts, first, sorted(steps))
    found = chain_frequency(head, postings, frozen(query, np.uint32), end)
    assert found.tolist() == [len(holding(texts, first, end, term)) for term in query]


def naive(texts, end, query, idf, lengths, norm):
    """The equation, in float32, words in the query's order."""
    out = np.zeros(end, np.float32)
    for row in range(end):
        added = norm[0] + norm[1] * np.float32(lengths[row])
        for weight, term in zip(idf, query, strict=True):
            f = np.float32(texts[row].count(term) if term < VOCABULARY else 0)
            if f:
                out[row] += weight * (f / (f + added))
    return out


@given(documents, st.lists(st.integers(0, VOCABULARY + 2), max_size=6, unique=True), st.data())
def test_scores_have_the_same_bits_by_chains_and_by_a_documents_own_words(texts, query, data):
    n = len(texts)
    rng = np.random.default_rng(n * 31 + len(query))
    split, end = data.draw(st.integers(0, n)), data.draw(st.integers(0, n))
    idf = frozen(rng.uniform(0.1, 9, len(query)), np.float32)
    lengths = frozen([len(text) for text in texts], np.uint32)
    norm, terms = tuple(rng.uniform(0.1, 3, 2).astype(np.float32)), frozen(query, np.uint32)
    expected = naive(texts, n, query, idf, lengths, norm)
    out = np.zeros(max(end - split, 0), np.float32)
    chains = chained(texts, split, [(split + n) // 2])
    weights = terms, idf, *norm
    add_chains(chains, lengths[split:], weights, split, end, out)
    assert out.tobytes() == expected[split:end].tobytes()
    first_row, (offsets, forward_terms) = frozen(np.arange(n + 1), np.uint32), forward(texts)
    found = np.empty(n, np.float32)
    every = frozen(rng.permutation(n), np.uint32)
    scores_of(every, (lengths, first_row, offsets, forward_terms), weights, found)
    assert found.tobytes() == expected[every].tobytes()


def test_scores_count_a_word_at_most_255_times():
    texts = [[3] * 300, [3] * 255]
    lengths = frozen([9, 9], np.uint32)  # so that the norm is the same
    found = np.empty(2, np.float32)
    first_row, one = frozen([0, 1, 2], np.uint32), np.float32(1)
    asked = frozen([3], np.uint32), frozen([2.0], np.float32)
    documents = frozen([0, 1], np.uint32)
    held = lengths, first_row, *forward(texts)
    scores_of(documents, held, (*asked, one, one), found)
    assert found[0] == found[1] > 0


@given(
    st.lists(st.lists(st.lists(tokens, max_size=6), min_size=1, max_size=4), max_size=8),
    st.lists(st.integers(0, VOCABULARY - 1), max_size=4, unique=True),
)
def test_best_rows_equal_scoring_every_passage_of_every_memory(memories, query):
    rng = np.random.default_rng(len(memories))
    idf = frozen(rng.choice([0.5, 1.0], len(query)), np.float32)  # few values force ties
    first_row = np.cumsum([0] + [len(passages) for passages in memories])
    passages = [passage for of in memories for passage in of]
    fixed, per_word = np.float32(0.5), np.float32(0.25)

    def weight(row):
        total = np.float32(0)
        for each, term in zip(idf, query, strict=True):
            f = np.float32(passages[row].count(term))
            if f:
                total += each * (f / (f + (fixed + per_word * np.float32(len(passages[row])))))
        return total

    expected = [
        max(range(first_row[m], first_row[m + 1]), key=lambda row: (weight(row), -row))
        for m in range(len(memories))
    ]
    found = np.empty(len(memories), np.uint32)
    best_rows(
        (frozen([], np.uint32), frozen(first_row, np.uint32), *forward(passages, np.uint64)),
        frozen(range(len(memories)), np.uint32),
        (frozen(query, np.uint32), idf, fixed, per_word),
        *(len(memories), found),
    )
    assert found.tolist() == expected


@pytest.mark.parametrize("similar", [0, 2])
@pytest.mark.parametrize("share", [1.0, 0.4, 0.0])
@pytest.mark.parametrize("seed", range(6))
def test_words_weigh_by_the_allowed_documents_that_hold_them(seed, share, similar):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([5, 60, 900]))
    texts = [rng.integers(0, VOCABULARY, rng.integers(0, 9)).tolist() for _ in range(n)]
    split, end = n * 2 // 3, n - n // 10
    terms = frozen([4, int(NONE), 1, VOCABULARY + 1, 3], np.uint32)
    segments = []
    for first, last in ((0, split // 2), (split // 2, split)):
        lists = build_postings(*forward(texts), first, last, VOCABULARY)
        lengths = frozen([len(text) for text in texts[first:last]], np.uint32)
        segments.append(graded_lists(*lists, lengths, first, last))
    head, postings, _ = chained(texts, split)
    known, idf = np.empty(5, np.uint32), np.empty(5, np.float32)
    allowed = frozen(rng.random(n) < share, np.uint8)
    population = int(allowed[:end].sum())
    shares = frozen([0.6, 0.75][:similar], np.float32)
    words = terms, shares
    count, most, unmet = word_weights(
        *(table(segments), head, postings, words, end, allowed, population, known, idf)
    )
    known, idf = known[:count], idf[:count]
    held = [
        [row for row in holding(texts, 0, end, term) if allowed[row]] for term in terms.tolist()
    ]
    frequency = np.array([len(rows) for rows in held])
    expected = np.log1p((population - frequency + 0.5) / (frequency + 0.5))
    said = 5 - similar
    expected[said:] *= shares
    order = [0, 2, 3, 4]
    assert known.tolist() == terms[order].tolist()
    np.testing.assert_allclose(idf, expected[order], rtol=1e-6)
    np.testing.assert_allclose(
        [most, unmet],
        [expected[:said].sum(), expected[:said][frequency[:said] == 0].sum() / most],
    )
