"""How are two intervals of time related? Allen's thirteen relations, and bounds on both ends.

Allen, "Maintaining knowledge about temporal intervals" (CACM 26(11), 1983), figure 2. Intervals are
half-open [start, end) with start < end, in int64 microseconds. An open end is `OPEN_END`, an open
start is `OPEN_START`; two open ends are equal.
"""

from dataclasses import dataclass
from datetime import datetime

from recollex_engine.clock import OPEN_END, from_micros
from recollex_engine.errors import InputError

OPEN_START = -OPEN_END
"""Stands for the start of an interval that has no start."""

Span = tuple[int, int]
Moments = tuple[datetime | None, datetime | None]
"""An interval as datetimes; None for an open start or end."""

_SIGNS: dict[tuple[int, int, int, int], str] = {
    # signs of: start - a, start - b, end - a, end - b
    (-1, -1, -1, -1): "before",
    (-1, -1, 0, -1): "meets",
    (-1, -1, 1, -1): "overlaps",
    (-1, -1, 1, 0): "finished_by",
    (-1, -1, 1, 1): "contains",
    (0, -1, 1, -1): "starts",
    (0, -1, 1, 0): "equals",
    (0, -1, 1, 1): "started_by",
    (1, -1, 1, -1): "during",
    (1, -1, 1, 0): "finishes",
    (1, -1, 1, 1): "overlapped_by",
    (1, 0, 1, 1): "met_by",
    (1, 1, 1, 1): "after",
}
RELATIONS = tuple(_SIGNS.values())
"""The names of the relations of one interval to another, [a, b)."""
_SIGNS_OF = {name: signs for signs, name in _SIGNS.items()}
_COMPARED = {-1: "lt", 0: "eq", 1: "gt"}


def relation(one: Span, other: Span) -> str:
    """Return the one relation of ``one`` to ``other``.

    >>> relation((1, 3), (3, 9)), relation((4, 5), (3, 9))
    ('meets', 'during')
    """
    (start, end), (a, b) = one, other
    return _SIGNS[_sign(start, a), _sign(start, b), _sign(end, a), _sign(end, b)]


@dataclass(frozen=True, slots=True)
class Box:
    """The intervals whose start and whose end lie within bounds, both bounds included."""

    start: Span = (OPEN_START, OPEN_END)
    end: Span = (OPEN_START, OPEN_END)

    def __and__(self, other: "Box") -> "Box":
        """Return the intervals of both boxes.

        >>> Box(start=(1, 5)) & Box(start=(3, 9), end=(0, 7))
        Box(start=(3, 5), end=(0, 7))
        """
        return Box(
            (max(self.start[0], other.start[0]), min(self.start[1], other.start[1])),
            (max(self.end[0], other.end[0]), min(self.end[1], other.end[1])),
        )

    @property
    def is_empty(self) -> bool:
        """Whether no interval lies in it."""
        return self.start[0] > self.start[1] or self.end[0] > self.end[1]

    def holds(self, start: int, end: int) -> bool:
        """Return whether [start, end) lies in it."""
        return self.start[0] <= start <= self.start[1] and self.end[0] <= end <= self.end[1]


EVERY = Box()
"""The box of all intervals."""


def bounds(operator: str, first: int, last: int) -> Span:
    """Return the bounds of a value that is lt, le, eq, ge or gt [first, last], bounds included.

    >>> bounds("eq", 3, 5), bounds("lt", 3, 5)[1], bounds("gt", 3, 5)[0]
    ((3, 5), 2, 6)
    """
    return {
        "lt": (OPEN_START, first - 1),
        "le": (OPEN_START, last),
        "eq": (first, last),
        "ge": (first, OPEN_END),
        "gt": (last + 1, OPEN_END),
    }[operator]


def related(name: str, to: Span) -> Box:
    """Return the intervals that have the relation ``name`` to the interval ``to``.

    Raises `InputError` for a name that is not in `RELATIONS`.

    >>> related("before", (3, 4)).holds(1, 2), related("before", (3, 4)).holds(5, 9)
    (True, False)
    """
    if name not in _SIGNS_OF:
        raise InputError(f"relation must be one of {', '.join(RELATIONS)}, got {name!r}")
    start = EVERY
    end = EVERY
    for bound, sign in zip(to, _SIGNS_OF[name][:2], strict=True):
        start &= Box(start=bounds(_COMPARED[sign], bound, bound))
    for bound, sign in zip(to, _SIGNS_OF[name][2:], strict=True):
        end &= Box(end=bounds(_COMPARED[sign], bound, bound))
    return start & end


def overlapping(other: Span) -> Box:
    """Return the intervals that share a moment with ``other``.

    >>> overlapping((3, 6)).holds(1, 3), overlapping((3, 6)).holds(5, 9)
    (False, True)
    """
    return Box(bounds("lt", other[1], other[1]), bounds("gt", other[0], other[0]))


def within(other: Span) -> Box:
    """Return the intervals that lie within ``other`` or equal it.

    >>> within((1, 6)).holds(1, 3), within((1, 6)).holds(5, 9)
    (True, False)
    """
    return Box(bounds("ge", other[0], other[0]), bounds("le", other[1], other[1]))


def check_interval(start: int | None, end: int | None, name: str) -> Span:
    """Return the interval, with `OPEN_START` and `OPEN_END` in place of None.

    Raises `InputError` if the end is not after the start.
    """
    first = OPEN_START if start is None else start
    last = OPEN_END if end is None else end
    if last <= first:
        raise InputError(
            f"{name} must end after it starts, got start {from_micros(first).isoformat()} and end "
            f"{from_micros(last).isoformat()}: an instant ends a microsecond after its start"
        )
    return first, last


def to_moments(start: int, end: int) -> Moments:
    """Return an interval as datetimes; None for an open start or end."""
    return (
        None if start == OPEN_START else from_micros(start),
        None if end == OPEN_END else from_micros(end),
    )


def _sign(one: int, other: int) -> int:
    return (one > other) - (one < other)
