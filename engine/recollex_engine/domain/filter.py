"""Which memories are meant? One filter for recalls, lists, counts, forgetting, erasing, exports."""

from dataclasses import dataclass, field, fields

from recollex_engine.clock import OPEN_END, from_micros
from recollex_engine.domain.checks import check_names
from recollex_engine.domain.metadata_conditions import Where
from recollex_engine.domain.trust import stamp
from recollex_engine.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Conditions on memories; a memory must meet all of them.

    tags, entities: it has all of them. any_tags: it has one of them; no_tags: it has none of them.
    document_id, source, speakers: it is of one of them; no case matters in a speaker's name.
    network, roles: numbers of networks and of speakers' roles, one of them; none for all. trust:
    the number of the least level of trust; 0 for all memories. since, until: its event's time
    overlaps [since, until). recorded_since, recorded_until: it was recorded in that interval.
    ends_after: its `valid_until` is later than this, or it has none; ends_by: its `valid_until` is
    not later. as_world: its event had begun by this time of the world, and its validity had not
    ended. where: conditions on its metadata. Times are microseconds UTC, None for any.

    >>> bool(Filter()), bool(Filter(tags=("work",)))
    (False, True)
    """

    tags: tuple[str, ...] = ()
    any_tags: tuple[str, ...] = ()
    no_tags: tuple[str, ...] = ()
    document_id: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    network: tuple[int, ...] = ()
    roles: tuple[int, ...] = ()
    trust: int = 0
    since: int | None = None
    until: int | None = None
    recorded_since: int | None = None
    recorded_until: int | None = None
    ends_after: int | None = None
    ends_by: int | None = None
    as_world: int | None = None
    where: Where = ()
    narrows: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("tags", "any_tags", "no_tags", "document_id", "speakers", "entities"):
            check_names(getattr(self, name), name)
        for source in self.source:
            stamp("" if source is None else source)
        for prefix in ("", "recorded_"):
            start = getattr(self, f"{prefix}since")
            end = getattr(self, f"{prefix}until")
            if start is not None and end is not None and start >= end:
                raise InputError(
                    f"{prefix}since must be earlier than {prefix}until, got {prefix}since "
                    f"{from_micros(start)} and {prefix}until {from_micros(end)}: swap them"
                )
        given = (getattr(self, each.name) != each.default for each in fields(self) if each.init)
        object.__setattr__(self, "narrows", any(given))

    def __bool__(self) -> bool:
        return self.narrows


def bounds(start: int | None, end: int | None) -> tuple[int, int] | None:
    """Return an interval with numbers for its open ends; None if both are open.

    >>> bounds(None, None), bounds(0, None) == (0, OPEN_END)
    (None, True)
    """
    if start is None and end is None:
        return None
    return -OPEN_END if start is None else start, OPEN_END if end is None else end


EVERYTHING = Filter()
"""The filter that every memory passes."""
