"""Times as int64 microseconds UTC: the clock, and conversion from and to datetime.

In which zone was a time said? MemoTrace's TimeInstant(iso8601, tz): the moment and its zone.
Times are compared as microseconds UTC; the zone is kept beside them, for those that read them.
"""

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from recollex_engine.errors import InputError

SECOND = 1_000_000
DAY = 86_400 * SECOND
MONTH_NAMES = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
DRIFT = 300 * SECOND
"""How far a caller's recorded time may lie beyond the clock: 5 minutes. Machines whose clocks are
synchronised differ by less; a wrong unit or zone, or a clock that jumped, differs by more."""
OPEN_END = 2**63 - 1
"""Stands for the end of an interval that has no end."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
_FIRST = (datetime.min.replace(tzinfo=UTC) - EPOCH) // MICROSECOND
_LAST = (datetime.max.replace(tzinfo=UTC) - EPOCH) // MICROSECOND

Clock = Callable[[], int]
"""Returns the present in microseconds UTC. Tests and imports give a store a clock of their own."""


def system_clock() -> int:
    """Return the present in microseconds UTC."""
    return time.time_ns() // 1000


def check_recorded_at(recorded_at: int, now: int, last: int | None = None) -> None:
    """Raise `InputError` unless a time that a caller gave can be the next recorded time.

    ``last``: the last recorded time. A time more than `DRIFT` beyond the clock is refused: later
    writes would have to be recorded after it, and a cut of now would show none of them.
    """
    if recorded_at > now + DRIFT:
        raise InputError(
            f"recorded_at must not be later than the clock, {from_micros(now)}, by more than "
            f"{DRIFT // (60 * SECOND)} minutes, got {from_micros(recorded_at)}: it says when the "
            "engine learned it; event_at and valid_until may lie in the future"
        )
    if last is not None and recorded_at <= last:
        way_back = ""
        if last > now + DRIFT:
            way_back = (
                f": that lies beyond the clock, {from_micros(now)}; replay with clamp_times copies "
                "the agent with times that the clock has reached"
            )
        raise InputError(
            f"recorded_at must be later than the last recorded time, {from_micros(last)}, "
            f"got {from_micros(recorded_at)}{way_back}"
        )


Moment = datetime | str
"""A time as callers give it: a datetime with a time zone, or one written in ISO 8601."""


def to_micros(value: Moment, name: str) -> int:
    """Return ``value`` as microseconds UTC.

    Raises `InputError` for anything but a datetime with a time zone, or a str that is one in ISO
    8601, and for one before the year 1 or after 9999 in UTC, which could not be returned. The zone
    of a naive one is never guessed.

    >>> to_micros(datetime(1970, 1, 2, tzinfo=UTC), "event_at")
    86400000000
    >>> to_micros("1970-01-02T00:00:00Z", "event_at")
    86400000000
    """
    if type(value) is datetime and value.tzinfo is UTC:  # as most are: never beyond the calendar
        return (value - EPOCH) // MICROSECOND
    written = value if isinstance(value, str) else None
    if written is not None:
        try:
            value = datetime.fromisoformat(written)
        except ValueError:
            raise InputError(
                f"{name} is not ISO 8601: {written[:80]!r}; 2024-05-04T10:00:00Z is"
            ) from None
    if not isinstance(value, datetime):
        raise InputError(
            f"{name} must be a datetime or ISO 8601, got {type(value).__name__}: "
            "datetime(2023, 11, 6, tzinfo=UTC) is one"
        )
    if value.tzinfo is None or value.utcoffset() is None:
        repair = f"{value.isoformat()}Z" if written is not None else f"{name}.replace(tzinfo=UTC)"
        raise InputError(
            f"{name} has no time zone: {value.isoformat()}; write {repair} if it is UTC"
        )
    micros = (value - EPOCH) // MICROSECOND
    if not _FIRST <= micros <= _LAST:
        raise InputError(
            f"{name} must lie between {from_micros(_FIRST)} and {from_micros(_LAST)} in UTC, got "
            f"{value.isoformat()}: its zone takes it beyond the calendar"
        )
    return micros


def iso_moments(moments: Iterable[datetime | None]) -> list[str | None]:
    """Return moments in ISO 8601; None stays None.

    >>> iso_moments([datetime(1970, 1, 2, tzinfo=UTC), None])
    ['1970-01-02T00:00:00+00:00', None]
    """
    return [None if moment is None else moment.isoformat() for moment in moments]


def from_micros(value: int) -> datetime:
    """Return ``value`` microseconds as a UTC datetime, clamped to the range of datetime.

    >>> from_micros(86_400_000_000).isoformat()
    '1970-01-02T00:00:00+00:00'
    """
    try:
        return EPOCH + MICROSECOND * int(value)
    except OverflowError:
        return (datetime.max if value > 0 else datetime.min).replace(tzinfo=UTC)


def zone_of(value: datetime) -> str | None:
    """Return the zone of a time: a name such as "Europe/Rome", or an offset; None for UTC.

    >>> zone_of(datetime(2024, 5, 1, tzinfo=UTC))
    >>> zone_of(datetime.fromisoformat("2024-05-01T09+02:00"))
    '+02:00'
    """
    where = value.tzinfo
    if isinstance(where, ZoneInfo):
        return None if where.key in (None, "UTC", "Etc/UTC") else where.key
    if not value.utcoffset():
        return None
    return value.isoformat()[19:].lstrip("0123456789.")


def zone_said(at: object) -> str | None:
    """Return the zone, as `zone_of`, of a time that was checked: a datetime, ISO 8601 or None."""
    given = datetime.fromisoformat(at) if type(at) is str else at
    return zone_of(given) if isinstance(given, datetime) else None


def named_zone(zone: str | None) -> tzinfo:
    """Return the time zone that `zone_of` named; UTC for None. Raises `InputError`.

    >>> named_zone("Asia/Tokyo"), named_zone("-07:00").utcoffset(None)
    (zoneinfo.ZoneInfo(key='Asia/Tokyo'), datetime.timedelta(days=-1, seconds=61200))
    """
    if zone is None:
        return UTC
    try:
        found = _read(zone)
    except ValueError:  # an offset that is none
        found = UTC
    if found is UTC and zone.upper() not in ("UTC", "ETC/UTC", "+00:00", "-00:00"):
        raise InputError(
            f'zone must be an IANA name such as "Europe/Paris" or an offset such as "+02:00", got '
            f"{zone!r}: names are those of this system, or of the package tzdata"
        )
    return found


def in_zone(micros: int, zone: str | None) -> datetime:
    """Return a moment in the zone that `zone_of` named; in UTC, if this machine lacks the zone.

    >>> in_zone(0, "+02:00").isoformat()
    '1970-01-01T02:00:00+02:00'
    """
    moment = from_micros(micros)
    if zone is None:
        return moment
    try:
        return moment.astimezone(_read(zone))
    except (OverflowError, ValueError):  # within a day of year 1 or 9999
        return moment


@lru_cache(256)
def _read(zone: str) -> timezone | ZoneInfo:
    if zone[:1] in ("+", "-"):
        read = datetime.fromisoformat(f"2000-01-01T00:00:00{zone}").tzinfo
        assert isinstance(read, timezone)
        return read
    try:
        return ZoneInfo(zone)
    except (KeyError, OSError, ValueError):  # the first for a zone that is not installed
        return UTC
