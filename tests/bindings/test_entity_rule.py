"""When are two names one entity? A setting of the agent, recorded in its log."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex.errors import InputError
from tests.bindings.word_vectors import WordVectors

AT = datetime(2024, 3, 1, tzinfo=UTC)
PAIRS = (("Google Inc", "Google"), ("Robert", "Bob"))


def store_in(folder: Path, **options: Any) -> recollex.Store:
    return recollex.open(folder, embedder=WordVectors(), **options)


def tell(agent: recollex.Agent) -> None:
    for number, pair in enumerate(PAIRS):
        for of_pair, name in enumerate(pair):
            text, id = f"They met {name} there.", f"{number}{of_pair}"
            agent.retain(text, id=id, event_at=AT, entities=[name])


def named(agent: recollex.Agent, number: int) -> list[str]:
    return sorted(m.id for m in agent.list(entities=[PAIRS[number][0]]))


def test_names_that_the_papers_resolve_are_one_under_the_printed_rule(tmp_path: Path) -> None:
    with store_in(tmp_path, entity_rule="memora") as store:
        tell(store.agent("ann"))
    log = sorted((tmp_path / "agents" / "ann" / "log").iterdir())[0]
    assert b'"entity_rule":"memora"' in log.read_bytes()
    with store_in(tmp_path) as store:  # the rule is that of the agent's creation
        ann = store.agent("ann")
        assert [named(ann, 0), named(ann, 1)] == [["00", "01"], ["10", "11"]]
        ann.retain("Robbie came.", id="12", event_at=AT, entities=["Robbie"])
        assert named(ann, 1) == ["10", "11", "12"]
        assert ann.verify().ok


def test_by_default_they_are_two(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        tell(store.agent("ann"))
        assert [named(store.agent("ann"), n) for n in (0, 1)] == [["00"], ["10"]]


def test_an_unknown_rule_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="entity_rule must be one of alike, memora, got 'paper'"):
        store_in(tmp_path, entity_rule="paper")
