"""Calendars (.ics, RFC 5545): each time of an entry is a memory, an event, and facts."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from importlib.util import find_spec
from typing import Any

from recollex.files.imports.formats import Format
from recollex.files.imports.reading import FileReading
from recollex.files.imports.repetition import find_repetition, local, said
from recollex_engine.clock import MICROSECOND, from_micros, to_micros
from recollex_engine.domain.literals import Text
from recollex_engine.domain.memory_operations import Retain
from recollex_engine.domain.operations import Operation, UpsertEdge, UpsertEvent
from recollex_engine.domain.statement import Statement
from recollex_engine.errors import InputError

_OPENING = "BEGIN:VCALENDAR"


def _is_opening(first: str) -> bool:
    return first.startswith(_OPENING)


def read(content: str, reading: FileReading) -> Iterator[list[Operation]]:
    """Yield the operations of each entry. Raises `InputError`, also without icalendar.

    A repeated entry is read at each of its times that `repetition` finds; what was moved is read
    where it is now, and what was cancelled says so. Times without a zone are in that of
    ``reading``. Tasks, journals and busy times are left out.
    """
    if find_spec("icalendar") is None:
        raise InputError("a calendar needs icalendar: pip install 'recollex[calendar]'")
    from icalendar import Calendar

    try:
        calendars = Calendar.from_ical(content, multiple=True)
    except (ValueError, IndexError, KeyError, RecursionError) as error:
        raise InputError(f"it is not a calendar: {error}") from error
    for calendar in calendars:
        yield from _calendar(calendar, reading)


def _calendar(calendar: Any, reading: FileReading) -> Iterator[list[Operation]]:
    parts = list(calendar.walk())
    entries = [part for part in parts if part.name == "VEVENT"]
    for part in parts:
        if part.name in ("VTODO", "VJOURNAL", "VFREEBUSY"):
            reading.skip(str(part.name).lower())
    series = {str(part.get("UID")): part for part in entries if _changes(part) is None}
    changed: dict[str, set[int]] = {}
    for part in entries:
        if (changes := _changes(part)) is not None:
            moment = _moment(changes, reading.zone)
            changed.setdefault(str(part.get("UID")), set()).add(moment)
    is_cancelled = str(calendar.get("METHOD", "")).upper() == "CANCEL"
    for part in entries:
        uid = str(part.get("UID"))
        if _changes(part) is None:
            yield from _entry(part, None, changed.get(uid, set()), is_cancelled, reading)
        else:
            yield from _entry(part, series.get(uid), set(), is_cancelled, reading)


def _changes(part: Any) -> date | None:
    """Return which time of a series an entry stands for; None if for none."""
    return _date(part, "RECURRENCE-ID")


def _entry(
    part: Any, series: Any, changed: set[int], is_cancelled: bool, reading: FileReading
) -> Iterator[list[Operation]]:
    """Yield the operations of each time of an entry.

    series: the entry of which ``part`` changes one time, whose title and place it takes over.
    changed: the times that other entries stand for.
    """
    zone = reading.zone
    changes = _changes(part)
    title = _text(part, series, "SUMMARY")
    begins = _date(part, "DTSTART") or changes
    if not title or begins is None:
        reading.skip("entry without a title or a time")
        return
    first = local(begins, zone)
    start = to_micros(first, "DTSTART")
    end = _end(part, begins, start, zone)
    status = str(part.get("STATUS", "CONFIRMED")).lower()
    uid = str(part.get("UID") or f"{start}/{title}")
    notes = [said(part if series is None else series)]
    if changes is not None:
        was = _moment(changes, zone)
        uid += f"/{was}"
        if was != start:
            notes.append(
                f"It was moved from {_span(was, was, zone if _is_day(changes) else None)}."
            )
    entry = _Entry(
        uid=uid,
        title=title,
        place=_text(part, series, "LOCATION"),
        people=_people(part) or ({} if series is None else _people(series)),
        status="cancelled" if is_cancelled else status,
        notes=tuple(note for note in notes if note),
        about=_text(part, series, "DESCRIPTION"),
        zone=zone if _is_day(begins) else None,
        document=reading.document,
    )
    if changes is not None:
        yield _operations(entry, start, end)
        return
    again = find_repetition(part, first)
    for what, count in again.skipped.items():
        reading.skip(what, count)
    for moment in [first, *again.starts]:
        begin = to_micros(moment, "RRULE")
        if begin in changed:
            continue
        at = entry
        if moment in again.cancelled:
            at = replace(at, status="cancelled")
        if moment != first:
            at = replace(at, uid=f"{uid}/{begin}", about="")
        yield _operations(at, begin, _end_of(moment, first, end, _is_day(begins)))


@dataclass(frozen=True, slots=True)
class _Entry:
    """What an entry says, apart from when it takes place.

    zone: whose days it is about; None if it has hours, which are said in UTC.
    """

    uid: str
    title: str
    place: str
    people: dict[str, str]
    status: str
    notes: tuple[str, ...]
    about: str
    zone: tzinfo | None
    document: str


def _operations(entry: _Entry, start: int, end: int) -> list[Operation]:
    """Return one time of an entry as a memory, facts and an event.

    It takes place, at a place and with people; where it was cancelled it does not.
    """
    is_cancelled = entry.status == "cancelled"
    title = entry.title
    head = f"{title}: {_span(start, end, entry.zone)}."
    if entry.status != "confirmed":
        head += f" {entry.status.capitalize()}."
    words = [" ".join((head, *entry.notes))]
    words += [f"Place: {entry.place}."] if entry.place else []
    words += [f"With {', '.join(entry.people)}."] if entry.people else []
    words += [entry.about] if entry.about else []
    id = f"{entry.document}/{entry.uid}"[:1000]
    memory = Retain(
        Statement(
            "\n".join(words),
            said_at=start,
            id=id,
            document=entry.document,
            entities=tuple(entry.people)[:32],
            metadata={"kind": "gist", "calendar": entry.status},
        )
    )
    happens = "is cancelled" if is_cancelled else "takes place"
    facts = [_fact(id, 0, title, happens, Text(_when(start, end)), start, end)]
    if not is_cancelled:
        if entry.place:
            place = entry.place[:1000]
            facts.append(_fact(id, 1, title, "takes place at", place, start, end))
        for number, (name, role) in enumerate(entry.people.items(), 2):
            word = "organizes" if role == "organizer" else "attends"
            facts.append(_fact(id, number, name, word, title[:1000], start, end))
    event = UpsertEvent(
        title,
        participants=tuple(entry.people.items())[:32],
        facts=tuple(fact.id for fact in facts),
        start=start,
        end=end,
        status="cancelled" if is_cancelled else "happened",
        given_id=f"{id}/event"[:1000],
    )
    return [memory, *facts, event]


def _fact(
    id: str, number: int, subject: str, predicate: str, value: Any, start: int, end: int
) -> UpsertEdge:
    return UpsertEdge(
        subject[:1000],
        predicate,
        value,
        start=start,
        end=end,
        evidence=(id,),
        given_id=f"{id}/{number}"[:1000],
    )


def _when(start: int, end: int) -> str:
    return f"{from_micros(start).isoformat()}/{from_micros(end).isoformat()}"


def _span(start: int, end: int, zone: tzinfo | None) -> str:
    """Return when an entry takes place, so that `time_range` reads it as its event.

    zone: of an entry of whole days.
    """
    first = from_micros(start).astimezone(zone or UTC)
    last = from_micros(max(start, end - 1)).astimezone(zone or UTC)
    if zone is not None:
        return f"{first:%Y-%m-%d}" + (f" to {last:%Y-%m-%d}" if first.date() < last.date() else "")
    if end <= start + 1:
        return f"{first:%Y-%m-%d, %H:%M}"
    until = from_micros(end)
    if first.date() == until.date():
        return f"{first:%Y-%m-%d, %H:%M} to {until:%H:%M}"
    return f"{first:%Y-%m-%d %H:%M} to {until:%Y-%m-%d %H:%M}"


def _people(part: Any) -> dict[str, str]:
    """Return name -> role of the organizer and the attendees."""
    found: dict[str, str] = {}
    for role, name in (("organizer", "ORGANIZER"), ("attendee", "ATTENDEE")):
        given = part.get(name)
        for each in given if isinstance(given, list) else [] if given is None else [given]:
            called = each.params.get("CN") or str(each).removeprefix("mailto:").partition("@")[0]
            if called := str(called).strip():
                found.setdefault(called[:1000], role)
    return found


def _end(part: Any, begins: date, start: int, zone: tzinfo) -> int:
    """Return when an entry ends: by DTEND, by DURATION, else after a day or at once."""
    if (ends := _date(part, "DTEND")) is not None:
        end = _moment(ends, zone)
    elif part.get("DURATION") is not None:
        end = start + part["DURATION"].dt // timedelta(microseconds=1)
    else:
        end = start + 1 if isinstance(begins, datetime) else _moment(begins + timedelta(1), zone)
    return max(end, start + 1)


def _end_of(moment: datetime, first: datetime, end: int, is_day: bool) -> int:
    """Return when a later time of an entry ends: after as many days, or as long, as the first."""
    length = from_micros(end) - first
    if is_day:
        return to_micros(moment + timedelta(days=round(length / timedelta(days=1))), "RRULE")
    return to_micros(moment, "RRULE") + length // MICROSECOND


def _date(part: Any, name: str) -> date | None:
    """Return the day or moment of a property; None if it has none, or one that is broken."""
    given = part.get(name)
    try:
        found = None if given is None else given.dt
    except ValueError:  # icalendar keeps what it could not read
        return None
    return found if isinstance(found, date) else None


def _moment(given: date, zone: tzinfo) -> int:
    return to_micros(local(given, zone), "DTSTART")


def _is_day(given: date) -> bool:
    return not isinstance(given, datetime)


def _text(part: Any, series: Any, name: str) -> str:
    """Return a property's text; that of the series if the entry has none."""
    given = part.get(name)
    if given is None and series is not None:
        given = series.get(name)
    return "" if given is None else str(given).strip()


FORMATS = (
    Format(
        "ics",
        ("text",),
        "a calendar (RFC 5545)",
        "each time of an entry is a memory, an event, facts",
        _is_opening,
        read,
        extra="calendar",
        facts=True,
    ),
)
