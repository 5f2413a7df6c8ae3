"""When does an entry of a calendar take place, if it repeats (RFC 5545, 3.8.5), and how is it said?

Days are those of the entry's zone: what begins at 10:00 does so in summer and in winter.
"""

from collections import deque
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any, NamedTuple

from recollex_engine.clock import MONTH_NAMES, from_micros, system_clock

MOST = 1_000
"""Times of one entry that are read."""
AHEAD = timedelta(days=366)
"""How far beyond today, or its first time, an entry without an end is read."""

BROKEN = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What icalendar, which keeps what is broken, and dateutil raise where a value is read."""

_UNITS = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
_PARTS_OF_DAYS = {"HOURLY": "hour", "MINUTELY": "minute", "SECONDLY": "second"}
_DAYS = {
    "MO": "Monday",
    "TU": "Tuesday",
    "WE": "Wednesday",
    "TH": "Thursday",
    "FR": "Friday",
    "SA": "Saturday",
    "SU": "Sunday",
}
_PLACES = {1: "first ", 2: "second ", 3: "third ", 4: "fourth ", 5: "fifth ", -1: "last "}


class Repetition(NamedTuple):
    """The times of an entry after its first.

    starts: in its zone, ascending, with those that were taken out. cancelled: the latter.
    skipped: what of its rule was not read, and how often.
    """

    starts: list[datetime]
    cancelled: set[datetime]
    skipped: dict[str, int]


def local(given: date, zone: tzinfo) -> datetime:
    """Return a moment of a calendar, in its own zone or else in ``zone``; a day's is its start."""
    if not isinstance(given, datetime):
        given = datetime.combine(given, time())
    return given if given.tzinfo else given.replace(tzinfo=zone)


def find_repetition(part: Any, first: datetime) -> Repetition:
    """Return when an entry that begins at ``first`` takes place again, by its rules and dates.

    At most `MOST` times: if there are more, the last that begin within `AHEAD`. Rules of
    hours, minutes and seconds are not read, nor what is no rule.
    """
    skipped: dict[str, int] = {}
    starts: set[datetime] = set()
    for rule in _all(part.get("RRULE")):
        try:
            ruled, left = _ruled(rule, first)
        except BROKEN:
            left = {"repetition of an entry": 1}
        else:
            starts.update(ruled)
        for what, count in left.items():
            skipped[what] = skipped.get(what, 0) + count
    zone = first.tzinfo
    assert zone is not None
    starts.update(local(day, zone) for day in _listed(part, "RDATE"))
    taken = list(_listed(part, "EXDATE"))
    moments = {local(day, zone) for day in taken}
    days = {day for day in taken if not isinstance(day, datetime)}
    cancelled = {each for each in {*starts, first} if each in moments or each.date() in days}
    return Repetition(sorted(starts - {first}), cancelled, skipped)


def _ruled(rule: Any, first: datetime) -> tuple[deque[datetime], dict[str, int]]:
    """Return the times of a rule, and what of it was left out."""
    from dateutil.rrule import rrulestr  # a dependency of icalendar

    if rule["FREQ"][0].upper() not in _UNITS or rule.get("INTERVAL", [1])[0] < 1:
        return deque(), {"repetition of an entry": 1}
    _rule_said(rule)  # fails for a 13th month, which dateutil would search to the year 9999
    whole = type(rule)(rule)
    last = _last(whole.pop("UNTIL", None), first)
    endless = last is None and "COUNT" not in rule
    horizon = max(from_micros(system_clock()), first) + AHEAD
    kept: deque[datetime] = deque(maxlen=MOST)
    dropped = 0
    for moment in rrulestr(whole.to_ical().decode(), dtstart=first):
        if last is not None and moment > last:
            break
        if moment > horizon and (endless or len(kept) == MOST):
            return kept, {"repetition before others": dropped, "repetition after a year": 1}
        dropped += len(kept) == MOST
        kept.append(moment)
    return kept, {"repetition before others": dropped}


def _last(until: Any, first: datetime) -> datetime | None:
    if until is None:
        return None
    zone = first.tzinfo
    assert zone is not None
    given = until[0]
    if isinstance(given, datetime):
        return local(given, zone)
    return datetime.combine(given, time.max, zone)


def _all(given: Any) -> list[Any]:
    """Return the values of a property, which may stand several times, once or not at all."""
    return given if isinstance(given, list) else [] if given is None else [given]


def _listed(part: Any, name: str) -> Iterator[date]:
    """Yield the dates and moments of RDATE or EXDATE; of a period its start."""
    for each in _all(part.get(name)):
        try:
            listed = [one.dt for one in each.dts]
        except BROKEN:
            continue
        yield from (one[0] if isinstance(one, tuple) else one for one in listed)


def said(part: Any) -> str:
    """Return a sentence that says how an entry repeats; "" if it does not.

    Such as "It repeats every 2 weeks on Tuesday and Friday until 2026-12-29."
    """
    sentences = []
    for rule in _all(part.get("RRULE")):
        try:
            sentences.append(f"It repeats {_rule_said(rule)}.")
        except BROKEN:
            sentences.append("It repeats.")
    if not sentences and part.get("RDATE") is not None:
        sentences.append("It repeats on other days.")
    return " ".join(sentences)


def _rule_said(rule: Any) -> str:
    unit = (_UNITS | _PARTS_OF_DAYS)[rule["FREQ"][0].upper()]
    count = int(rule.get("INTERVAL", [1])[0])
    words = [f"every {unit}" if count == 1 else f"every {count} {unit}s"]
    if "BYDAY" in rule:
        days = [_day_said(str(day)) for day in rule["BYDAY"]]
        words.append(f"on {_joined(days)}")
    if "BYMONTHDAY" in rule:
        words.append(f"on day {_joined([str(day) for day in rule['BYMONTHDAY']])}")
    if "BYMONTH" in rule:
        words.append(f"in {_joined([MONTH_NAMES[int(month) - 1] for month in rule['BYMONTH']])}")
    if "COUNT" in rule:
        words.append(f"{rule['COUNT'][0]} times")
    if "UNTIL" in rule:
        words.append(f"until {rule['UNTIL'][0]:%Y-%m-%d}")
    return " ".join(words)


def _day_said(day: str) -> str:
    """Return "Tuesday" for "TU", "the last Thursday" for "-1TH"."""
    name = _DAYS[day[-2:].upper()]
    place = day[:-2]
    if not place:
        return name
    number = int(place)
    return f"the {_PLACES.get(number, f'{number}. ')}{name}"


def _joined(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
