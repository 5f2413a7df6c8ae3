"""Checks of the options that the time parsers share: the zone, and the order of day and month."""

from datetime import tzinfo

from recollex_engine.errors import InputError


def check_zone(tz: object) -> None:
    """Raise `InputError` unless ``tz`` is a time zone."""
    if not isinstance(tz, tzinfo):
        raise InputError(
            f'tz must be a zone, such as zoneinfo.ZoneInfo("Europe/Paris"), got {tz!r}'
        )


def check_month_first(month_first: object) -> None:
    """Raise `InputError` unless ``month_first`` is True, False or None."""
    if month_first is not None and not isinstance(month_first, bool):
        raise InputError(f"month_first must be True, False or None, got {month_first!r}")
