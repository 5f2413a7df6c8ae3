"""How well known are the names of a turn or an event? By frequency, recency and centrality.

MemoTrace names recency, frequency across sessions and centrality among the parts of salience, and
gives no formula. Here, for the best known of the names::

    frequency  = min(1, other documents that mention it / 5)
    recency    = 2 ** -(time since it was last mentioned / 14 days), 0 if it was not
    centrality = min(1, ln(1 + facts that name it) / ln(21))

Only the newest `LOOKED` mentions and facts of a name are looked at.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from recollex_engine.clock import DAY
from recollex_engine.facts.fact_view import FactView
from recollex_engine.state.chain import NONE
from recollex_engine.state.view import View

LOOKED = 64
"""Limit of the mentions, and of the facts, that are looked at for one name."""
DOCUMENTS_ENOUGH = 5
HALF_LIFE = 14 * DAY
FACTS_ENOUGH = 20


@dataclass(frozen=True, slots=True)
class Standing:
    """How well known some names are, each part in [0, 1]; the greatest of the names counts."""

    frequency: float = 0.0
    recency: float = 0.0
    centrality: float = 0.0


UNKNOWN = Standing()


def standing_of(
    view: View | None, facts: FactView, names: Iterable[str], document: str | None, at: int
) -> Standing:
    """Return the standing of names at a time, microseconds; mentions in ``document`` do not count.

    Cost: `LOOKED` mentions and facts a name, about 30 us.
    """
    if view is None:
        return UNKNOWN
    frequency = recency = centrality = 0.0
    columns = view.columns
    own = None if document is None else columns.dictionary["labels"].get(f"d:{document}")
    documents, times = view.of_memories("document"), view.of_memories("said_at")
    for name in names:
        entity = columns.entity(name, view.op)
        if entity is None:
            continue
        found = set()
        newest: int | None = None
        for memory in islice(_mentions(view, entity), LOOKED):
            if documents[memory] != own or own is None:
                found.add(int(documents[memory]))
                newest = max(int(times[memory]), newest or int(times[memory]))
        frequency = max(frequency, min(1.0, len(found) / DOCUMENTS_ENOUGH))
        if newest is not None:
            recency = max(recency, recency_of(at - newest))
        centrality = max(centrality, _centrality(facts, entity))
    return Standing(frequency, recency, centrality)


def recency_of(age: int) -> float:
    """Return 2 ** -(age / 14 days) for an age in microseconds; 1 for the future.

    >>> recency_of(14 * DAY)
    0.5
    """
    return float(2.0 ** -(max(0, age) / HALF_LIFE))


def _centrality(facts: FactView, entity: int) -> float:
    root = facts.root(entity)
    count = sum(
        1
        for keys in ("fact_subject", "fact_entity")
        for _ in islice(facts.entries(keys, root), LOOKED)
    )
    return min(1.0, math.log1p(count) / math.log1p(FACTS_ENOUGH))


def _mentions(view: View, entity: int) -> Iterator[int]:
    """Yield the memories of a view that mention an entity, newest first."""
    memories, previous = view.buffer("mention_memory"), view.buffer("mention_previous")
    head = view.entity_head
    for member in view.same_entities(entity):
        entry = int(head[member]) if member < len(head) else NONE
        while entry != NONE:
            if (memory := int(memories[entry])) < view.memories:
                yield memory
            entry = int(previous[entry])
