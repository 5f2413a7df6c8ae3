"""How are two intervals of time related? Allen's thirteen relations, over arrays.

Allen, "Maintaining knowledge about temporal intervals" (CACM 26(11), 1983), figure 2. Intervals are
half-open [start, end) with start < end, in int64 microseconds. An open end is `OPEN_END`, an open
start is `OPEN_START`; two open ends are equal.
"""

from datetime import datetime

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import OPEN_END, from_micros
from recollex_engine.errors import InputError

OPEN_START = -OPEN_END
"""Stands for the start of an interval that has no start."""

Times = npt.NDArray[np.int64]
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


def relation(one: Span, other: Span) -> str:
    """Return the one relation of ``one`` to ``other``.

    >>> relation((1, 3), (3, 9)), relation((4, 5), (3, 9))
    ('meets', 'during')
    """
    (start, end), (a, b) = one, other
    return _SIGNS[_sign(start, a), _sign(start, b), _sign(end, a), _sign(end, b)]


def related(name: str, start: Times, end: Times, to: Span) -> npt.NDArray[np.bool_]:
    """Return bool[n]: whether [start[i], end[i]) has the relation ``name`` to the interval ``to``.

    Raises `InputError` for a name that is not in `RELATIONS`. Cost: O(n), four comparisons.

    >>> related("before", np.array([1, 5]), np.array([2, 9]), (3, 4))
    array([ True, False])
    """
    if name not in _SIGNS_OF:
        raise InputError(f"relation must be one of {', '.join(RELATIONS)}, got {name!r}")
    a, b = to
    wanted = _SIGNS_OF[name]
    pairs = ((start, a), (start, b), (end, a), (end, b))
    found = np.ones(len(start), np.bool_)
    for (values, bound), sign in zip(pairs, wanted, strict=True):
        found &= values < bound if sign < 0 else values > bound if sign else values == bound
    return found


def overlapping(start: Times, end: Times, other: Span) -> npt.NDArray[np.bool_]:
    """Return bool[n]: whether [start[i], end[i]) and ``other`` overlap.

    >>> overlapping(np.array([1, 5]), np.array([3, 9]), (3, 6))
    array([False,  True])
    """
    found: npt.NDArray[np.bool_] = (start < other[1]) & (end > other[0])
    return found


def within(start: Times, end: Times, other: Span) -> npt.NDArray[np.bool_]:
    """Return bool[n]: whether [start[i], end[i]) lies within ``other`` or equals it.

    >>> within(np.array([1, 5]), np.array([3, 9]), (1, 6))
    array([ True, False])
    """
    found: npt.NDArray[np.bool_] = (start >= other[0]) & (end <= other[1])
    return found


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
