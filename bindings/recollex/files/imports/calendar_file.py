"""Calendars (.ics, RFC 5545): an entry is a memory, an event, and facts on who, where and when."""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta, tzinfo
from importlib.util import find_spec
from typing import Any

from recollex.files.imports.formats import Format
from recollex.files.imports.reading import FileReading
from recollex_engine.clock import from_micros, to_micros
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

    A repeated entry is read once, at its first time; its rule is counted as left out. Times without
    a zone are in that of ``reading``. Tasks, journals and busy times are left out.
    """
    if find_spec("icalendar") is None:
        raise InputError("a calendar needs icalendar: pip install 'recollex[calendar]'")
    from icalendar import Calendar

    try:
        calendars = Calendar.from_ical(content, multiple=True)
    except (ValueError, IndexError, KeyError, RecursionError) as error:
        raise InputError(f"it is not a calendar: {error}") from error
    for calendar in calendars:
        for part in calendar.walk():
            if part.name == "VEVENT":
                yield from _entry(part, reading)
            elif part.name in ("VTODO", "VJOURNAL", "VFREEBUSY"):
                reading.skip(str(part.name).lower())


def _entry(part: Any, reading: FileReading) -> Iterator[list[Operation]]:
    title = str(part.get("SUMMARY", "")).strip()
    begins = part.get("DTSTART")
    if not title or begins is None:
        reading.skip("entry without a title or a time")
        return
    zone = reading.zone
    start = _moment(begins.dt, zone)
    end = _end(part, begins.dt, start, zone)
    for rule in ("RRULE", "RDATE"):
        if part.get(rule) is not None:
            reading.skip("repetition of an entry")
            break
    place = str(part.get("LOCATION", "")).strip()
    about = str(part.get("DESCRIPTION", "")).strip()
    people = _people(part)
    status = str(part.get("STATUS", "CONFIRMED")).lower()
    uid = str(part.get("UID") or f"{start}/{title}")
    if part.get("RECURRENCE-ID") is not None:
        uid += f"/{_moment(part['RECURRENCE-ID'].dt, zone)}"
    id = f"{reading.document}/{uid}"[:1000]
    yield _operations(id, title, start, end, place, about, people, status, reading.document)


def _operations(
    id: str,
    title: str,
    start: int,
    end: int,
    place: str,
    about: str,
    people: dict[str, str],
    status: str,
    document: str,
) -> list[Operation]:
    said = [f"{title}: {from_micros(start):%Y-%m-%d %H:%M} to {from_micros(end):%Y-%m-%d %H:%M}."]
    said += [f"Place: {place}."] if place else []
    said += [f"With {', '.join(people)}."] if people else []
    said += [about] if about else []
    memory = Retain(
        Statement(
            "\n".join(said),
            said_at=start,
            id=id,
            document=document,
            entities=tuple(people)[:32],
            metadata={"kind": "gist", "calendar": status},
        )
    )
    facts = [_fact(id, 0, title, "takes place", Text(_when(start, end)), start, end)]
    if place:
        facts.append(_fact(id, 1, title, "takes place at", place[:1000], start, end))
    for number, (name, role) in enumerate(people.items(), 2):
        word = "organizes" if role == "organizer" else "attends"
        facts.append(_fact(id, number, name, word, title[:1000], start, end))
    event = UpsertEvent(
        title,
        participants=tuple(people.items())[:32],
        facts=tuple(fact.id for fact in facts),
        start=start,
        end=end,
        status="cancelled" if status == "cancelled" else "happened",
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
    if part.get("DTEND") is not None:
        end = _moment(part["DTEND"].dt, zone)
    elif part.get("DURATION") is not None:
        end = start + part["DURATION"].dt // timedelta(microseconds=1)
    else:
        end = start + (1 if isinstance(begins, datetime) else 86_400_000_000)
    return max(end, start + 1)


def _moment(given: date, zone: tzinfo) -> int:
    if not isinstance(given, datetime):
        given = datetime.combine(given, time())
    return to_micros(given if given.tzinfo else given.replace(tzinfo=zone), "DTSTART")


FORMATS = (
    Format(
        "ics",
        ("text",),
        "a calendar (RFC 5545)",
        "an entry is a memory, an event, facts",
        _is_opening,
        read,
        extra="calendar",
        facts=True,
    ),
)
