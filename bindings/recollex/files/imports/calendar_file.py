"""Calendars (.ics, RFC 5545): each time of an entry is a memory, an event, and facts."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from importlib.util import find_spec
from typing import Any, TypeVar

from recollex.files.imports.formats import Format
from recollex.files.imports.reading import FileReading
from recollex.files.imports.repetition import BROKEN, find_repetition, local, said
from recollex_engine.clock import MICROSECOND, from_micros, named_zone, to_micros, zone_of
from recollex_engine.domain.literals import Text
from recollex_engine.domain.memory_operations import Retain
from recollex_engine.domain.operations import Operation, UpsertEdge, UpsertEvent
from recollex_engine.domain.statement import Statement
from recollex_engine.errors import InputError

T = TypeVar("T")

_OPENING = "BEGIN:VCALENDAR"


def _is_opening(first: str) -> bool:
    return first.startswith(_OPENING)


def read(content: str, reading: FileReading) -> Iterator[list[Operation]]:
    """Yield the operations of each entry. Raises `InputError`, also without icalendar.

    A repeated entry is read at each of its times that `repetition` finds; what was moved is read
    where it is now, and what was cancelled says so. Times keep their zone. Those without one, and
    those of UTC, are said in the zone of ``reading``; if that is UTC, in that of the calendar.
    Tasks, journals and busy times are left out.
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
    zone = reading.zone if reading.zone is not UTC else _zone(calendar)
    parts = list(calendar.walk())
    entries = [part for part in parts if part.name == "VEVENT"]
    for part in parts:
        if part.name in ("VTODO", "VJOURNAL", "VFREEBUSY"):
            reading.skip(str(part.name).lower())
    series = {str(part.get("UID")): part for part in entries if _changes(part) is None}
    changed: dict[str, set[int]] = {}
    for part in entries:
        if (changes := _changes(part)) is not None:
            moment = _moment(changes, zone)
            changed.setdefault(str(part.get("UID")), set()).add(moment)
    is_cancelled = str(calendar.get("METHOD", "")).upper() == "CANCEL"
    for part in entries:
        uid = str(part.get("UID"))
        is_whole = _changes(part) is None
        of = None if is_whole else series.get(uid)
        moved = changed.get(uid, set()) if is_whole else set()
        try:
            times = list(_entry(part, of, moved, is_cancelled, zone, reading))
        except OverflowError:
            reading.skip("entry beyond the year 9999")
        else:
            yield from times


def _changes(part: Any) -> date | None:
    """Return which time of a series an entry stands for; None if for none."""
    return _read(part, "RECURRENCE-ID", date)


def _entry(
    part: Any,
    series: Any,
    changed: set[int],
    is_cancelled: bool,
    zone: tzinfo,
    reading: FileReading,
) -> Iterator[list[Operation]]:
    """Yield the operations of each time of an entry.

    series: the entry of which ``part`` changes one time, whose title and place it takes over.
    changed: the times that other entries stand for.
    """
    changes = _changes(part)
    title = _text(part, series, "SUMMARY")
    begins = _read(part, "DTSTART", date) or changes
    if not title or begins is None:
        reading.skip("entry without a title or a time")
        return
    first = local(begins, zone)
    start = to_micros(first, "DTSTART")
    end = from_micros(_end(part, begins, start, zone)).astimezone(first.tzinfo)
    status = str(part.get("STATUS", "CONFIRMED")).lower()
    uid = str(part.get("UID") or f"{start}/{title}")
    notes = [said(part if series is None else series)]
    if changes is not None:
        first_time = local(changes, zone)
        uid += f"/{to_micros(first_time, 'RECURRENCE-ID')}"
        if first_time != first:
            was = _shown(first_time, zone)
            notes.append(f"It was moved from {_span(was, was, _is_day(changes))}.")
    entry = _CalendarEntry(
        uid=uid,
        title=title,
        place=_text(part, series, "LOCATION"),
        people=_people(part) or ({} if series is None else _people(series)),
        status="cancelled" if is_cancelled else status,
        notes=tuple(note for note in notes if note),
        about=_text(part, series, "DESCRIPTION"),
        is_day=_is_day(begins),
        zone=zone,
        document=reading.document,
    )
    if changes is not None:
        yield _operations(entry, first, end)
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
        yield _operations(at, moment, _end_of(moment, first, end, entry.is_day))


