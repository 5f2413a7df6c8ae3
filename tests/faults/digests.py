"""What an agent holds and answers, as a value that can be compared to the bit."""

from datetime import UTC, datetime
from typing import Any

from tests.engine.faults.small_store import vectors

NOW = datetime(2030, 1, 1, tzinfo=UTC)
QUESTIONS = ("tea ink", "owl", "Memory 7 of Ann")

Digest = tuple[Any, ...]
NOTHING: Digest = ((), ((),) * len(QUESTIONS), (), ())


def digest(agent: Any) -> Digest:
    """Return what an agent holds and answers, to the bit."""
    held = tuple((memory.id, memory.text, memory.tags) for memory in agent.list(limit=100_000))
    asked = []
    for question, vector in zip(QUESTIONS, vectors(999, len(QUESTIONS)), strict=True):
        found = agent.recall(question, query_embedding=vector, now=NOW, exact=True)
        assert not found.trace.errors, found.trace.errors
        asked.append(tuple((memory.id, memory.score) for memory in found))
    facts = tuple(repr(fact) for fact in agent.facts.find())
    events = tuple(repr(event) for event in agent.events.find())
    return held, tuple(asked), facts, events
