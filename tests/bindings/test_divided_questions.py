"""A question of several names finds the best memory for each of them."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollex
from recollex import presets
from tests.bindings.word_vectors import WordVectors

TOLD_AT = datetime(2024, 5, 1, tzinfo=UTC)
QUESTION = "Do Fahim and Akib both like to travel?"
WHOLE = replace(presets.default, divides=False)
TEXTS = {
    "akib": "Akib said that he does like it.",
    "tea": "The tea is cold.",
    **{
        f"fahim {city}": f"Both like to travel: Fahim and {city} belong together."
        for city in ("Rome", "Oslo", "Cairo", "Lima", "Paris", "Quito")
    },
}


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[recollex.Agent]:
    with recollex.open(tmp_path / "s", embedder=WordVectors(), clock=lambda: TOLD_AT) as store:
        agent = store.agent("ann")
        agent.retain_many(list(TEXTS.values()), id=list(TEXTS), event_at=TOLD_AT)
        yield agent


def test_the_best_memory_for_each_name_comes_first(agent: recollex.Agent) -> None:
    whole = agent.recall(QUESTION, preset=WHOLE, explain=True)
    found = agent.recall(QUESTION, explain=True)
    best = [agent.recall(f"Do {name} like to travel?")[0].id for name in ("Fahim", "Akib")]
    lead = [id for id in best if id != whole.ids[0]]
    assert lead and found.ids[: 1 + len(lead)] == [whole.ids[0], *lead]
    assert found.ids != whole.ids
    assert sorted(found.ids) == sorted(whole.ids)
    assert "parts" in found.trace.stages and "parts" not in whole.trace.stages
    moved = {memory.id: memory.parts["divided"] for memory in found if memory.parts.get("divided")}
    assert list(moved) == lead
    scores = [memory.score for memory in found]
    assert scores == sorted(scores, reverse=True)
    assert (found.confidence, found.signs) == (whole.confidence, whole.signs)


def test_filters_hold_for_each_part(agent: recollex.Agent) -> None:
    agent.retain("Akib likes to travel by ship.", id="ship", tags=["sea"], event_at=TOLD_AT)
    agent.retain("Fahim likes a ship.", id="boat", tags=["sea"], event_at=TOLD_AT)
    assert set(agent.recall(QUESTION, tags=["sea"]).ids) == {"ship", "boat"}


def test_a_cut_divides_as_a_rebuilt_store_does(agent: recollex.Agent, tmp_path: Path) -> None:
    then = agent.get("akib").recorded_at
    agent.retain("Akib likes to travel.", id="late", event_at=TOLD_AT)
    agent.snapshot(then, tmp_path / "then")
    cut = agent.recall(QUESTION, as_recorded=then, explain=True)
    with recollex.open(tmp_path / "then", embedder=WordVectors(), clock=lambda: TOLD_AT) as store:
        rebuilt = store.agent("ann").recall(QUESTION, now=then, exact=True, explain=True)
    told = [(memory.id, memory.score, memory.parts) for memory in cut]
    assert told == [(memory.id, memory.score, memory.parts) for memory in rebuilt]
    assert "late" not in cut.ids


def test_a_given_vector_is_not_divided(agent: recollex.Agent) -> None:
    found = agent.recall(QUESTION, query_embedding=WordVectors().embed_query(QUESTION))
    assert found.ids == agent.recall(QUESTION, preset=WHOLE).ids
    assert "parts" not in found.trace.stages


def test_a_part_that_fails_leaves_the_whole_answer(
    agent: recollex.Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = agent.recall(QUESTION, preset=WHOLE)
    embed = WordVectors.embed_query

    def fail(self: WordVectors, text: str) -> object:
        if text != QUESTION:
            raise RuntimeError("no memory left")
        return embed(self, text)

    monkeypatch.setattr(WordVectors, "embed_query", fail)
    found = agent.recall(QUESTION)
    assert found.ids == whole.ids
    assert found.trace.errors == {"parts": "RuntimeError: no memory left"}


def test_papers_do_not_divide() -> None:
    assert presets.default.divides
    for name in ("tempr", "memora", "satf", "memotrace"):
        assert not getattr(presets, name).divides
    with pytest.raises(recollex.errors.InputError, match="divides must be True or False"):
        replace(presets.default, divides="yes")  # type: ignore[arg-type]
