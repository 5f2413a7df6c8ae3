"""Entities that were merged are parted again, and every moment shows them as they were then."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex.errors import InputError, UnknownIdError
from tests.bindings.word_vectors import WordVectors


@pytest.fixture
def store(tmp_path: Path) -> Iterator[recollex.Store]:
    with recollex.open(tmp_path, embedder=WordVectors()) as opened:
        yield opened


@pytest.fixture
def ann(store: recollex.Store) -> recollex.Agent:
    agent = store.agent("ann")
    agent.retain("Bobby Quill likes tea.", id="b")
    agent.retain("Robert Chen likes ink.", id="r")
    agent.facts.merge("Bobby Quill", "Robert Chen", by="ben")
    return agent


def named(agent: Any, name: str) -> list[str]:
    return [memory.id for memory in agent.list(entities=[name])]


def test_they_are_two_again_and_one_between(ann: recollex.Agent, store: recollex.Store) -> None:
    merged = ann.log()[-1].recorded_at
    assert named(ann, "Robert Chen") == named(ann, "Bobby Quill") == ["b", "r"]
    ann.facts.split("Bobby Quill", by="ann", why="two people")
    assert (named(ann, "Robert Chen"), named(ann, "Bobby Quill")) == (["r"], ["b"])
    assert named(ann.at(merged), "Robert Chen") == ["b", "r"]
    [said] = ann.log(op="split_entity")
    assert (said.ids, said.by, said.why) == (("Bobby Quill",), "ann", "two people")
    ann.checkpoint()
    with recollex.open(store.path, embedder=WordVectors(), read_only=True) as reader:
        again = reader.agent("ann")
        assert (named(again, "Robert Chen"), named(again.at(merged), "Robert Chen")) == (
            ["r"],
            ["b", "r"],
        )
        assert named(again, "Bobby Quill") == ["b"]
    ann.facts.merge("Robert Chen", "Bobby Quill")  # once more, the other way round
    assert named(ann, "Robert Chen") == ["b", "r"]
    ann.checkpoint()
    assert ann.verify().ok


def test_what_was_merged_into_it_stays_with_it(ann: recollex.Agent) -> None:
    ann.retain("Bo likes oak.", id="o", entities=["Bo"])
    ann.facts.merge("Bo", "Bobby Quill")
    ann.facts.split("bobby quill")
    assert (named(ann, "Bo"), named(ann, "Robert Chen")) == (["b", "o"], ["r"])


def test_in_a_transaction_it_parts_what_that_merged(ann: recollex.Agent) -> None:
    ann.retain("Bo likes oak.", id="o", entities=["Bo"])
    with ann.transaction() as tx:
        tx.facts.merge("Bo", "Robert Chen")
        tx.facts.split("Bo")
        tx.facts.split("Bobby Quill")
        tx.facts.merge("Bobby Quill", "Bo")
    assert (named(ann, "Bo"), named(ann, "Robert Chen")) == (["b", "o"], ["r"])


def test_what_was_not_merged_is_refused_and_what_could_be_is_named(ann: recollex.Agent) -> None:
    message = "'Robert Chen' was not merged into another entity: split 'Bobby Quill' from it"
    with pytest.raises(InputError, match=message):
        ann.facts.split("Robert Chen")
    with pytest.raises(UnknownIdError):
        ann.facts.split("Nobody")
    ann.apply([{"op": "SPLIT_ENTITY", "source": "Bobby Quill"}])
    with pytest.raises(InputError, match=r"was not merged into another entity$"):
        ann.facts.split("Bobby Quill")
    assert [entry.kind for entry in ann.log()].count("split_entity") == 1
