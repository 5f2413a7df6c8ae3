import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.fusing.reranking import maxsim
from tests.kernels.inputs import kept

few = st.sampled_from([-127, -3, 0, 1, 64, 127])  # forces ties


def oracle(query, texts):
    """The equation, a number at a time."""
    found = []
    for text in texts:
        best = [
            max(sum(int(a) * int(b) for a, b in zip(q, t, strict=True)) for t in text)
            for q in query
            if len(text)
        ]
        found.append(sum(best) / (127**2 * max(1, len(query))))
    return found


def run(query, texts, dimension):
    starts = np.cumsum([0, *map(len, texts)])
    flat = [token for text in texts for token in text]
    query, tokens = (np.array(each, np.int8).reshape(-1, dimension) for each in (query, flat))
    for each in (query, tokens, starts):
        kept(each)
    out = np.full(len(texts), 7.0)
    maxsim(query, tokens, starts, out)
    return out.tolist()


@settings(deadline=None)
@given(st.data(), st.sampled_from([1, 8, 33]))
def test_it_is_the_equation(data, dimension):
    token = st.lists(few, min_size=dimension, max_size=dimension)
    query = data.draw(st.lists(token, max_size=4))
    texts = data.draw(st.lists(st.lists(token, max_size=5), max_size=5))
    assert run(query, texts, dimension) == oracle(query, texts)


def test_a_text_has_one_score_whatever_is_beside_it():
    rng = np.random.default_rng(0)
    query = rng.integers(-127, 128, (9, 384))
    texts = [rng.integers(-127, 128, (n, 384)).tolist() for n in (1, 36, 0, 256)]
    together = run(query, texts, 384)
    assert [run(query, [text], 384)[0] for text in texts] == together
    assert together[2] == 0


def test_the_same_text_scores_one():
    vectors = np.random.default_rng(1).normal(size=(12, 384))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    tokens = np.rint(127 * vectors).astype(np.int8)
    assert run(tokens, [tokens.tolist()], 384) == [pytest.approx(1, abs=0.02)]
