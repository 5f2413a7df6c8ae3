"""Filters against the same conditions in plain Python, in the present and in earlier views."""

from random import Random

import numpy as np
import pytest

import recollex
from recollex_engine.clock import from_micros
from recollex_engine.domain.question import Question
from recollex_engine.domain.schema import NETWORKS
from recollex_engine.models.given_vectors import GivenVectors
from recollex_engine.ranking.filters import admitted_memories

HOUR = 3_600_000_000
VALUES = [1, 1.0, "1", None, True, {"a": 1, "b": [2]}, {"b": [2], "a": 1}, "é"]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """An agent and, for each memory that was ever retained, what was said of it."""
    random = Random(11)
    store = recollex.open(
        tmp_path_factory.mktemp("s") / "store", embedder=GivenVectors(8), durability="off"
    )
    agent = store.agent("a")
    memories, closed, ids = [], {}, []
    for step in range(40):
        batch = [
            {
                "event_at": from_micros(random.randint(0, 20) * HOUR),
                "network": random.choice(NETWORKS),
                "document_id": random.choice([None, "d1", "d2"]),
                "tags": random.sample(["x", "y", "z"], random.randint(0, 3)),
                "metadata": {} if random.random() < 0.3 else {"k": random.choice(VALUES)},
                "entities": random.sample(["Ann", "Ben", "The Hague"], random.randint(0, 2)),
            }
            for _ in range(random.randint(1, 6))
        ]
        options = {name: [each[name] for each in batch] for name in batch[0]}
        ids += agent.retain(["a tea"] * len(batch), embedding=np.ones((len(batch), 8)), **options)
        memories += batch
        if step % 4 == 3:
            memory = random.choice([m for m in range(len(memories)) if m not in closed])
            agent.forget(ids[memory])
            closed[memory] = agent.stats().operations
        if step == 20:
            agent.checkpoint()
    yield agent, memories, closed
    store.close()


def admits(memory, question):
    at = memory["event_at"]
    key = next(iter(question.where), None)

    def same(one, other):
        return type(one) is type(other) and one == other

    return (
        (question.networks is None or NETWORKS.index(memory["network"]) in question.networks)
        and (question.since is None or from_micros(question.since) <= at)
        and (question.until is None or at < from_micros(question.until))
        and set(question.tags) <= set(memory["tags"])
        and {name.lower() for name in question.entities}
        <= {name.lower() for name in memory["entities"]}
        and (question.document is None or question.document == memory["document_id"])
        and (
            key is None
            or (key in memory["metadata"] and same(memory["metadata"][key], question.where[key]))
        )
    )


def random_question(random):
    def sometimes(make):
        return make() if random.random() < 0.35 else None

    since = sometimes(lambda: random.randint(0, 19))
    until = sometimes(lambda: random.randint((since or 0) + 1, 22))
    return Question(
        "tea",
        networks=sometimes(lambda: tuple(random.sample(range(3), random.randint(1, 3)))),
        since=None if since is None else since * HOUR,
        until=None if until is None else until * HOUR,
        tags=tuple(random.sample(["x", "y", "z", "unheard"], sometimes(lambda: 1) or 0)),
        where=sometimes(lambda: {random.choice(["k", "k", "k", "q"]): random.choice(VALUES)}) or {},
        entities=tuple(
            random.sample(["ann", "Ben", "THE HAGUE", "Nobody"], sometimes(lambda: 1) or 0)
        ),
        document=sometimes(lambda: random.choice(["d1", "d2", "d3"])),
    )


def test_a_selection_is_what_plain_conditions_give(told):
    agent, memories, closed = told
    random = Random(5)
    last = agent.stats().operations
    found = 0
    for _ in range(400):
        question = random_question(random)
        op = random.choice([last, last, random.randint(1, last)])
        view = agent.engine.view(op)
        mask = admitted_memories(view, question)
        expected = [
            admits(memory, question) and not 0 < closed.get(place, 0) <= op
            for place, memory in enumerate(memories[: view.memories])
        ]
        assert mask.tolist() == [int(each) for each in expected], (question, op)
        found += sum(expected)
    assert found > 3000


def test_a_selection_without_filters_is_the_views_own_and_stays_as_it_is(told):
    agent, _, closed = told
    view = agent.engine.view()
    before = view.open.copy()
    assert admitted_memories(view, Question("tea")) is view.open
    admitted_memories(view, Question("tea", networks=(1,), document="d1", tags=("x",), since=0))
    assert (view.open == before).all()
    assert int((before == 0).sum()) == len(closed)
