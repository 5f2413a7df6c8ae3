"""In which zone was a time said? MemoTrace's TimeInstant(iso8601, tz): the moment and its zone.

Times are compared as microseconds UTC; the zone is kept beside them, for those that read them.
"""

from datetime import UTC, datetime, timezone
from functools import lru_cache
from zoneinfo import ZoneInfo

from recollex_engine.clock import from_micros


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
