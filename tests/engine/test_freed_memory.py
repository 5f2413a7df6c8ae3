"""What an agent holds in memory is freed when it closes, not when Python collects garbage."""

import gc
import weakref

import pytest

import recollex
from tests.engine.faults.small_store import D, fill, vectors

VECTOR = vectors(9, 1)[0]
USES = {
    "recall": lambda agent: agent.recall("tea", query_embedding=VECTOR),
    "explanation": lambda agent: agent.recall("tea", query_embedding=VECTOR, explain=True),
    "pack": lambda agent: agent.recall("tea", query_embedding=VECTOR, pack="subgraph"),
    "past": lambda agent: agent.at(agent.get("m3").recorded_at).recall(
        "tea", query_embedding=VECTOR
    ),
    "facts": lambda agent: agent.facts.find(),
    "history": lambda agent: agent.history("m3"),
    "verify": lambda agent: agent.verify(),
}
WRITES = {
    "correct": lambda agent: agent.correct("m3", "Milk.", embedding=VECTOR),
    "checkpoint": lambda agent: agent.checkpoint(),
    "erase": lambda agent: agent.erase("m4", by="Ann", why="asked"),
}


@pytest.fixture
def uncollected():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("rests", [False, True], ids=["closed", "at rest"])
@pytest.mark.parametrize(
    ("use", "read_only"),
    [(use, ro) for ro in (False, True) for use in USES] + [(use, False) for use in WRITES],
)
def test_an_agent_that_closes_frees_its_columns_at_once(tmp_path, use, read_only, rests):
    embedder = recollex.GivenVectors(D)
    with recollex.open(tmp_path, embedder=embedder) as store:
        agent, other = store.agent("a"), store.agent("b")
        fill(agent, 0, 12)
        agent.facts.add("Ann", "lives in", "Oslo", evidence=["m0"])
        agent.checkpoint()
        fill(other, 0, 1)
    with recollex.open(tmp_path, embedder=embedder, read_only=read_only, max_open=1) as store:
        agent, other = store.agent("a"), store.agent("b")
        (USES | WRITES)[use](agent)
        agent.stats()
        columns = weakref.ref(agent.engine.replica().columns)
        assert columns() is not None
        if rests:
            other.stats()
            assert columns() is None
    assert columns() is None
