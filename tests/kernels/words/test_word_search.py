"""Whatever is pruned, the best are those of a full sort of every document's score, to the bit."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollex_kernels.machine.bit_masks import bitmap, listed, mark
from recollex_kernels.words.bm25 import scores_of
from recollex_kernels.words.impacts import DENSE, code_bounds, code_counts, code_values
from recollex_kernels.words.keyword import (
    NONE,
    SCRATCH,
    _best,
    search_weighed,
    search_words,
    word_frequencies,
)
from recollex_kernels.words.memory_scores import scores_among
from recollex_kernels.words.postings import build_postings
from recollex_kernels.words.segments import SLICE, places, table
from recollex_kernels.words.tail import BLOCK, extend_chains, publish_chains
from tests.kernels.inputs import frozen
from tests.kernels.posting_lists import graded_lists

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

FIXED, PER_WORD = np.float32(0.54), np.float32(0.02)


class Bank:
    """Texts drawn so that a few words are everywhere, as forward terms, segments and a tail."""

    def __init__(self, rng, n, vocabulary, longest, ends, shorter_from=None):
        sizes = rng.integers(0, longest + 1, n)
        sizes[slice(n if shorter_from is None else shorter_from, None)] //= 30
        drawn = (vocabulary * rng.random(int(sizes.sum())) ** 3).astype(np.uint32)
        self.hold(np.concatenate([[0], np.cumsum(sizes)]), drawn, sizes, vocabulary, ends)

    @classmethod
    def of(cls, *forward):
        bank = cls.__new__(cls)
        bank.hold(*forward)
        return bank

    def hold(self, offsets, drawn, sizes, vocabulary, ends):
        self.n, self.vocabulary = len(sizes), vocabulary
        self.first_row = frozen(np.arange(self.n + 1), np.uint32)
        self.offsets, self.terms = frozen(offsets, np.uint64), frozen(drawn, np.uint32)
        self.lengths = frozen(sizes, np.uint32)
        self.index(ends)

    def index(self, ends):
        self.segments = []
        for first, end in zip([0, *ends], ends, strict=False):
            starts, held, counts = build_postings(
                self.offsets, self.terms, first, end, self.vocabulary
            )
            built = starts, held, counts, self.lengths[first:end], first, end
            self.segments.append(graded_lists(*built))
            self.built = built[:3]
        self.tail = self.chained(ends[-1])

    def chained(self, first):
        latest, head = np.zeros(self.vocabulary, np.uint32), np.zeros(self.vocabulary, np.uint32)
        room = BLOCK * (len(self.terms) + 1)
        postings, counts = np.zeros(room, np.uint32), np.zeros(room, np.uint8)
        place = self.first_row, self.offsets, self.terms, first, self.n
        extend_chains(*place, BLOCK, latest, postings, counts)
        publish_chains(*place, latest, head)
        return head, postings, counts

    def scores(self, terms, idf):
        out = np.empty(self.n, np.float32)
        every = frozen(np.arange(self.n), np.uint32)
        forward = self.lengths, self.first_row, self.offsets, self.terms
        scores_of(every, forward, (terms, idf, FIXED, PER_WORD), out)
        return out

    def search(self, terms, idf, end, allowed, k):
        scratch = np.zeros((SCRATCH + 1, end + 128), np.uint32)  # the last row belongs to no memory
        found, scores = np.empty(k, np.uint32), np.empty(k, np.float32)
        indexed = self.segments[-1][-1]
        tail = np.full(max(0, end - indexed), np.nan, np.float32)
        count = search_weighed(
            *(table(self.segments), self.tail),
            (self.lengths, self.first_row, self.offsets, self.terms),
            *((terms, idf, FIXED, PER_WORD), (end, allowed, bool(allowed.all())), k),
            *(scratch, (found, scores), tail),
        )
        assert not scratch[[0, 1, SCRATCH]].any()  # as they were
        if k > 0:
            assert tail.tobytes() == self.scores(terms, idf)[indexed:end].tobytes()
        return found[:count], scores[:count]


def check(bank, terms, idf, end, allowed, k):
    found, best = bank.search(terms, idf, end, allowed, k)
    scores = bank.scores(terms, idf)
    order = np.flatnonzero((allowed[:end] > 0) & (scores[:end] > 0))
    order = order[np.argsort(-scores[order], kind="stable")][:k]  # of equal ones the first
    assert found.tolist() == order.tolist()
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
    bank = Bank.of(offsets, drawn, sizes, vocabulary, [n - 100])
    terms = frozen([5, 41, 3, 0, 2, 50, 1], np.uint32)
    idf = frozen([3.0, 0.4, 4.0, 4.5, 3.5, 0.3, 5.0], np.float32)
    allowed = frozen(rng.random(n) < share, np.uint8)
    for end in (n, n - 30_000):
        for k in (1, 100):
            check(bank, terms, idf, end, allowed, k)
        check(bank, terms[1:2], idf[1:2], end, allowed, 100)  # a word with a column alone


@pytest.mark.parametrize("holders", [150, 2500, 30_000])
def test_documents_of_several_parts_equal_a_full_sort(holders):
    """Of 65,536 documents each: of a segment that begins within one, has four, and the last few."""
    rng = np.random.default_rng(holders)
    n, vocabulary, filler = 200_000, 9_000, 3_000
    sizes = rng.integers(2, 9, n)
    drawn = rng.integers(filler, vocabulary, int(sizes.sum()))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    for term in range(7):
        held = rng.permutation(n)[: holders // (1 + term % 3)]
        drawn[offsets[held] + rng.integers(0, 2, len(held))] = term
    bank = Bank.of(offsets, drawn, sizes, vocabulary, [777, n - 100])
    terms = frozen([5, 4_000, 3, 0, 2, 8_000, 1], np.uint32)
    idf = frozen([3.0, 6.0, 4.0, 4.5, 3.5, 6.5, 5.0], np.float32)
    allowed = frozen(rng.random(n) < 0.7, np.uint8)
    for end in (n, n - 150, 777 + 2 * SLICE, 777 + SLICE - 9, 70_000):
        for k in (1, 100, 1_000):
            check(bank, terms, idf, end, allowed, k)
        check(bank, terms[1:2], idf[1:2], end, allowed, 100)
        bits = bitmap(end)
        for m in rng.integers(0, end, 20_000).tolist():
            mark(bits, m)
        memories, before = listed(bits)
        texts = bank.lengths, bank.offsets, bank.terms, float(FIXED), float(PER_WORD)
        asked_for = table(bank.segments), np.empty(0, np.float32), *texts, terms, idf
        every = np.arange(len(memories))
        found = scores_among(bits, before, memories, every, bank.first_row, asked_for)
        assert found.tobytes() == bank.scores(terms, idf)[memories].tobytes()


@pytest.mark.parametrize("few", [20, 1000, 4000])
def test_a_beginning_unlike_the_rest_equals_a_full_sort(few):
    """Many words are searched in windows, and the first tells what the best of all may reach."""
    rng = np.random.default_rng(few)
    n, vocabulary, k = 80_000, 60, 100
    sizes = rng.integers(1, 9, n)
    drawn = rng.integers(40, vocabulary, int(sizes.sum()))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    for term in range(5):
        held = np.concatenate([np.arange(few), rng.permutation(np.arange(few, n))[:3000]])
        place = np.minimum(term, sizes[held] - 1)  # the first documents hold most of the words
        drawn[offsets[held] + place] = term
    bank = Bank.of(offsets, drawn, sizes, vocabulary, [n])
    terms = frozen([0, 1, 2, 3, 4], np.uint32)
    idf = frozen([3.0, 3.1, 3.2, 3.3, 3.4], np.float32)
    for first, end in ((0, n), (few // 2, n), (0, 20)):
        allowed = np.zeros(n, np.uint8)
        allowed[first:end] = 1
        check(bank, terms, idf, n, frozen(allowed, np.uint8), k)
    check(bank, terms, idf, few, frozen(np.ones(n), np.uint8), few)  # a view of nothing else


@settings(max_examples=60)
@given(st.integers(0, 999), st.integers(1, 400), st.integers(0, 300))
def test_the_best_are_those_of_a_full_sort(seed, n, k):
    rng = np.random.default_rng(seed)
    found = np.sort(rng.permutation(1000)[:n]).astype(np.uint32)
    scores = rng.choice([0.25, 1.5, 1.75, 2.0, 9.0], n).astype(np.float32)
    order = np.lexsort((found, -scores))[:k]
    expected = found[order].tolist(), scores[order].tolist()
    out, out_scores = np.empty(k, np.uint32), np.empty(k, np.float32)
    assert _best(found, scores, k, out, out_scores) == min(n, k)
    assert (out[:n].tolist(), out_scores[:n].tolist()) == expected


@settings(max_examples=40)
@given(st.integers(0, 999), st.integers(1, 8))
def test_words_are_weighed_by_the_view_and_searched_in_one_call(seed, count):
    rng = np.random.default_rng(seed)
    n = 300
    bank = Bank(rng, n, 30, 9, sorted(rng.integers(0, n, 2).tolist()))
    end, k = int(rng.integers(1, n + 1)), 12
    asked_for = [*rng.permutation(32)[:count].tolist(), int(NONE)]
    held = [bank.terms[bank.offsets[m] : bank.offsets[m + 1]].tolist() for m in range(end)]
    df = np.array([sum(term in words for words in held) for term in asked_for])
    expected = np.log1p((end - df + 0.5) / (df + 0.5))
    best, rows, known = np.empty(k, np.uint32), np.empty(k, np.uint32), np.empty(9, np.uint32)
    tail = max(0, end - bank.segments[-1][-1])
    scores, idf = np.full(k + tail, np.nan, np.float32), np.empty(9, np.float32)
    texts = (*bank.tail, bank.lengths, bank.first_row, bank.offsets, bank.terms)
    nothing = frozen([], np.float32)
    words = frozen(asked_for, np.uint32), nothing
    everyone = frozen(np.ones(end), np.uint8)
    found, met, most, unmet = search_words(
        *(table(bank.segments), words, places(texts), float(FIXED), float(PER_WORD)),
        *(everyone, True, end, np.zeros((SCRATCH, n + 128), np.uint32)),
        *(best, scores, rows, known, idf),
    )
    assert known[:met].tolist() == asked_for[:-1]
    assert np.allclose(idf[:met], expected[:-1])
    assert np.isclose(most, expected.sum())
    assert np.isclose(unmet, expected[df == 0].sum() / expected.sum())
    counted = word_frequencies(table(bank.segments), words[0], places(texts), end, everyone, end)
    assert counted.tolist() == df.tolist()
    own = bank.scores(known[:met], idf[:met])
    order = sorted((m for m in range(end) if own[m] > 0), key=lambda m: (-own[m], m))[:k]
    assert best[:found].tolist() == order == rows[:found].tolist()
    assert scores[:found].tobytes() == own[order].tobytes()


@settings(max_examples=40)
@given(st.integers(0, 999), st.sampled_from([3, 60, 700]), st.sampled_from([8, 500]))
def test_a_code_says_what_its_postings_add(seed, longest, vocabulary):
    rng = np.random.default_rng(seed)
    bank = Bank(rng, 500, vocabulary, longest, [500])
    (segment,) = bank.segments
    codes, limits, dense, _, greatest, columns, first, end = segment[3:]
    starts, held, counts = bank.built
    assert codes.size == 0 or codes.min() >= 1
    values, most, one_count = np.empty((3, 256), np.float32)
    ratio = code_bounds(limits, FIXED, PER_WORD, most)
    code_values(limits, FIXED, PER_WORD, values)
    code_counts(limits, one_count)
    counts = counts.astype(np.float32)
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
        scores, texts = bank.scores(terms, idf), (bank.lengths, bank.offsets, bank.terms)
        for known in (0, 50, n):  # of those that no list has
            tail = scores[1400 : 1400 + known]
            asked_for = (table(bank.segments), tail, *texts, float(FIXED), float(PER_WORD))
            found = scores_among(
                bits, before, memories, chosen, bank.first_row, (*asked_for, terms, idf)
            )
            assert found.tobytes() == scores[memories[chosen]].tobytes()


@pytest.mark.parametrize("lengths", [(4, 5), (1, 9), (200, 700)])
def test_documents_with_one_frequent_word_alone_equal_a_full_sort(lengths):
    """Thousands have the same score: those that are not scored are after the k best."""
    rng = np.random.default_rng(lengths[0])
    n, vocabulary = 40_000 if lengths[1] < 10 else 4_000, 3_000
    sizes = rng.integers(*lengths, n)
    drawn = rng.integers(40, vocabulary, int(sizes.sum()))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    drawn[offsets[:-1]] = np.where(rng.random(n) < 0.99, 0, 50)  # a word that nearly all hold
    drawn[offsets[1:][rng.permutation(n)[: n // 4]] - 1] = 1
    for term in (2, 3):
        drawn[offsets[rng.permutation(n)[:12]]] = term
    bank = Bank.of(offsets, drawn, sizes, vocabulary, [n // 3, n - 100])
    terms, idf = [2, 0, 3, 1], [8.0, 0.001, 8.5, 0.2]
    for share in (1.0, 0.6):
        allowed = frozen(rng.random(n) < share, np.uint8)
        for end in (n, n - 150):
            for k in (1, 30, 300):
                for count in (1, 2, 3, 4):
                    asked = frozen(terms[:count], np.uint32), frozen(idf[:count], np.float32)
                    check(bank, *asked, end, allowed, k)
                check(bank, frozen([0], np.uint32), frozen([0.2], np.float32), end, allowed, k)
