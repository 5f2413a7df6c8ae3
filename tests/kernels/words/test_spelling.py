"""Which terms are spelled like a word? Beside the equation in Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.words.spelling import LONGEST, SHORTEST, marks, spelled_like, trigrams
from tests.kernels.inputs import kept

letters = st.sampled_from("abcñяعक東\U0001d4b3")
words = st.one_of(
    st.text(letters, max_size=9),
    st.text(st.sampled_from("ab1"), max_size=9),
    st.text(st.sampled_from("ab"), min_size=LONGEST - 2, max_size=LONGEST + 2),
)


def of(word):
    framed = f"\1{word}\2"
    eligible = SHORTEST <= len(word) <= LONGEST and not set(word) & set("0123456789")
    return {framed[i : i + 3] for i in range(len(word))} if eligible else set()


def likeness(one, other):
    return 2 * len(of(one) & of(other)) / max(1, len(of(one)) + len(of(other)))


def flat(terms):
    data = [term.encode() for term in terms]
    text = np.frombuffer(b"".join(data), np.uint8)
    return text, np.cumsum([len(each) for each in data], dtype=np.int64)


def found(terms, word, least, capacity=100):
    text, ends = flat(terms)
    own = np.zeros(len(terms), np.uint64)
    half = len(terms) // 2
    marks(text, ends[:half], 0, own)
    marks(text, ends, half, own)
    numbers, shares = np.empty(capacity, np.uint32), np.empty(capacity, np.float32)
    written = np.frombuffer(word.encode(), np.uint8)
    for array in (text, ends, own):
        kept(array)
    count = spelled_like(text, ends, own, written, least, numbers, shares)
    return list(zip(numbers[:count].tolist(), shares[:count].tolist(), strict=True))


@given(words)
def test_a_word_has_the_trigrams_of_its_letters_each_once(word):
    text, ends = flat(["ab", word])
    out = np.empty(LONGEST, np.uint64)
    assert trigrams(text, 2, ends[1], out) == len(of(word))
    assert len(set(out[: len(of(word))].tolist())) == len(of(word))


@settings(max_examples=200)
@given(st.lists(words, min_size=1, max_size=12), words, st.sampled_from([0.2, 0.6, 1.0]))
def test_terms_are_alike_by_the_share_of_their_trigrams(terms, word, least):
    expected = [
        (number, float(np.float32(likeness(term, word))))
        for number, term in enumerate(terms)
        if of(term) and likeness(term, word) >= least
    ]
    assert found(terms, word, least) == expected
    assert found(terms, word, least, capacity=2) == expected[:2]


@pytest.mark.parametrize(
    ("term", "word", "share"),
    [("protocol", "protokoll", 0.0), ("nomination", "nominations", 0.857), ("maria", "marie", 0.6)],
)
def test_some_words(term, word, share):
    assert [round(value, 3) for _, value in found([term], word, 0.6)] == [share] * (share > 0)


def test_bytes_that_are_no_text_are_read_within_the_term():
    text = np.frombuffer(b"\xff\xf0\x9f\xe4teas\xe4", np.uint8)
    out = np.zeros((2, LONGEST), np.uint64)
    n = trigrams(text, 0, 9, out[0])
    assert n == trigrams(text[:9].copy(), 0, 9, out[1]) and (out[0] == out[1]).all()
