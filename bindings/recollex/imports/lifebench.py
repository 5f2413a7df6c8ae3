"""LifeBench's phone records: messages, calls, notes, calendar, photos, notifications.

Each record is a memory of kind gist, and facts on who did what when; a calendar entry is an event
too. The file is one list of records, or the folder of a person, with ``persona.json`` (the owner's
name) and ``phone_data``. Times have no zone there: ``zone`` is that of the phone.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from recollex.api.foreign_files import parse_json, text_of
from recollex.imports.reading import Object, Reading, as_dict, as_list
from recollex_engine.clock import to_micros
from recollex_engine.domain.literals import Text
from recollex_engine.domain.memory_operations import Retain
from recollex_engine.domain.operations import Operation, UpsertEdge, UpsertEntity, UpsertEvent
from recollex_engine.domain.statement import Statement
from recollex_engine.errors import InputError

KINDS = ("contact", "sms", "call", "note", "calendar", "photo", "push")
_NAME = 300  # characters of a name that is taken from a record
_FACE = 60  # a longer one is a text that the benchmark's generator left there


def matches(content: Any) -> bool:
    """Return whether this is a list of records of a phone."""
    first = as_dict(as_list(content)[0]) if as_list(content) else {}
    return "phone_id" in first and (first.get("type") in KINDS or "relation" in first)


def folder_of(path: Path) -> Path | None:
    """Return the folder with the files of records, None if ``path`` has none."""
    for folder in (path, path / "phone_data"):
        if any((folder / f"{kind}.json").exists() for kind in KINDS):
            return folder
    return None


def read_folder(path: Path, reading: Reading, zone: tzinfo) -> Iterator[list[Operation]]:
    """Yield the operations of each record of a person. Raises `InputError` naming the file."""
    folder = folder_of(path)
    assert folder is not None
    persona = next((f for f in (path, path.parent) if (f / "persona.json").exists()), None)
    if persona is not None:
        reading.document = str(as_dict(_json(persona / "persona.json")).get("name") or path.name)
    for kind in KINDS:
        if (file := folder / f"{kind}.json").exists():
            yield from read(_json(file), reading, zone)


def _json(file: Path) -> Any:
    return parse_json(text_of(file), file.name)


def read(content: Any, reading: Reading, zone: tzinfo) -> Iterator[list[Operation]]:
    """Yield the operations of each record of a list; its owner is the document of ``reading``."""
    seen: Counter[tuple[str, str]] = Counter()
    for record in as_list(content):
        fields = as_dict(record)
        kind = str(fields.get("type", "contact" if "relation" in fields else ""))
        reader = _READERS.get(kind)
        if reader is None:
            reading.skip(f"record of type {kind!r}")
            continue
        try:
            place = kind, str(fields["phone_id"])
            seen[place] += 1
            yield reader(_Record(fields, kind, reading, zone, seen[place]))
        except (InputError, KeyError):
            reading.skip(f"{kind} without a time or a name")


class _Record:
    """One record. owner: the name of the phone's owner. nth: of those with its phone_id."""

    def __init__(self, fields: Object, kind: str, reading: Reading, zone: tzinfo, nth: int) -> None:
        self.fields = fields
        self.kind = kind
        self.reading = reading
        self.owner = reading.document
        self._zone = zone
        again = "" if nth == 1 else f"/{nth}"
        self.id = f"{self.owner}/{kind}/{fields['phone_id']}"[:900] + again

    def text(self, name: str) -> str:
        """Return a field as a text without spaces around it; "" if it is missing."""
        value = self.fields.get(name)
        return "" if value is None else str(value).strip()

    def name(self, name: str) -> str:
        """Return a field as a name. Raises `KeyError` if it is empty."""
        if not (value := " ".join(self.text(name).split())[:_NAME]):
            raise KeyError(name)
        return value

    def time(self, name: str = "datetime") -> int:
        """Return a field as a time. Raises `InputError` if it is none."""
        try:
            read = datetime.fromisoformat(self.text(name))
        except ValueError:
            raise InputError(f"{name} is no time: {self.text(name)!r}") from None
        return to_micros(read if read.tzinfo else read.replace(tzinfo=self._zone), name)

    def gist(self, text: str, at: int | None, *entities: str) -> Retain:
        """Return the memory of the record."""
        metadata = {"kind": "gist", "type": self.kind, "phone_id": self.fields["phone_id"]}
        return Retain(
            Statement(
                text,
                said_at=at,
                id=self.id,
                document=self.owner,
                entities=tuple(dict.fromkeys(entities))[:32],
                metadata=metadata,
            )
        )

    def fact(
        self,
        number: int,
        subject: str,
        predicate: str,
        value: Any,
        start: int | None,
        end: int | None = None,
    ) -> UpsertEdge:
        """Return a fact of the record; one without an end lasts a second."""
        if end is None and start is not None:
            end = start + 1_000_000
        if start is not None and end is not None:
            end = max(end, start + 1)
        return UpsertEdge(
            subject,
            predicate,
            value,
            start=start,
            end=end,
            evidence=(self.id,),
            given_id=f"{self.id}/{number}",
        )


