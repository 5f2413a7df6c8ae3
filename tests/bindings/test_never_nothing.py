"""A recall of an agent that holds memories returns its best, however weak the evidence is."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recollex
from recollex import presets
from tests.bindings.given_cosines import DIMENSION, at_cosine

COSINES = {
    "I break out in hives when I eat peanuts.": 0.158,
    "The bus leaves at seven.": 0.14,
    "My brother paints boats.": 0.12,
    "Our roof was mended in June.": 0.101,
    "The choir sings on Fridays.": -0.05,
}
"""Text -> cosine with the question; the peanuts have MiniLM's, with the question below."""
QUESTION = "What should be avoided while cooking?"
PAPERS = ("tempr", "memora", "memotrace")


ASKED = at_cosine(1.0, 0)


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[recollex.Agent]:
    with recollex.open(tmp_path / "memory", embedder=recollex.GivenVectors(DIMENSION)) as store:
        agent = store.agent("a")
        vectors = [at_cosine(cosine, n) for n, cosine in enumerate(COSINES.values())]
        agent.retain_many(list(COSINES), embedding=np.array(vectors), tags=[["a"], *[["b"]] * 4])
        yield agent


def ask(agent: recollex.Agent, **options: Any) -> recollex.Recall:
    return agent.recall(QUESTION, query_embedding=ASKED, **options)


@pytest.mark.parametrize("exact", [True, False])
def test_memories_below_the_threshold_come_back_best_first(
    agent: recollex.Agent, exact: bool
) -> None:
    assert [memory.text for memory in ask(agent, exact=exact)] == list(COSINES)
    assert ask(agent, exact=exact)[0].ranks == {"semantic": 1}


@pytest.mark.parametrize("exact", [True, False])
def test_an_invoice_below_the_threshold_comes_back(tmp_path: Path, exact: bool) -> None:
    texts = ["The invoice of the electrician is 340 euros.", "We met at the lake."]
    vectors = np.array([at_cosine(0.17, 0), at_cosine(-0.02, 1)])
    with recollex.open(tmp_path / "memory", embedder=recollex.GivenVectors(DIMENSION)) as store:
        agent = store.agent("a")
        agent.retain_many(texts, embedding=vectors)
        recall = agent.recall("How much must be paid?", query_embedding=ASKED, exact=exact)
        assert [memory.text for memory in recall] == texts


def test_weak_evidence_has_little_confidence(agent: recollex.Agent) -> None:
    recall = ask(agent)
    assert recall.confidence is not None and 0 < recall.confidence < 0.1
    assert not ask(agent, min_confidence=0.1)


def test_a_filter_still_holds(agent: recollex.Agent) -> None:
    assert [memory.text for memory in ask(agent, tags=["b"])] == list(COSINES)[1:]
    assert not ask(agent, until=datetime(2001, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("name", PAPERS)
def test_papers_keep_their_thresholds(agent: recollex.Agent, name: str) -> None:
    assert getattr(presets, name).semantic_cut
    assert not ask(agent, preset=name)


def test_a_recall_is_filled_up_to_the_thinking_budget(tmp_path: Path) -> None:
    vectors = np.random.default_rng(5).standard_normal((1_000, DIMENSION))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    stored = vectors.astype(np.float16).astype(np.float64)
    nearest = [f"Note {n}." for n in np.argsort(-(stored @ ASKED), kind="stable")[:100]]
    with recollex.open(tmp_path / "memory", embedder=recollex.GivenVectors(DIMENSION)) as store:
        agent = store.agent("a")
        agent.retain_many([f"Note {n}." for n in range(1_000)], embedding=vectors)
        for exact in (True, False):
            recall = ask(agent, exact=exact, max_tokens=1_000_000)
            ranks = {memory.text: memory.ranks.get("semantic", 1_000) for memory in recall}
            assert sorted(ranks, key=ranks.__getitem__)[:100] == nearest
