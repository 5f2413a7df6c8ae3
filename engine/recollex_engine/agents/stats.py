"""How much does an agent hold? Counts of memories, facts, events and bytes."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recollex_engine.facts.events import EVENT
from recollex_engine.facts.fact_view import FactView
from recollex_engine.state.view import View
from recollex_engine.storage.disk import bytes_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """How much an agent holds.

    forgotten: versions of memories that were forgotten, replaced, corrected or amended; not erased.
    facts, events: those that are open; a hidden event, which includes a closed fact, counts too.
    """

    memories: int
    forgotten: int
    archived: int
    passages: int
    entities: int
    terms: int
    links: int
    facts: int
    events: int
    operations: int
    tail_passages: int
    bytes_on_disk: int
    model: str | None
    language: str | None
    locale: str | None
    token_counter: str | None


def count(view: View | None, folder: Path) -> Stats:
    """Return the statistics of ``view`` of the agent in ``folder``; None for an empty agent."""
    used = bytes_in(folder)
    if view is None:
        return Stats(
            memories=0,
            forgotten=0,
            archived=0,
            passages=0,
            entities=0,
            terms=0,
            links=0,
            facts=0,
            events=0,
            operations=0,
            tail_passages=0,
            bytes_on_disk=used,
            model=None,
            language=None,
            locale=None,
            token_counter=None,
        )
    settings = view.columns.settings
    opened = int(np.count_nonzero(view.open))
    archived = _archived(view)
    facts = FactView(view.columns, view.op)
    return Stats(
        memories=opened,
        forgotten=view.memories - opened - archived - _erased(view),
        archived=archived,
        passages=view.rows,
        entities=view.named_entities,
        terms=view.terms,
        links=int(view.offsets("link_offset")[-1]),
        facts=len(facts.all()),
        events=_events(facts),
        operations=view.op,
        tail_passages=view.rows - view.indexed_rows,
        bytes_on_disk=used,
        model=settings.model if settings else None,
        language=settings.language if settings else None,
        locale=settings.locale if settings else None,
        token_counter=settings.counter if settings else None,
    )


def _erased(view: View) -> int:
    """Return how many memories are erased: their own operation closes them."""
    closed_by = view.of_memories("closed_by")
    op = view.of_memories("op")
    return int(np.count_nonzero(closed_by == op))


def _archived(view: View) -> int:
    """Return how many memories are archived in ``view``."""
    kind = view.columns.dictionary["labels"].get("k:archive")
    if kind is None:
        return 0
    closed = np.flatnonzero(view.open == 0)
    forgotten = view.of_memories("forgotten_by")[closed]
    left = closed[(forgotten == 0) | (forgotten > view.op)]
    by = view.of_memories("closed_by")[left].astype(np.int64)
    return int(np.count_nonzero(view.buffer("op_kind")[by - 1] == kind))


def _events(view: FactView) -> int:
    """Return how many events, without episodes, are open in ``view``."""
    end = view.count_of("event")
    kinds, closed = (
        view.columns.column[f"event_{name}"].buffer[:end] for name in ("kind", "closed_by")
    )
    opened = (closed == 0) | (closed > view.op)
    return int(np.count_nonzero(opened & (kinds == EVENT)))
