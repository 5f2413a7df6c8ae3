"""A fact whose turns all stand before it comes after what says more; nothing is lost."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollex
from tests.bindings.word_vectors import WordVectors

TURNS = {
    "t1": "Leila moved to Bergen with her two dogs.",
    "t2": "Leila bought a house in Bergen.",
    "t3": "The ferry to Bergen was late, says Leila, and it rained.",
    "t4": "Leila paints in the evening.",
}
FACTS: dict[str, tuple[str, list[str]]] = {
    "one": ("Leila moved to Bergen, and she has dogs, two of them by now.", ["t1"]),
    "both": ("Leila lives somewhere in Bergen, in some house of her own.", ["t1", "t2"]),
    "gone": ("Leila is in Bergen for a while, as somebody once said.", ["t1", "never"]),
}
ASKED = "Leila moved to Bergen with her dogs"


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[recollex.Agent]:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        for id, text in TURNS.items():
            agent.retain(text, id=id)
        yield agent


def draw(agent: recollex.Agent, *ids: str, **metadata: Any) -> None:
    for id in ids:
        text, turns = FACTS[id]
        noted = {"extraction": "atomic-1", "evidence": turns} | metadata
        agent.retain(text, id=id, metadata={name: x for name, x in noted.items() if x})


def order(agent: Any, **options: Any) -> list[str]:
    recall = agent.recall(ASKED, explain=True, **options)
    assert not recall.trace.errors
    for memory in recall:
        assert sum(memory.parts.values()) == pytest.approx(memory.score)
    scores = [memory.score for memory in recall]
    assert scores == sorted(scores, reverse=True)
    return [memory.id for memory in recall]


def test_it_stands_behind_and_none_is_lost(agent: recollex.Agent) -> None:
    draw(agent, "one", extraction=None)  # a memory like any other
    plain = order(agent)
    assert plain.index("one") < plain.index("t4")
    agent.amend("one", metadata={"extraction": "atomic-1", "evidence": ["t1"]})
    assert order(agent) == [id for id in plain if id != "one"] + ["one"]
    assert order(agent, limit=4) == [id for id in plain if id != "one"]


def test_it_stays_where_one_of_its_turns_stands_behind_it(agent: recollex.Agent) -> None:
    draw(agent, "one", "both", "gone")
    found = order(agent)
    assert found[-1] == "one" or found[-2:] in (["one", "both"], ["both", "one"])
    assert found.index("gone") < len(found) - 2  # its turn is not there
    only = order(agent, where={"extraction": {"exists": True}})
    assert set(only) == set(FACTS)  # and no turn is in that list


def test_a_turn_that_comes_later_counts_from_then_on(agent: recollex.Agent) -> None:
    draw(agent, "gone")
    before = order(agent)
    at = agent.log()[-1].recorded_at
    agent.retain("Leila moved to Bergen with her dogs.", id="never")
    assert order(agent)[-1] == "gone"
    assert order(agent, as_recorded=at) == before
    assert before[-1] != "gone"


def test_another_preset_leaves_it(agent: recollex.Agent) -> None:
    draw(agent, "one")
    for preset in ("tempr", "memora"):
        recall = agent.recall(ASKED, preset=preset)
        ids = [memory.id for memory in recall]
        assert ids.index("one") < ids.index("t4")
