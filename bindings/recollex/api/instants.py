"""A time that is told to an event: microseconds, or a datetime where its zone is to be kept."""

from datetime import datetime

from recollex_engine.clock import to_micros, zone_of


def instant(value: datetime, name: str) -> int | datetime:
    """Return a time in UTC as microseconds, and one of another zone as it is.

    Raises `errors.InputError` for a time without a zone.
    """
    micros = to_micros(value, name)
    return value if isinstance(value, datetime) and zone_of(value) is not None else micros
