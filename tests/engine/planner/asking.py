"""What the planner's tests share: a view of some facts, and what a question must come to."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import recollex
from recollex_engine.clock import to_micros
from recollex_engine.facts.fact_view import FactView
from recollex_engine.planner.plan import Plan, plan

NOW = to_micros("2026-11-24T00:00Z", "now")


def facts_in(folder: Path, facts: Sequence[tuple[Any, ...]]) -> Iterator[FactView]:
    with recollex.open(folder, embedder=recollex.GivenVectors(8)) as store:
        agent = store.agent("ann")
        with agent.transaction() as tx:
            for subject, predicate, value, valid in facts:
                tx.facts.add(subject, predicate, value, valid=valid)
        yield agent.facts.view()


def answered(question: str, view: FactView, values: Sequence[object]) -> Plan:
    """Assert that the planner answers with these values; return the plan."""
    found = plan(question, view, NOW)
    assert found.lacks is None and list(found.values) == values
    return found


def declined(question: str, view: FactView, lack: str) -> Plan:
    """Assert that the planner declines, and says ``lack``; return the plan."""
    found = plan(question, view, NOW)
    assert found.lacks is not None and lack in found.lacks
    return found
