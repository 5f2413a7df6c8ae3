"""Which episodes does a cut see? Those with a visible event. Episodes are never evidence."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollex_engine.clock import from_micros, iso_moments
from recollex_engine.domain.fact_schema import ARCHIVED
from recollex_engine.domain.intervals import Moments, to_moments
from recollex_engine.facts.events import (
    AGGREGATES,
    EPISODE,
    edges_from,
    edges_to,
    event_status,
    event_visible_at,
)
from recollex_engine.facts.fact_view import FactView


@dataclass(frozen=True, slots=True)
class Episode:
    """A group of events, as one cut sees it.

    events: the ids of the events that the cut sees. window: the time that the episode is about.
    freshness: the latest freshness of its visible events.
    """

    id: str
    title: str
    window: Moments
    recorded: tuple[datetime, datetime | None]
    freshness: datetime
    events: tuple[str, ...]
    by: str | None
    why: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return the episode as JSON values, times in ISO 8601."""
        return {
            "id": self.id,
            "title": self.title,
            "window": iso_moments(self.window),
            "recorded": iso_moments(self.recorded),
            "freshness": self.freshness.isoformat(),
            "events": list(self.events),
            "by": self.by,
            "why": self.why,
        }


def read_episode(view: FactView, key: int) -> Episode | None:
    """Return an episode by its number in `event_ids`, or None if the cut does not see it."""
    version = view.version_of(key, "event")
    if version is None or view.data("event_kind")[version] != EPISODE:
        return None
    if event_status(view, key) == ARCHIVED:
        return None
    members = [edge.target for edge in edges_from(view, key) if edge.relation == AGGREGATES]
    seen = {
        event: fresh for event in members if (fresh := event_visible_at(view, event)) is not None
    }
    if not seen:
        return None
    columns = view.columns
    label = view.columns.label
    data = view.data
    start, end = view.recorded(version, "event")
    by, why = view.note(data("event_op")[version])
    return Episode(
        columns.dictionary["event_ids"].string(key),
        str(label(data("event_summary")[version])),
        to_moments(data("span_start")[version], data("span_end")[version]),
        (from_micros(start), None if end is None else from_micros(end)),
        from_micros(max(seen.values())),
        tuple(columns.dictionary["event_ids"].strings(seen)),
        by,
        why,
    )


def find_episodes(view: FactView, event: str | None = None) -> list[Episode]:
    """Return the visible episodes, only those with ``event`` if it is given, in recorded order."""
    if event is not None:
        number = view.columns.dictionary["event_ids"].get(event)
        keys = (
            set()
            if number is None
            else {
                edge.source
                for edge in edges_to(view, "event", number)
                if edge.relation == AGGREGATES
            }
        )
    else:
        kinds = view.columns.column["event_kind"].buffer[: view.count_of("event")]
        ids = view.columns.column["event_id"].buffer[: view.count_of("event")]
        keys = set(ids[kinds == EPISODE].tolist())
    found = (read_episode(view, key) for key in sorted(keys))
    return [episode for episode in found if episode is not None]
