"""Parsing of ISO 8601 times; the zone of a time is given and never guessed."""

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from recollex_engine.clock import named_zone
from recollex_engine.errors import InputError


def find_zone(name: str) -> tzinfo:
    """Return the time zone of that name or offset. Raises `InputError` if there is none.

    >>> find_zone("utc")
    datetime.timezone.utc
    """
    if name.upper() == "UTC":
        return UTC
    try:
        return named_zone(name) if name[:1] in ("+", "-") else ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise InputError(f"zone must be a name such as UTC or Europe/Paris, got {name!r}") from None


def parse_time(written: str, where: tzinfo, what: str = "time") -> datetime:
    """Return a written time; a time without an offset is in the zone ``where``.

    what: the name of the value in an error. Raises `InputError`.

    >>> parse_time("2023-11-06", UTC).isoformat()
    '2023-11-06T00:00:00+00:00'
    >>> parse_time("2023-11-06T09:30+01:00", UTC).isoformat()
    '2023-11-06T09:30:00+01:00'
    """
    try:
        read = datetime.fromisoformat(written)
    except ValueError:
        raise InputError(
            f"{what} must be written as 2023-11-06 or 2023-11-06T09:30+01:00, got {written!r}"
        ) from None
    return read if read.tzinfo else read.replace(tzinfo=where)
