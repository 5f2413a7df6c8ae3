"""Stages of a recall that fail."""

import pytest

from recollex_engine.dates import time_parser
from recollex_engine.ranking import arm_table, arms
from tests.engine.faults.small_store import opened, vectors


@pytest.mark.parametrize(
    ("stage", "module", "name", "preset"),
    [
        ("parse", time_parser, "find_range", "default"),
        ("keyword", arms, "keyword", "default"),
        ("semantic", arm_table, "semantic", "default"),
        ("graph", arm_table, "graph", "tempr"),
        ("temporal", arm_table, "temporal", "tempr"),
    ],
)
def test_a_recall_answers_without_the_part_that_failed(
    path, held, monkeypatch, stage, module, name, preset
):
    def broken(*_, **__):
        raise IndexError("broken")

    with opened(path) as agent:
        query = {"query_embedding": vectors(999, 1)[0], "preset": preset}
        whole = agent.recall("tea in May", **query)
        assert not whole.trace.errors
        monkeypatch.setattr(module, name, broken)
        found = agent.recall("tea in May", **query)
    assert found.trace.errors == {stage: "IndexError: broken"}
    assert len(found)
