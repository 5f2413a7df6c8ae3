"""Where one and four bits choose rows: nearly the exact answer, and always the same one."""

import shutil
from datetime import UTC, datetime

import numpy as np
import pytest

import recollex
from recollex_engine.models.embedder import GivenVectors
from recollex_engine.ranking import arms

DIMENSION = 72
NOW = datetime(2024, 5, 1, tzinfo=UTC)
OPTIONS = ({}, {"tags": ["odd"]}, {"tags": ["rare"]}, {"thinking_budget": 20})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(arms, "CASCADE_ROWS", 100)
    monkeypatch.setattr(arms, "LIKELY", 60)
    monkeypatch.setattr(arms, "LIKELY_EACH", 3)
    return tmp_path / "store"


def opened(folder, **options):
    return recollex.open(folder, embedder=GivenVectors(DIMENSION), clock=lambda: NOW, **options)


def answers(agent, queries, exact=False):
    found = []
    for options in OPTIONS:
        for vector in queries:
            recall = agent.recall(
                "what of Ann", query_embedding=vector, exact=exact, explain=True, **options
            )
            assert not recall.trace.errors
            found.append((recall.tokens, list(recall)))
    return found


def test_proposed_rows_do_not_depend_on_indexes(folder):
    random = np.random.default_rng(3)
    vectors = random.standard_normal((900, DIMENSION))
    vectors[300:] += vectors[random.integers(0, 300, 600)]
    vectors[800:850] = vectors[100:150]
    queries = vectors[random.integers(0, 900, 12)] + 0.3 * random.standard_normal((12, DIMENSION))
    store = opened(folder, durability="off")
    agent = store.agent("a")
    for first in range(0, 900, 300):
        agent.retain_many(
            [f"memory {n} of {('Ann', 'Ben')[n % 2]}" for n in range(first, first + 300)],
            embedding=vectors[first : first + 300],
            tags=[["odd"] * (n % 2) + ["rare"] * (n % 50 == 0) for n in range(first, first + 300)],
        )
        if first == 300:
            agent.checkpoint()
    found = answers(agent, queries)
    exact = answers(agent, queries, exact=True)
    assert found != exact
    shared = [
        len({memory.id for memory in a} & {memory.id for memory in b}) / max(1, len(b))
        for (_, a), (_, b) in zip(found, exact, strict=True)
    ]
    assert np.mean(shared) > 0.9
    agent.checkpoint()
    assert answers(agent, queries) == found
    store.close()
    with opened(folder, read_only=True) as reader:
        assert answers(reader.agent("a"), queries) == found
    shutil.rmtree(folder / "agents" / "a" / "columns")
    with pytest.warns(RuntimeWarning, match="rebuilding"), opened(folder) as rebuilt:
        assert answers(rebuilt.agent("a"), queries) == found
