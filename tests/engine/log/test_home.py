"""A log with a home: what is sent, when it counts, and what a refusal leaves."""

from itertools import pairwise

import numpy as np
import pytest

import recollex
from recollex_engine.agents.store import Store
from recollex_engine.errors import StoreFullError
from recollex_engine.log.home import FencedError
from recollex_engine.models.embedder import GivenVectors
from recollex_engine.storage.commit_word import CommitWord


class Homes:
    """Homes in memory, which keep runs, and refuse them once `fenced` is set."""

    def __init__(self):
        self.runs = []
        self.fenced = False
        self.shown = []
        self.folder = None

    def prepare(self, agent, folder):
        self.folder = folder
        return self

    def append(self, run):
        self.shown.append(CommitWord(self.folder / "COMMIT").op)
        if self.fenced:
            raise FencedError("another owner")
        self.runs.append(run)

    def agents(self):
        return ["a"] if self.runs else []

    def delete(self, agent):
        self.runs.clear()


@pytest.fixture
def homes():
    return Homes()


def opened(folder, homes):
    store = Store(folder, lambda: GivenVectors(8))
    store.live_in(homes)
    return recollex.api.store.Store(store)


@pytest.fixture
def agent(tmp_path, homes):
    with opened(tmp_path, homes) as store:
        yield store.agent("a")


def test_runs_hold_the_lines_and_the_rows_in_order(agent, homes):
    agent.retain("Ann moved to Rome.", id="m1", embedding=np.eye(8)[0])
    agent.retain_many(["She likes it.", "It rains."], id=["m2", "m3"], embedding=np.eye(8)[1:3])
    agent.forget("m2")
    ops = [(run.first_op, run.end.op) for run in homes.runs]
    assert ops[0][0] == 1
    assert all(after[0] == before[1] + 1 for before, after in pairwise(ops))
    folder = homes.folder
    _, _, lines = (folder / "log" / "00000001.jsonl").read_bytes().partition(b"\n")
    assert b"".join(run.lines for run in homes.runs) == lines
    assert b"".join(run.rows for run in homes.runs) == (folder / "vectors.f16").read_bytes()[64:]
    assert not any(run.rewritten for run in homes.runs)


def test_nothing_is_published_before_the_home_has_it(agent, homes):
    agent.retain("Ann moved to Rome.", id="m1", embedding=np.eye(8)[0])
    agent.retain("She likes it.", id="m2", embedding=np.eye(8)[1])
    assert homes.shown[-1] < homes.runs[-1].first_op


def test_a_refused_run_is_not_shown_and_poisons_the_log(agent, homes):
    agent.retain("Ann moved to Rome.", id="m1", embedding=np.eye(8)[0])
    homes.fenced = True
    with pytest.raises(StoreFullError, match="another owner"):
        agent.retain("She likes it.", id="m2", embedding=np.eye(8)[1])
    assert [memory.id for memory in agent.list()] == ["m1"]
    homes.fenced = False
    with pytest.raises(StoreFullError, match="written no further"):
        agent.retain("She likes it.", id="m2", embedding=np.eye(8)[1])
    assert len(homes.runs) == 1


def test_an_erasure_says_that_earlier_bytes_changed(agent, homes):
    agent.retain("The word is SESAME.", id="m1", embedding=np.eye(8)[0])
    agent.retain("She likes it.", id="m2", embedding=np.eye(8)[1])
    agent.erase("m1", by="Ann", why="a test")
    assert [run.rewritten for run in homes.runs][-1]
    assert b"SESAME" not in homes.runs[-1].lines


def test_agents_are_those_of_the_homes(tmp_path, homes):
    with opened(tmp_path, homes) as store:
        assert store.agents() == []
        store.agent("a").retain("Ann moved.", embedding=np.eye(8)[0])
        assert store.agents() == ["a"]
        store.delete_agent("a")
        assert store.agents() == []
        assert not homes.folder.exists()
