"""What did an event say before? Its versions, each with the facts that it rested on then."""

from dataclasses import replace

from recollex_engine.clock import from_micros
from recollex_engine.facts.events import Event, read_event
from recollex_engine.facts.fact_view import FactView


def event_history(view: FactView, id: str) -> list[Event]:
    """Return the versions of an event, oldest first, each as it was seen when it was recorded.

    Without those that were hidden then. ``recorded`` ends when the next version was recorded.
    """
    found = []
    for version in view.versions(id, "event"):
        then = FactView(view.columns, view.data("event_op")[version], None, view.least_trust)
        event = read_event(then, view.data("event_id")[version])
        if event is not None:
            end = view.recorded(version, "event")[1]
            closed = None if end is None else from_micros(end)
            found.append(replace(event, recorded=(event.recorded[0], closed)))
    return found
