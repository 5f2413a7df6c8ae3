"""The counts that a store reads from its agents' files are those of the agents."""

from pathlib import Path

import numpy as np
import pytest

import recollex
from recollex_engine.models.embedder import GivenVectors
from recollex_engine.writing import maintenance

D = 8
ONES = np.ones(D, np.float32)


def opened(path: Path, **options) -> recollex.Store:
    return recollex.open(path, embedder=GivenVectors(D), durability="off", **options)


def summary(path: Path, **options):
    with opened(path, read_only=True, **options) as store:
        [found] = store.agents(counts=True)
        return found


def told(agent: recollex.Agent):
    stats = agent.stats()
    return stats.memories, stats.operations, agent.log()[-1].recorded_at, stats.bytes_on_disk


def fill(agent: recollex.Agent, first: int, count: int) -> None:
    ids = [f"m{number}" for number in range(first, first + count)]
    vectors = np.tile(ONES, (count, 1))
    agent.retain_many([f"No. {id} is here." for id in ids], id=ids, embedding=vectors)


@pytest.mark.parametrize("key", [None, bytes(32)])
@pytest.mark.parametrize("folds", [False, True])
def test_counts_are_those_of_the_agent(tmp_path, monkeypatch, folds, key):
    monkeypatch.setattr(maintenance, "CLOSING_TAIL", 1 if folds else 1 << 20)
    steps = [
        lambda agent: fill(agent, 0, 30),
        lambda agent: agent.forget(["m3", "m4"]),
        lambda agent: agent.retain("Another one.", id="m5", embedding=ONES),
        lambda agent: agent.archive("m6"),
        lambda agent: agent.correct("m5", "Not so.", embedding=ONES),
        lambda agent: agent.amend("m7", tags=["seen"]),
        lambda agent: agent.facts.add("Ann", "likes", "tea", evidence=["m8"]),
        lambda agent: agent.checkpoint(),
        lambda agent: agent.forget(["m9", "m5"]),
        lambda agent: agent.erase(["m10", "m11"], by="Ann", why="asked"),
        lambda agent: fill(agent, 40, 3),
        lambda agent: agent.erase(everything=True, by="Ann", why="asked"),
        lambda agent: fill(agent, 50, 2),
    ]
    for step in steps:
        with opened(tmp_path, key=key) as store:
            agent = store.agent("a")
            step(agent)
            [beside] = store.agents(counts=True)
            assert beside.memories == agent.count()
        with opened(tmp_path, read_only=True, key=key) as store:
            expected = told(store.agent("a"))
        found = summary(tmp_path, key=key)
        assert (found.memories, found.operations, found.written_at, found.bytes_on_disk) == expected
    assert found.memories == 2


def test_what_cannot_be_read_is_none(tmp_path):
    with recollex.open(tmp_path, embedder=GivenVectors(D), key=bytes(32)) as store:
        fill(store.agent("a"), 0, 3)
    with opened(tmp_path) as store:
        [found] = store.agents(counts=True)
    assert found.memories is None and found.operations == 4 and found.written_at is not None


def test_a_damaged_log_is_counted_as_unknown(tmp_path):
    with opened(tmp_path) as store:
        fill(store.agent("a"), 0, 3)
        fill(store.agent("b"), 0, 2)
    (log,) = (tmp_path / "agents/a/log").iterdir()
    log.write_bytes(b"{}" + log.read_bytes())
    with opened(tmp_path) as store:
        assert [each.memories for each in store.agents(counts=True)] == [None, 2]