def _contact(record: _Record) -> list[Operation]:
    name, relation = record.name("name"), record.text("relation")
    nickname = record.text("nickname")
    about = f"{record.owner}'s contact {name}" + (f" is their {relation}." if relation else ".")
    made: list[Operation] = [record.gist(about, None, record.owner, name)]
    if relation:
        made.append(record.fact(0, name, f"is {relation.lower()} of", record.owner, None))
    if nickname and nickname != name:
        made.append(record.fact(1, name, "is called", Text(nickname), None))
    return [*made, UpsertEntity(name, types=("person",))]


def _sms(record: _Record) -> list[Operation]:
    other, at = record.name("contactName"), record.time()
    sent = record.text("message_type").lower().startswith("sen")
    first, second = (record.owner, other) if sent else (other, record.owner)
    text = f"{first} wrote to {second}: {record.text('message_content')}"
    return [
        record.gist(text, at, record.owner, other),
        record.fact(0, first, "wrote to", second, at),
    ]


def _call(record: _Record) -> list[Operation]:
    other, at = record.name("contactName"), record.time()
    called = str(record.fields.get("direction", record.text("call_type"))).lower()
    outgoing = called in ("1", "outgoing", "dial", "dialed", "out")
    first, second = (record.owner, other) if outgoing else (other, record.owner)
    end = record.time("datetime_end") if record.text("datetime_end") else None
    result = record.text("call_result") or "connected"
    text = f"{first} called {second} ({result.lower()})."
    predicate = "called" if result.lower().startswith("connect") else "tried to call"
    return [
        record.gist(text, at, record.owner, other),
        record.fact(0, first, predicate, second, at, end),
    ]


def _note(record: _Record) -> list[Operation]:
    title, at = record.name("title"), record.time()
    text = f"{record.owner} noted: {title}\n{record.text('content')}".strip()
    return [
        record.gist(text, at, record.owner),
        record.fact(0, record.owner, "noted", Text(title), at),
    ]


def _calendar(record: _Record) -> list[Operation]:
    title, start, end = record.name("title"), record.time("start_time"), record.time("end_time")
    text = f"{record.owner}'s calendar: {title}\n{record.text('description')}".strip()
    fact = record.fact(0, record.owner, "planned", Text(title), start, end)
    event = UpsertEvent(
        title,
        participants=((record.owner, None),),
        facts=(fact.id,),
        start=start,
        end=max(end, start + 1),
        status="planned",
        given_id=f"{record.id}/event",
    )
    return [record.gist(text, start, record.owner), fact, event]


def _photo(record: _Record) -> list[Operation]:
    at, place = record.time(), as_dict(record.fields.get("location"))
    where = " ".join(str(place.get("poi") or place.get("city") or "").split())[:_NAME]
    seen = as_list(record.fields.get("faceRecognition"))
    faces = [" ".join(str(face).split()) for face in seen]
    people = [face for face in dict.fromkeys(faces) if 0 < len(face) <= _FACE]
    record.reading.skip("face that is no name", sum(len(face) > _FACE for face in faces))
    text = f"Photo of {record.owner}: {record.text('caption')}"
    text += f" Taken at {where}." if where else ""
    made: list[Operation] = [record.gist(text, at, record.owner, *people)]
    if where:
        made.append(record.fact(0, record.owner, "took a photo at", where, at))
        for number, name in enumerate(people, 1):
            made.append(record.fact(number, name, "was photographed at", where, at))
    return made


def _push(record: _Record) -> list[Operation]:
    source, at = record.name("source"), record.time()
    text = f"{source} notified {record.owner}: {record.text('title')}\n{record.text('content')}"
    title = Text(record.name("title"))
    return [
        record.gist(text.strip(), at, record.owner, source),
        record.fact(0, source, "notified", title, at),
    ]


_READERS = {
    "contact": _contact,
    "sms": _sms,
    "call": _call,
    "note": _note,
    "calendar": _calendar,
    "photo": _photo,
    "push": _push,
}
