"""An agent that no call in these tests may change."""

import numpy as np
import pytest

import recollex
from tests.bindings.bad_input.bad_values import AT, D, V


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("bad") / "store"


@pytest.fixture(scope="module")
def store(path):
    with recollex.open(path, embedder=recollex.GivenVectors(D), durability="off") as store:
        yield store


@pytest.fixture(scope="module")
def agent(store):
    agent = store.agent("a")
    agent.retain_many(
        ["Bob drinks tea.", "Ann plays the cello."],
        id=["m1", "m2"],
        event_at=AT,
        recorded_at=AT,
        embedding=np.eye(2, D),
        document_id="d",
    )
    agent.retain("Forgotten.", id="gone", embedding=V)
    agent.forget("gone")
    return agent


@pytest.fixture(autouse=True)
def nothing_changes(agent):
    before = agent.stats(), agent.list()
    yield
    assert (agent.stats(), agent.list()) == before
