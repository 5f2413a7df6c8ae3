"""Ranges as days, seen from a Wednesday in November 2023."""

from datetime import UTC, datetime, timedelta

from recollex_engine.dates.time_range import EARLIEST, LATEST

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def us(*when, tz=UTC):
    return (datetime(*when, tzinfo=tz) - EPOCH) // timedelta(microseconds=1)


NOW = us(2023, 11, 15, 10)  # a Wednesday


def said(found):
    """Return a range as "first..last" days, with hours where it does not begin or end a day."""
    if found is None:
        return None
    if found.start == EARLIEST:
        return ".." + day(found.end - 1)
    return day(found.start) + ".." + ("" if found.end in (NOW, LATEST) else day(found.end - 1))


def day(at):
    when = EPOCH + timedelta(microseconds=at)
    return when.strftime("%Y-%m-%d" if when.hour in (0, 23) else "%Y-%m-%d+%H")