@dataclass(frozen=True, slots=True)
class _CalendarEntry:
    """What an entry says, apart from when it takes place.

    is_day: whether it is about whole days. zone: in which moments of UTC are said.
    """

    uid: str
    title: str
    place: str
    people: dict[str, str]
    status: str
    notes: tuple[str, ...]
    about: str
    is_day: bool
    zone: tzinfo
    document: str


def _operations(entry: _CalendarEntry, begins: datetime, ends: datetime) -> list[Operation]:
    """Return one time of an entry as a memory, facts and an event.

    It takes place, at a place and with people; where it was cancelled it does not.
    """
    start = to_micros(begins, "DTSTART")
    end = to_micros(ends, "DTEND")
    begins = _shown(begins, entry.zone)
    ends = _shown(ends, entry.zone)
    is_cancelled = entry.status == "cancelled"
    title = entry.title
    head = f"{title}: {_span(begins, ends, entry.is_day)}."
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
            zone=zone_of(begins) or "UTC",  # a default of the agent is not meant
            id=id,
            document=entry.document,
            entities=tuple(entry.people)[:32],
            metadata={"kind": "gist", "calendar": entry.status},
        )
    )
    happens = "is cancelled" if is_cancelled else "takes place"
    facts = [
        _fact(id, 0, title, happens, Text(f"{begins.isoformat()}/{ends.isoformat()}"), start, end)
    ]
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


def _span(begins: datetime, ends: datetime, is_day: bool) -> str:
    """Return when an entry takes place, so that `time_range` reads it as its event.

    Hours are followed by their offset, unless they are of UTC.
    """
    if is_day:
        last = (ends - timedelta(1)).date()
        return f"{begins:%Y-%m-%d}" + (f" to {last}" if begins.date() < last else "")
    offset = begins.isoformat(timespec="minutes")[16:]  # a name would be taken for an entity
    suffix = f" ({offset})" if zone_of(begins) else ""
    if to_micros(ends, "DTEND") <= to_micros(begins, "DTSTART") + 1:
        return f"{begins:%Y-%m-%d, %H:%M}{suffix}"
    if begins.date() == ends.date():
        return f"{begins:%Y-%m-%d, %H:%M} to {ends:%H:%M}{suffix}"
    return f"{begins:%Y-%m-%d %H:%M} to {ends:%Y-%m-%d %H:%M}{suffix}"


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
    if (ends := _read(part, "DTEND", date)) is not None:
        end = _moment(ends, zone)
    elif (lasts := _read(part, "DURATION", timedelta)) is not None:
        end = start + lasts // MICROSECOND
    else:
        end = start + 1 if isinstance(begins, datetime) else _moment(begins + timedelta(1), zone)
    return max(end, start + 1)


def _end_of(moment: datetime, first: datetime, end: datetime, is_day: bool) -> datetime:
    """Return when a later time of an entry ends: after as many days, or as long, as the first."""
    if is_day:
        return moment + (end.date() - first.date())
    return (moment.astimezone(UTC) + (end.astimezone(UTC) - first)).astimezone(moment.tzinfo)


def _read(part: Any, name: str, kind: type[T]) -> T | None:
    """Return the value of a property; None if there is none, or if it is broken or another."""
    try:
        found = part[name].dt
    except BROKEN:
        return None
    return found if isinstance(found, kind) else None


def _zone(calendar: Any) -> tzinfo:
    """Return the zone that a calendar names for itself, as Google's do; else UTC."""
    try:
        return named_zone(str(calendar.get("X-WR-TIMEZONE", "UTC")).strip())
    except InputError:
        return UTC


def _shown(moment: datetime, zone: tzinfo) -> datetime:
    """Return a moment in its own zone; one of UTC in ``zone``."""
    return moment if zone_of(moment) else moment.astimezone(zone)


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
