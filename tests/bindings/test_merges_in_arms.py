"""MERGE_ENTITY counts in the arms: before its operation two entities, after it one."""

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recollex
from recollex import presets

DIMENSION = 16
START = datetime(2024, 5, 1, 9, tzinfo=UTC)
AXES = np.eye(DIMENSION, dtype=np.float32)
SPREADING = replace(presets.tempr, arms=("graph",))


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[recollex.Agent]:
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(DIMENSION)) as store:
        agent = store.agent("a")
        for n, (text, names) in enumerate(
            [
                ("the lighthouse keeper retired", ["Annabel"]),
                ("sings in a choir", ["Bella"]),
                ("bought a boat", ["Bella", "Annabel"]),
                ("paints fences", ["Carl"]),
            ]
        ):
            said = START + timedelta(days=30 * n)
            agent.retain(
                text,
                id=f"m{n}",
                entities=names,
                embedding=AXES[n],
                event_at=said,
                recorded_at=said,
            )
        yield agent


def ask(agent: recollex.Agent, preset: presets.Preset, **options: Any) -> list[tuple[str, float]]:
    now = START + timedelta(days=400)
    found = agent.recall("?", query_embedding=AXES[0], preset=preset, now=now, **options)
    assert not found.trace.errors
    return [(m.id, m.score) for m in found]


def ids(found: list[tuple[str, float]]) -> list[str]:
    return [id for id, _ in found]


def test_activation_passes_through_merged_entities_from_the_merge_on(
    agent: recollex.Agent,
) -> None:
    before = ask(agent, SPREADING)
    assert ids(before) == ["m0", "m2", "m1"]
    at = list(agent.log())[-1].recorded_at
    agent.facts.merge("Bella", "Carl")
    merged = ask(agent, SPREADING)
    assert ids(merged) == ["m0", "m2", "m3", "m1"]  # m3 is Carl's: one with Bella, and newer
    assert ask(agent, SPREADING, as_recorded=at) == before


def test_a_rare_entity_weighs_by_all_memories_of_the_merged(agent: recollex.Agent) -> None:
    def weight(name: str) -> float:
        view = agent.engine.view()
        entity = view.columns.entity(name, view.op)
        assert entity is not None
        return float(view.entity_weight[entity])

    assert weight("Annabel") == pytest.approx(1 / (1 + math.log(2)))
    agent.facts.merge("Bella", "Annabel")  # m0, m1, and m2, which names both
    assert weight("Annabel") == pytest.approx(1 / (1 + math.log(3)))
    agent.facts.merge("Carl", "Annabel")
    assert weight("Annabel") == pytest.approx(1 / (1 + math.log(4)))


def test_the_default_associates_over_merged_entities(agent: recollex.Agent) -> None:
    at = list(agent.log())[-1].recorded_at

    def reached(**options: Any) -> set[str]:
        now = START + timedelta(days=400)
        found = agent.recall(
            "lighthouse", query_embedding=AXES[0], now=now, explain=True, **options
        )
        return {m.id for m in found if "graph" in m.ranks}

    assert reached() == {"m2"}
    agent.facts.merge("Carl", "Annabel")
    assert reached() == {"m2", "m3"}
    assert reached(as_recorded=at) == {"m2"}


def test_a_closed_alias_parts_them_again(agent: recollex.Agent) -> None:
    apart = ask(agent, SPREADING)
    alias = {"op": "UPSERT_EDGE", "src": "Carl", "rel": "alias_of", "dst": "Annabel", "id": "same"}
    agent.apply([alias])
    assert "m3" in ids(ask(agent, SPREADING))
    agent.apply([{"op": "ARCHIVE_EDGE", "edge_id": "same"}])
    assert ask(agent, SPREADING) == apart


def test_what_is_written_after_a_merge_belongs_to_the_merged(agent: recollex.Agent) -> None:
    agent.facts.merge("Bella", "Annabel")
    ask(agent, SPREADING)
    agent.retain("won a prize", id="new", entities=["Bella"], embedding=AXES[5])
    assert "new" in ids(ask(agent, SPREADING))
    assert ids(ask(agent, SPREADING)).count("m2") == 1
    assert agent.verify().ok
