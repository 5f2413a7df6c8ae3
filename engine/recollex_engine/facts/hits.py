"""What a search returns: facts, events and episodes, each with its place and the reason for it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from recollex_engine.domain.surfaces import event_text, fact_text, object_text
from recollex_engine.facts.entities import Entity, entity_of
from recollex_engine.facts.events import Episode, Event, read_episode, read_event
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.facts import Fact, read_fact
from recollex_engine.facts.surface_search import Found

Item = TypeVar("Item", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Generic[Item]):
    """Something that a search found.

    kind: "fact", "event", "episode" or "entity"; in a recall also "memory". item: the `Fact`,
    `Event`, `Episode`, `Entity` or `Memory`. text: what was searched, its surface (see
    `domain.surfaces`), or the memory's text. score: the greater, the better. With a fusion of
    lists a memory's is its own of all arms. ranks: arm -> its place there, from 1.
    """

    kind: str
    item: Item
    text: str
    score: float
    ranks: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return the hit as JSON values, the item under the name of its kind."""
        item: Any = self.item
        return {
            "kind": self.kind,
            self.kind: item.to_dict(),
            "text": self.text,
            "score": self.score,
            "ranks": dict(self.ranks),
        }


def read_hits(view: FactView, found: Iterable[Found]) -> list[Hit[Any]]:
    """Return what a search of the cut found, in its order. Cost: 40 us each."""
    return [_read(view, each) for each in found]


def _read(view: FactView, found: Found) -> Hit[Any]:
    item: Fact | Event | Episode | Entity | None
    data = view.data
    number = found.number
    if found.kind == "fact":
        item = fact = read_fact(view, number)
        valid = data("fact_start")[number], data("fact_end")[number]
        text = fact_text(fact.subject, fact.predicate, object_text(fact.object), valid)
    elif found.kind == "entity":
        item = entity_of(view, number)
        text = item.name
    else:
        version = view.version_of(number, "event")
        span = data("span_start")[version], data("span_end")[version]
        if found.kind == "event":
            item = event = read_event(view, number)
            assert event is not None  # the search returns only what the cut shows
            who = {each.name: each.role for each in event.participants}
            text = event_text(event.summary, who, span)
        else:
            item = episode = read_episode(view, number)
            assert episode is not None
            text = event_text(episode.title, {}, span)
    return Hit(kind=found.kind, item=item, text=text, score=found.score, ranks=found.ranks)
