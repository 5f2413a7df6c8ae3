"""Whatever is pruned, the best are those of a full sort of every document's score, to the bit."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollex_kernels._bitmap import bitmap, listed, mark
from recollex_kernels._bm25 import scores_of
from recollex_kernels._impacts import DENSE, code_bounds, code_counts, code_values
from recollex_kernels._members import scores_among
from recollex_kernels.impacts import grade_postings
from recollex_kernels.keyword import SCRATCH, search_weighed
from recollex_kernels.postings import build_postings
from recollex_kernels.segments import table
from recollex_kernels.tail import extend_chains, publish_chains

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

FIXED, PER_WORD = np.float32(0.54), np.float32(0.02)


def frozen(values, dtype):
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array


class Bank:
    """Texts drawn so that a few words are everywhere, as forward terms, segments and a tail."""

    def __init__(self, rng, n, vocabulary, longest, ends, shorter_from=None):
        sizes = rng.integers(0, longest + 1, n)
        sizes[slice(n if shorter_from is None else shorter_from, None)] //= 30
        drawn = (vocabulary * rng.random(int(sizes.sum())) ** 3).astype(np.uint32)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        self.n, self.vocabulary = n, vocabulary
        self.first_row = frozen(np.arange(n + 1), np.uint32)
        self.offsets, self.terms = frozen(offsets, np.uint64), frozen(drawn, np.uint32)
        self.lengths = frozen(sizes, np.uint32)
        self.index(ends)

    def index(self, ends):
        self.segments = []
        for first, end in zip([0, *ends], ends, strict=False):
            starts, held, counts = build_postings(
                self.offsets, self.terms, first, end, self.vocabulary
            )
            graded = grade_postings(
                starts, held, counts, self.lengths[first:end], first, end, 0.9, 0.4
            )
            self.segments.append((starts, held, *graded, first, end))
            self.counts = counts
        self.tail = self.chained(ends[-1])

    def chained(self, first):
        latest, head = np.zeros(self.vocabulary, np.uint32), np.zeros(self.vocabulary, np.uint32)
        previous, held = np.zeros((2, len(self.terms) + 1), np.uint32)
        counts = np.zeros(len(self.terms) + 1, np.uint8)
        place = self.first_row, self.offsets, self.terms, first, self.n
        extend_chains(*place, 1, latest, previous, held, counts)
        publish_chains(*place, latest, head)
        return head, previous, held, counts

    def scores(self, terms, idf):
        out = np.empty(self.n, np.float32)
        every = frozen(np.arange(self.n), np.uint32)
        forward = self.first_row, self.offsets, self.terms, self.lengths
        scores_of(every, *forward, FIXED, PER_WORD, terms, idf, out)
        return out

    def search(self, terms, idf, end, allowed, k):
        scratch = np.zeros((SCRATCH, self.n + 128), np.uint32)
        found, scores = np.empty(k, np.uint32), np.empty(k, np.float32)
        count = search_weighed(
            *(table(self.segments), *self.tail, self.lengths, self.first_row, self.offsets),
            *(self.terms, terms, idf, FIXED, PER_WORD, end, allowed, k, scratch, found, scores),
        )
        assert not scratch[:2].any()  # as they were
        return found[:count], scores[:count]


def check(bank, terms, idf, end, allowed, k):
    found, best = bank.search(terms, idf, end, allowed, k)
    scores = bank.scores(terms, idf)
    order = [m for m in range(end) if allowed[m] and scores[m] > 0]
    order = sorted(order, key=lambda m: (-scores[m], m))[:k]
    assert found.tolist() == order
    assert best.tobytes() == scores[order].tobytes()


def asked(rng, vocabulary, count):
    terms = rng.permutation(vocabulary + 2)[:count]
    idf = rng.choice([0.2, 0.5, 1.0, 3.0, 7.0], len(terms))
    return frozen(terms, np.uint32), frozen(idf, np.float32)


@given(st.integers(0, 999), st.integers(1, 60), st.integers(0, 8), st.integers(0, 9), st.data())
def test_few_documents_equal_a_full_sort(seed, n, count, k, data):
    rng = np.random.default_rng(seed)
    ends = sorted(data.draw(st.lists(st.integers(0, n), min_size=1, max_size=3)))
    bank = Bank(rng, n, 9, 12, ends)
    end = data.draw(st.integers(0, n))
    check(bank, *asked(rng, 9, count), end, frozen(rng.random(n) < 0.8, np.uint8), k)


@settings(max_examples=60)
@given(
    st.integers(0, 999),
    st.sampled_from([40, 600, 5000]),
    st.sampled_from([6, 30, 300]),
    st.sampled_from([0.01, 0.5, 1.0]),
    st.sampled_from([1, 100, 130, 400]),
)
@example(1, 5000, 6, 1.0, 100)
@example(2, 300, 6, 1.0, 10)
def test_many_documents_equal_a_full_sort(seed, vocabulary, longest, share, k):
    """Frequent words have columns; in long texts a code stands for many pairs."""
    rng = np.random.default_rng(seed)
    n = 9000 if longest < 300 else 2000
    bank = Bank(rng, n, vocabulary, longest, [n // 2, n - 300])
    terms, idf = asked(rng, vocabulary, int(rng.integers(1, 9)))
    if rng.random() < 0.5:  # one word that nearly all hold, so that the others decide
        kept = terms != 0
        terms = frozen([*terms[kept], 0], np.uint32)
        idf = frozen([*idf[kept], 0.1], np.float32)
    end = n - int(rng.choice([0, 100, 4000 if n > 4000 else 0]))
    check(bank, terms, idf, end, frozen(rng.random(n) < share, np.uint8), k)


@pytest.mark.parametrize("seed", range(12))
def test_segments_of_long_and_of_short_documents_equal_a_full_sort(seed):
    """Of the long ones a code stands for many lengths: sums say less than those of the short."""
    rng = np.random.default_rng(seed)
    n, vocabulary = 3000, 3000
    ends = [1500, 2900]
    bank = Bank(rng, n, vocabulary, 900, ends, shorter_from=1500)
    terms, idf = asked(rng, vocabulary // 20, 6)
    check(bank, terms, idf, n, frozen(np.ones(n), np.uint8), 20)


@pytest.mark.parametrize("holders", [120, 3000, 9000])
@pytest.mark.parametrize("share", [0.001, 0.3, 1.0])
def test_more_documents_than_a_window_equal_a_full_sort(holders, share):
    """What a guess left out is found again: of few that are allowed, none may reach it."""
    rng = np.random.default_rng(holders)
    n, vocabulary = 80_000, 60
    sizes = rng.integers(1, 9, n)
    drawn = rng.integers(40, vocabulary, int(sizes.sum()))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    for term in range(6):
        drawn[offsets[rng.permutation(n)[: holders // (1 + term % 3)]]] = term
    bank = Bank.__new__(Bank)
    bank.n, bank.vocabulary = n, vocabulary
    bank.first_row = frozen(np.arange(n + 1), np.uint32)
    bank.offsets, bank.terms = frozen(offsets, np.uint64), frozen(drawn, np.uint32)
    bank.lengths = frozen(sizes, np.uint32)
    bank.index([n - 100])
    terms = frozen([5, 41, 3, 0, 2, 50, 1], np.uint32)
    idf = frozen([3.0, 0.4, 4.0, 4.5, 3.5, 0.3, 5.0], np.float32)
    allowed = frozen(rng.random(n) < share, np.uint8)
    for end in (n, n - 30_000):
        for k in (1, 100):
            check(bank, terms, idf, end, allowed, k)
        check(bank, terms[1:2], idf[1:2], end, allowed, 100)  # a word with a column alone


@settings(max_examples=40)
@given(st.integers(0, 999), st.sampled_from([3, 60, 700]), st.sampled_from([8, 500]))
def test_a_code_says_what_its_postings_add(seed, longest, vocabulary):
    rng = np.random.default_rng(seed)
    bank = Bank(rng, 500, vocabulary, longest, [500])
    (segment,) = bank.segments
    starts, held, codes, limits, dense, greatest, columns, first, end = segment
    assert codes.size == 0 or codes.min() >= 1
    values, most, one_count = np.empty((3, 256), np.float32)
    ratio = code_bounds(limits, FIXED, PER_WORD, most)
    code_values(limits, FIXED, PER_WORD, values)
    code_counts(limits, one_count)
    counts = bank.counts.astype(np.float32)
    added = counts / (counts + (FIXED + PER_WORD * bank.lengths[held].astype(np.float32)))
    assert (added <= most[codes]).all()
    assert (added * ratio * (1 + 1e-6) >= most[codes]).all()
    exact = values[codes] > 0
    known = one_count[codes] > 0
    assert (one_count[codes][known] == counts[known]).all() and known[counts < 12].all()
    assert (added[exact] == values[codes][exact]).all()
    assert np.isneginf(values[codes][~exact]).all()
    assert exact.all() or longest > 3
    sizes = np.diff(starts)
    assert dense.tolist() == np.flatnonzero(sizes * DENSE > end - first).tolist()
    for term, high, column in zip(dense, greatest, columns.reshape(-1, 500), strict=True):
        expected = np.zeros(500, np.uint8)
        expected[held[starts[term] : starts[term + 1]]] = codes[starts[term] : starts[term + 1]]
        assert (column == expected).all()
        assert column.max() == high


@pytest.mark.parametrize("longest", [20, 700])
@pytest.mark.parametrize("seed", range(8))
def test_scores_among_memories_are_those_of_their_own_words(seed, longest):
    rng = np.random.default_rng(seed)
    n = 1500
    bank = Bank(rng, n, 400, longest, [400, 1400] if seed % 2 else [1400])
    terms, idf = asked(rng, 400, 6)
    for size in (1, 30, 900):  # few are read by their own words
        end = int(rng.choice([n, 700]))
        bits = bitmap(end)
        for m in rng.integers(0, end, size).tolist():
            mark(bits, m)
        memories, before = listed(bits)
        chosen = np.sort(rng.permutation(len(memories))[: max(1, len(memories) * 2 // 3)])
        texts = bank.lengths, bank.offsets, bank.terms, float(FIXED), float(PER_WORD)
        asked_for = (table(bank.segments), *texts, terms, idf)
        found = scores_among(bits, before, memories, chosen, bank.first_row, asked_for)
        assert found.tobytes() == bank.scores(terms, idf)[memories[chosen]].tobytes()
