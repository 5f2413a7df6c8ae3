"""An agent that was told something on days 1 to 6."""

import pytest

import recollex
from tests.bindings.time_travel.days import VECTORS, day, told


@pytest.fixture
def store(tmp_path):
    with recollex.open(
        tmp_path / "s", embedder=recollex.GivenVectors(16), clock=lambda: day(20)
    ) as store:
        yield store


@pytest.fixture
def agent(store):
    """An agent that was told something on days 1 to 6."""
    agent = store.agent("a")
    told(agent, 1, "Ann lives in Oslo.", id="home")
    told(agent, 2, "Ben has a puppy.", id="pet", valid_until=day(10))
    agent.correct(
        "home", "Ann lives in Rome.", by="ben", why="She moved.",
        recorded_at=day(3), embedding=VECTORS[7],
    )  # fmt: skip
    agent.archive("pet", by="ann", why="It ran away.", recorded_at=day(4))
    told(agent, 5, "Ann plays the cello.", id="cello")
    agent.forget("cello", by="ann", recorded_at=day(6))
    return agent
