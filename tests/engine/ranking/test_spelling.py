"""Which terms are spelled like unknown words? Beside a naive search of all texts."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import recollex
from recollex_engine.ranking.spelling import LEAST, MOST, WORDS, similar_terms
from recollex_engine.text.analyzer import Analyzer

FAMILY = ["marina", "marian", "mariana", "marinas", "marines", "martina", "marin", "merino", "tea"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[recollex.Store]:
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(8)) as store:
        yield store


def trigrams(word):
    framed = f"^{word}$"
    return {framed[i : i + 3] for i in range(len(word))}


def likeness(one, other):
    return 2 * len(trigrams(one) & trigrams(other)) / len([*trigrams(one), *trigrams(other)])


def retain(agent, texts):
    agent.retain_many(texts, embedding=np.eye(8)[np.zeros(len(texts), int)])


def found(agent, question, allowed=None):
    view = agent.engine.view()
    words = Analyzer().query(question).terms
    terms = view.columns.dictionary["terms"]
    mask = np.ones(view.memories, np.uint8) if allowed is None else allowed
    numbers, shares = similar_terms(
        view, words, terms.get_many(words), mask, int(np.count_nonzero(mask))
    )
    return list(zip(terms.strings(numbers), shares.tolist(), strict=True))


def naive(texts, question, allowed):
    words = Analyzer().query(question).terms
    held = {
        term
        for text, open_ in zip(texts, allowed, strict=True)
        for term in (Analyzer().sequence(text) if open_ else [])
    }
    order = list(dict.fromkeys(term for text in texts for term in Analyzer().sequence(text)))
    best = {}
    for word in [word for word in words if word not in held][:WORDS]:
        alike = [term for term in held if len(term) > 3 and likeness(word, term) >= LEAST]
        alike.sort(key=lambda term: (-likeness(word, term), order.index(term)))
        for term in alike[:MOST] if len(word) > 3 else []:
            best[term] = max(likeness(word, term), best.get(term, 0))
    best = {term: share for term, share in best.items() if term not in words}
    return sorted(best.items(), key=lambda item: (-item[1], order.index(item[0])))


@pytest.mark.parametrize("seed", range(8))
def test_the_terms_are_those_of_a_search_of_all_texts(store, seed):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(FAMILY, rng.integers(1, 4))) for _ in range(6)]
    agent = store.agent("a")
    retain(agent, texts)
    for share in (1.0, 0.5):
        allowed = (rng.random(len(texts)) < share).astype(np.uint8)
        for words in (["marino"], ["marinna", "teas"], list(rng.choice(FAMILY, 3))):
            question = " ".join(words)
            expected = naive(texts, question, allowed)
            told = found(agent, question, allowed)
            assert [term for term, _ in told] == [term for term, _ in expected]
            assert [x for _, x in told] == pytest.approx([x for _, x in expected])


def test_the_likest_terms_of_the_first_words_are_taken(store):
    agent = store.agent("a")
    endings = "abcdfghjklmn"
    retain(agent, [f"marigold{ending}" for ending in endings] + ["petunias"])
    assert [term for term, _ in found(agent, "marigoldx")] == [
        f"marigold{ending}" for ending in endings[:MOST]
    ]
    others = " ".join(f"{a}{b}zzzz" for a in "bcdfg" for b in "aeiouyw")[: 7 * WORDS]
    assert found(agent, f"petuniaz {others}")
    assert not found(agent, f"{others} petuniaz")


def test_a_word_with_digits_and_a_known_word_are_not_looked_up(store):
    agent = store.agent("a")
    retain(agent, ["model2000 marina"])
    assert found(agent, "model2001") == []
    assert found(agent, "marina") == []
    assert [term for term, _ in found(agent, "marinaa")] == ["marina"]
    assert found(agent, "marina marinaa") == []
