import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.fusing.diversity import (
    fingerprints,
    gram,
    mmr,
    mmr_of_gram,
    repeats,
    suspects,
)
from recollex_kernels.vectors.codes import cosines
from tests.kernels.inputs import read_only

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")


def bits(vectors):
    return read_only(np.ascontiguousarray(vectors, np.float16).view(np.uint16))


def oracle(similarities, relevance, balance, k):
    """Memora 3.4 as it is printed: every similarity looked up anew in every round."""
    selected = []
    while len(selected) < min(k, len(relevance)):
        marginal = {
            c: balance * relevance[c]
            - (1 - balance) * max((float(similarities[c, s]) for s in selected), default=0.0)
            for c in range(len(relevance))
            if c not in selected
        }
        selected.append(max(marginal, key=lambda c: (marginal[c], -c)))
    return selected


# quarters in few places: equal vectors and equal similarities are common, sums are exact
vectors_of = st.integers(1, 12).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from([-0.5, 0.0, 0.5]), min_size=3, max_size=3), min_size=n, max_size=n
    )
)


def widened(short):
    vectors = np.zeros((len(short), 40), np.float32)
    vectors[:, [0, 9, 39]] = short
    return vectors


@given(vectors_of, st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.integers(0, 14), st.data())
def test_mmr_equals_the_naive_selection(short, balance, k, data):
    vectors = widened(short)
    n = data.draw(st.integers(1, 14))
    rows = np.array(
        data.draw(st.lists(st.integers(0, len(short) - 1), min_size=n, max_size=n)), np.uint32
    )
    scores = data.draw(st.lists(st.sampled_from([-1.0, 0.0, 1.0, 3.0]), min_size=n, max_size=n))
    relevance = np.array(scores, np.float64)
    similarities = vectors[rows] @ vectors[rows].T
    expected = oracle(similarities, scores, balance, k)
    assert mmr(bits(vectors), rows, relevance, balance, k).tolist() == expected
    found = gram(bits(vectors), rows)
    assert found.tolist() == similarities.tolist()
    assert mmr_of_gram(found, relevance, balance, k).tolist() == expected


def test_both_forms_agree_to_the_bit_on_real_widths():
    rng = np.random.default_rng(0)
    vectors = bits(rng.standard_normal((300, 384)) / 19.6)
    for n in (1, 2, 100):
        rows = rng.permutation(300)[:n].astype(np.uint32)
        scores = np.sort(rng.standard_normal(n))[::-1].copy()
        similarities = gram(vectors, rows)
        chosen = mmr(vectors, rows, scores, 0.5, n)
        assert chosen.tolist() == oracle(similarities, scores.tolist(), 0.5, n)
        assert chosen.tolist() == mmr_of_gram(similarities, scores, 0.5, n).tolist()


def test_a_pair_has_the_similarity_of_a_search():
    rng = np.random.default_rng(1)
    half = (rng.standard_normal((9, 72)) / 8).astype(np.float16)
    rows = np.arange(9, dtype=np.uint32)
    found = gram(bits(half), rows)
    for i in range(9):
        out = np.empty(9, np.float32)
        cosines(bits(half), rows, half[i].astype(np.float32), out)
        assert found[i].tolist() == out.tolist() == found[:, i].tolist()


@pytest.mark.parametrize("k", [0, 5])
def test_mmr_of_nothing_is_nothing(k):
    rows, scores = np.empty(0, np.uint32), np.empty(0)
    vectors = bits(np.zeros((2, 8)))
    assert mmr(vectors, rows, scores, 0.5, k).tolist() == []
    assert mmr_of_gram(gram(vectors, rows), scores, 0.5, k).tolist() == []


def test_the_second_of_two_alike_waits_behind_what_is_new():
    vectors = np.zeros((3, 8))
    vectors[[0, 1], 0] = 1
    vectors[2, 1] = 1
    rows = np.arange(3, dtype=np.uint32)
    scores = np.array([1.0, 0.9, 0.5])
    assert mmr(bits(vectors), rows, scores, 0.5, 3).tolist() == [0, 2, 1]
    assert mmr(bits(vectors), rows, scores, 1.0, 3).tolist() == [0, 1, 2]


def fnv(words):
    h = 14695981039346656037
    for word in words:
        h = ((h ^ word) * 1099511628211) % 2**64
    return h


memory = st.tuples(
    st.integers(0, 1),  # speaker
    st.integers(0, 1),  # network
    st.lists(st.lists(st.sampled_from([0, 1, 2**32 - 1]), max_size=3), min_size=1, max_size=3),
)


@given(st.lists(memory, min_size=1, max_size=8), st.data())
def test_a_fingerprint_is_of_speaker_network_and_all_words(memories, data):
    chosen = data.draw(st.lists(st.integers(0, len(memories) - 1), max_size=8))
    rows = [row for _, _, passages in memories for row in passages]
    said = (
        np.array(chosen, np.uint32),
        np.cumsum([0] + [len(passages) for _, _, passages in memories]).astype(np.uint32),
        np.cumsum([0] + [len(row) for row in rows]).astype(np.uint64),
        np.array([word for row in rows for word in row], np.uint32),
        np.array([speaker for speaker, _, _ in memories], np.uint32),
        np.array([network for _, network, _ in memories], np.uint8),
    )
    expected = [
        fnv([memories[m][0], memories[m][1], *(w for row in memories[m][2] for w in row)])
        for m in chosen
    ]
    assert fingerprints(*said).tolist() == expected
    last = {}
    pairs = []
    for place, mark in enumerate(expected):
        if mark in last:
            pairs.append([place, last[mark]])
        last[mark] = place
    assert repeats(*said).tolist() == pairs


@given(st.lists(st.integers(0, 3), max_size=10), st.booleans(), st.data())
def test_suspects_have_one_mark_or_are_near(marks, with_vectors, data):
    n = len(marks)
    similarities = np.zeros((n, n), np.float32)
    if with_vectors:
        for i in range(n):
            for j in range(i):
                near = data.draw(st.sampled_from([0.5, 0.9, 0.95]))
                similarities[i, j] = similarities[j, i] = near
    given_ = similarities if with_vectors else np.empty((0, 0), np.float32)
    found = suspects(np.array(marks, np.uint64), given_, 0.9)
    expected = [
        [i, j]
        for i in range(n)
        for j in range(i)
        if marks[i] == marks[j] or similarities[i, j] >= np.float32(0.9)
    ]
    assert found.tolist() == expected
