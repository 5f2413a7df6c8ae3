"""Retaining what was recorded at several times: a transaction a time."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import recollex

START = datetime(2024, 5, 4, tzinfo=UTC)
VECTORS = np.random.default_rng(0).normal(size=(4, 16))


@pytest.fixture
def agent(tmp_path):
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(16)) as store:
        yield store.agent("a")


def times(*minutes):
    return [START + timedelta(minutes=minute) for minute in minutes]


def test_each_time_is_a_transaction(agent):
    recorded = times(0, 0, 1, 5)
    ids = agent.retain_many(["a", "b", "c", "d"], recorded_at=recorded, embedding=VECTORS)
    held = agent.list()
    assert [memory.id for memory in held] == ids
    assert [memory.recorded_at for memory in held] == recorded
    assert agent.verify().ok


@pytest.mark.parametrize(
    "recorded, vectors",
    [(times(0, 2, 1, 3), VECTORS), (times(0, 1, 2, 3), VECTORS * np.nan), (times(0, 1), VECTORS)],
)
def test_nothing_is_retained_of_a_history_that_is_wrong_somewhere(agent, recorded, vectors):
    with pytest.raises(recollex.errors.InputError):
        agent.retain_many(["a", "b", "c", "d"], recorded_at=recorded, embedding=vectors)
    assert agent.stats().memories == 0
