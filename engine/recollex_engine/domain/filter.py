"""Which memories are meant? One filter for recalls, lists, counts, forgetting, erasing, exports."""

from dataclasses import dataclass, field
from typing import Any

from recollex_engine.clock import OPEN_END, from_micros
from recollex_engine.domain.checks import check_names
from recollex_engine.domain.metadata_conditions import Where
from recollex_engine.domain.trust import stamp
from recollex_engine.errors import InputError

Interval = tuple[int | None, int | None]
"""[start, end) in microseconds UTC; None for an open end."""
_ALWAYS: Interval = (None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Conditions on memories; a memory must meet all of them.

    tags, entities: it has all of them. any_tags: it has one of them; no_tags: it has none of them.
    documents, sources, speakers: it is of one of them; no case matters in a speaker's name.
    networks, roles: numbers of networks and of speakers' roles, one of them; None for all. trust:
    the number of the least level of trust; 0 for all memories. event: its event's time overlaps
    this interval. recorded: it was recorded in this interval. ends_after: its
    `valid_until` is later than this, or it has none; ends_by: its `valid_until` is not later.
    as_world: its event had begun by this time of the world, and its validity had not ended; None
    for any time. where: conditions on its metadata.

    >>> bool(Filter()), bool(Filter(tags=("work",)))
    (False, True)
    """

    tags: tuple[str, ...] = ()
    any_tags: tuple[str, ...] = ()
    no_tags: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    networks: tuple[int, ...] | None = None
    roles: tuple[int, ...] | None = None
    trust: int = 0
    event: Interval = _ALWAYS
    recorded: Interval = _ALWAYS
    ends_after: int | None = None
    ends_by: int | None = None
    as_world: int | None = None
    where: Where = ()
    narrows: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, values in (
            ("tags", self.tags),
            ("any_tags", self.any_tags),
            ("no_tags", self.no_tags),
            ("document_id", self.documents),
            ("speakers", self.speakers),
            ("entities", self.entities),
        ):
            check_names(values, name)
        for source in self.sources:
            stamp("" if source is None else source)
        for prefix, (start, end) in (("", self.event), ("recorded_", self.recorded)):
            if start is not None and end is not None and start >= end:
                raise InputError(
                    f"{prefix}since must be earlier than {prefix}until, got {prefix}since "
                    f"{from_micros(start)} and {prefix}until {from_micros(end)}: swap them"
                )
        object.__setattr__(self, "narrows", any(_asked(self)))

    def __bool__(self) -> bool:
        return self.narrows


def _asked(given: Filter) -> tuple[Any, ...]:
    """Return what of a filter is a condition."""
    return (
        given.tags,
        given.any_tags,
        given.no_tags,
        given.documents,
        given.sources,
        given.speakers,
        given.entities,
        given.networks is not None,
        given.roles is not None,
        given.trust,
        given.event != _ALWAYS,
        given.recorded != _ALWAYS,
        given.where,
        given.ends_after is not None,
        given.ends_by is not None,
        given.as_world is not None,
    )


def bounds(interval: Interval) -> tuple[int, int] | None:
    """Return an interval with numbers for its open ends; None if both are open.

    >>> bounds((None, None)), bounds((0, None)) == (0, OPEN_END)
    (None, True)
    """
    start, end = interval
    if start is None and end is None:
        return None
    return -OPEN_END if start is None else start, OPEN_END if end is None else end


EVERYTHING = Filter()
"""The filter that every memory passes."""
