"""Times at the precision given: "2002-02" is a month, "1999" a year, "2024-05-04" a day."""

import re
from datetime import UTC, datetime, timedelta, tzinfo

from recollex_engine.clock import to_micros
from recollex_engine.domain.qualifiers import precision_note
from recollex_engine.errors import InputError

_PARTIAL = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?")
_RANGE = re.compile(r"(\d{4}(?:-\d{1,2}){0,2})\s*(?:/|\.\.|to|\u2013|(?<=\d{4})-(?=\d{4}))\s*(\S+)")


def read_period(written: str, zone: tzinfo = UTC) -> tuple[int, int, str]:
    """Return [start, end) in microseconds of a written time, and its precision.

    Precisions: "year", "month", "day", "second". A range such as "1950-1953" or "2002-02/2002-04"
    lasts to the end of its second part, and has the coarser precision. Raises `InputError`.

    >>> read_period("2002-02")
    (1012521600000000, 1014940800000000, 'month')
    >>> read_period("1950-1953")[2]
    'year'
    """
    words = written.strip()
    if (both := _RANGE.fullmatch(words)) is not None:
        begin, _, first = read_period(both[1], zone)
        _, until, last = read_period(both[2], zone)
        if begin >= until:
            raise InputError(f"a range must end after it starts, got {written!r}")
        return begin, until, min(first, last, key=PRECISIONS.index)
    if (found := _PARTIAL.fullmatch(words)) is None:
        return _moment(words, zone)
    year, month, day = (None if each is None else int(each) for each in found.groups())
    try:
        start = datetime(year or 1, month or 1, day or 1, tzinfo=zone)
        if month is None:
            end = start.replace(year=start.year + 1)
            precision = "year"
        elif day is None:
            following = start.year + month // 12, month % 12 + 1
            end = start.replace(year=following[0], month=following[1])
            precision = "month"
        else:
            end = start + timedelta(days=1)
            precision = "day"
    except (ValueError, OverflowError):
        raise InputError(f"{written!r} is no date") from None
    return to_micros(start, "time"), to_micros(end, "time"), precision


PRECISIONS = ("year", "month", "day", "second")
"""From the coarsest to the finest."""


def _moment(words: str, zone: tzinfo) -> tuple[int, int, str]:
    try:
        read = datetime.fromisoformat(words)
    except ValueError:
        raise InputError(
            f"{words[:60]!r} is no time: write 2002, 2002-02, 2002-02-28 or 2002-02-28T09:30"
        ) from None
    at = to_micros(read if read.tzinfo else read.replace(tzinfo=zone), "time")
    return at, at + 1_000_000, "second"


def read_valid(
    point: str | None, start: str | None, end: str | None, zone: tzinfo = UTC
) -> tuple[int | None, int | None, str | None]:
    """Return the valid time of a point, or of a start and an end, and how precise it is.

    A start is the beginning of what is written, an end its end: "2003" ends with that year.

    >>> read_valid(None, "2002-02", "2003")
    (1012521600000000, 1072915200000000, 'start to the month, end to the year')
    """
    if point is not None:
        first, last, precision = read_period(point, zone)
        return first, last, None if precision == "second" else f"to the {precision}"
    said: list[str | None] = []
    found: list[int | None] = []
    for side, written in enumerate((start, end)):
        if written is None:
            found.append(None)
            said.append(None)
            continue
        first, last, precision = read_period(written, zone)
        if precision == "second":
            last = first
        found.append((first, last)[side])
        said.append(None if precision == "second" else precision)
    return found[0], found[1], precision_note(said[0], said[1])
