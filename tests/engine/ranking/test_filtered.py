"""A filter ranks as an agent that holds the admitted memories alone: names, order, talk, words."""

from datetime import UTC, datetime, timedelta

import pytest

import recollex
from tests.bindings.word_vectors import WordVectors

START = datetime(2024, 1, 1, tzinfo=UTC)
HOMES = "north", "south"
COUNT = 240
"""Memories of a home: fewer than the hub threshold, and more in both homes together."""
WORDS = "lamp", "boat", "kite", "seat", "door"


def told(home: str, number: int) -> str:
    """Return three words, so that the mean length of a text is that of each home."""
    first, second = (WORDS[number // step % 5] for step in (1, 5))
    return f"{first} {second} {home}{number}"


def retain(agent: recollex.Agent, home: str, after: datetime) -> datetime:
    """Retain a home's memories, each some hours after another; nine of ten name Ann."""
    for number in range(COUNT):
        after += timedelta(hours=5)
        agent.retain(
            told(home, number),
            id=f"{home}-{number}",
            entities=["Ann"] if number % 10 else ["Bo"],
            document_id=f"{home}-{number // 4}",
            event_at=after,
            recorded_at=after,
            tags=[home],
        )
    return after


@pytest.fixture(scope="module")
def agents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filtered") / "s"
    with recollex.open(folder, embedder=WordVectors(), durability="off") as store:
        together, after = store.agent("together"), START
        for home in HOMES:
            retain(store.agent(home), home, after)
            after = retain(together, home, after)
        yield together, {home: store.agent(home) for home in HOMES}


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("Which boat has a lamp?", "association"),
        ("Hi, what did we say of the kite?", "addressed_keyword"),
    ],
)
@pytest.mark.parametrize("home", HOMES)
def test_a_filter_ranks_as_an_agent_of_its_own(agents, home, question, part):
    together, alone = agents
    now = START + timedelta(hours=5 * COUNT * (1 + HOMES.index(home)) + 1)
    own = alone[home].recall(question, now=now, explain=True)
    filtered = together.recall(question, now=now, explain=True, tags=[home])
    assert filtered.ids == own.ids and len(own) > 20
    for ours, theirs in zip(filtered, own, strict=True):
        assert ours.parts == theirs.parts and ours.score == theirs.score
    assert any(memory.parts.get(part) for memory in own)
