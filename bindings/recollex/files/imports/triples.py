"""Dated triples, as JSON lines or CSV: subject, predicate, object, and when it was so.

A line has ``subject``, ``predicate`` and ``object``, and may have ``point_in_time`` (or ``time``,
``at``, ``date``), or ``start_time`` and ``end_time`` (or ``start``, ``end``), at any precision:
"2002-02" is a month (REMem). ``text`` (or ``gist``) is the sentence that it was taken from: it is
retained as a memory, and is the fact's evidence. Also ``id``, ``confidence`` and ``evidence`` (ids
of memories). An object is an entity; {"text": "blue"}, a number or a boolean is a literal.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import chain
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from recollex.api.foreign_files import is_json, parse_json
from recollex.files.imports.csv_file import header_separator
from recollex.files.imports.formats import Format
from recollex.files.imports.reading import FileReading, Object, as_dict
from recollex_engine.clock import to_micros
from recollex_engine.domain.checks import mended
from recollex_engine.domain.literals import FactObject as FactObject
from recollex_engine.domain.literals import Text
from recollex_engine.domain.memory_operations import Retain
from recollex_engine.domain.operations import Operation, UpsertEdge
from recollex_engine.domain.qualifiers import precision_note
from recollex_engine.domain.statement import Statement
from recollex_engine.errors import InputError

# Times at the precision given: "2002-02" is a month, "1999" a year, "2024-05-04" a day.
_PARTIAL = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?")
_RANGE = re.compile(r"(\d{4}(?:-\d{1,2}){0,2})\s*(?:/|\.\.|to|\u2013|(?<=\d{4})-(?=\d{4}))\s*(\S+)")


def read_period(written: str, zone: tzinfo = UTC) -> tuple[int, int, str]:
    """Return [start, end) in microseconds of a written time, and its precision.

    Precisions: "year", "month", "day", "second". A range such as "1950-1953" or "2002-02/2002-04"
    lasts to the end of its second part, and has the coarser precision. Raises `InputError`.

    >>> read_period("2002-02")
    (1012521600000000, 1014940800000000, 'month')
    >>> read_period("1950-1953")[2]
    'year'
    """
    words = written.strip()
    if (both := _RANGE.fullmatch(words)) is not None:
        begin, _, first = read_period(both[1], zone)
        _, until, last = read_period(both[2], zone)
        if begin >= until:
            raise InputError(f"a range must end after it starts, got {written!r}")
        return begin, until, min(first, last, key=PRECISIONS.index)
    if (found := _PARTIAL.fullmatch(words)) is None:
        return _moment(words, zone)
    year, month, day = (None if each is None else int(each) for each in found.groups())
    try:
        start = datetime(year or 1, month or 1, day or 1, tzinfo=zone)
        if month is None:
            end = start.replace(year=start.year + 1)
            precision = "year"
        elif day is None:
            following = start.year + month // 12, month % 12 + 1
            end = start.replace(year=following[0], month=following[1])
            precision = "month"
        else:
            end = start + timedelta(days=1)
            precision = "day"
    except (ValueError, OverflowError):
        raise InputError(f"{written!r} is no date") from None
    return to_micros(start, "time"), to_micros(end, "time"), precision


PRECISIONS = ("year", "month", "day", "second")
"""From the coarsest to the finest."""


def _moment(words: str, zone: tzinfo) -> tuple[int, int, str]:
    try:
        read = datetime.fromisoformat(words)
    except ValueError:
        raise InputError(
            f"{words[:60]!r} is no time: write 2002, 2002-02, 2002-02-28 or 2002-02-28T09:30"
        ) from None
    at = to_micros(read if read.tzinfo else read.replace(tzinfo=zone), "time")
    return at, at + 1_000_000, "second"


def read_valid(
    point: str | None, start: str | None, end: str | None, zone: tzinfo = UTC
) -> tuple[int | None, int | None, str | None]:
    """Return the valid time of a point, or of a start and an end, and how precise it is.

    A start is the beginning of what is written, an end its end: "2003" ends with that year.

    >>> read_valid(None, "2002-02", "2003")
    (1012521600000000, 1072915200000000, 'start to the month, end to the year')
    """
    if point is not None:
        first, last, precision = read_period(point, zone)
        return first, last, None if precision == "second" else f"to the {precision}"
    said: list[str | None] = []
    found: list[int | None] = []
    for side, written in enumerate((start, end)):
        if written is None:
            found.append(None)
            said.append(None)
            continue
        first, last, precision = read_period(written, zone)
        if precision == "second":
            last = first
        found.append((first, last)[side])
        said.append(None if precision == "second" else precision)
    return found[0], found[1], precision_note(said[0], said[1])


NEEDED = ("subject", "predicate", "object")
_NAMES = {
    **dict.fromkeys(("time", "at", "date", "point_in_time"), "point"),
    **dict.fromkeys(("start", "start_time", "valid_from", "from"), "start"),
    **dict.fromkeys(("end", "end_time", "valid_to", "valid_until", "to"), "end"),
    **dict.fromkeys(("text", "gist", "sentence"), "text"),
    **{name: name for name in (*NEEDED, "id", "confidence", "evidence")},
}


def matches(first: str) -> bool:
    """Return whether a line is a triple as JSON, or names the columns of a table of triples.

    >>> matches("subject,predicate,object,time"), matches("text,at")
    (True, False)
    """
    columns = as_dict(parse_json(first)) if is_json(first) else _columns(first)
    return set(NEEDED) <= set(columns)


def read(lines: Iterable[str], reading: FileReading) -> Iterator[list[Operation]]:
    """Yield the operations of each line of JSON, or of each row. Raises `InputError`."""
    rest = iter(lines)
    empty = 0
    first = next(rest, "")
    while first and not first.strip():
        empty += 1
        first = next(rest, "")
    if is_json(first):
        yield from _of_lines(chain([first], rest), empty + 1, reading)
    else:
        yield from _of_table(rest, first, reading)


def _of_lines(lines: Iterable[str], start: int, reading: FileReading) -> Iterator[list[Operation]]:
    """Yield the operations of each line of JSON; start: the number of the first."""
    for number, line in enumerate(lines, start):
        if not line.strip():
            continue
        fields = parse_json(line, f"line {number}")
        whole = mended(fields)
        if whole is not fields:
            reading.skip("line with broken characters")
        try:
            yield _operations(as_dict(whole), reading)
        except InputError as error:
            raise InputError(f"line {number}: {error}") from error


def _of_table(lines: Iterator[str], header: str, reading: FileReading) -> Iterator[list[Operation]]:
    """Yield the operations of each row after ``header``, the line that names the columns."""
    columns = _columns(header)
    rows = csv.reader(lines, delimiter=header_separator(header))
    reading.columns = {name: _NAMES.get(name, "left out") for name in columns}
    for number, row in enumerate(rows, 2):
        if not any(row):
            continue
        if len(row) > len(columns):
            reading.skip("row with more cells than columns")
            continue
        fields = {name: cell for name, cell in zip(columns, row, strict=False) if cell.strip()}
        if "confidence" in fields:
            fields["confidence"] = _number(fields["confidence"])  # type: ignore[assignment]
        if "evidence" in fields:
            fields["evidence"] = fields["evidence"].replace(";", " ").split()  # type: ignore[assignment]
        try:
            yield _operations(fields, reading)
        except InputError as error:
            raise InputError(f"row {number}: {error}") from error


def _columns(header: str) -> list[str]:
    row = next(csv.reader([header.rstrip("\r\n")], delimiter=header_separator(header)), [])
    return [name.strip().lower() for name in row]


def _operations(fields: Object, reading: FileReading) -> list[Operation]:
    said: dict[str, Any] = {}
    for given, value in fields.items():
        name = _NAMES.get(given)
        if value is None or value == "":
            continue
        if name is None:
            reading.skip(f"field {given!r}")
        else:
            said.setdefault(name, value)
    if missing := [name for name in NEEDED if name not in said]:
        raise InputError(f"a triple needs {', '.join(NEEDED)}: {missing[0]} is missing")
    point, start, end = (_time(said.get(name)) for name in ("point", "start", "end"))
    valid = read_valid(point, start, end, reading.zone)
    operations: list[Operation] = []
    evidence = said.get("evidence", ())
    evidence = (evidence,) if isinstance(evidence, str) else tuple(evidence)
    if "text" in said:
        gist = _gist(str(said["text"]), point or start, reading)
        operations.append(gist)
        evidence = (*evidence, gist.id)
    return [
        *operations,
        UpsertEdge(
            str(said["subject"]),
            str(said["predicate"]),
            _object(said["object"]),
            start=valid[0],
            end=valid[1],
            evidence=evidence,
            confidence=said.get("confidence", 1.0),
            uncertainty=valid[2],
            given_id=None if "id" not in said else str(said["id"]),
        ),
    ]


def _gist(text: str, time: str | None, reading: FileReading) -> Retain:
    id = str(uuid5(NAMESPACE_URL, f"gist {reading.document} {time} {text}"))
    at = None if time is None else read_period(time, reading.zone)[0]
    if at is None:
        reading.untimed += 1
    return Retain(
        Statement(text, said_at=at, id=id, document=reading.document, metadata={"kind": "gist"})
    )


def _time(value: object) -> str | None:
    return None if value is None else str(value)


def _object(value: Any) -> FactObject:
    if isinstance(value, dict):
        if set(value) != {"text"}:
            raise InputError(f"object must be a name, a number, a boolean or {{'text'}}: {value!r}")
        return Text(value["text"])
    return value  # type: ignore[no-any-return]  # checked by the operation


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise InputError(f"confidence must be a number, got {cell!r}") from None


FORMATS = (
    Format(
        "triples",
        ("lines",),
        "dated triples, as JSON lines or CSV",
        "facts; `text` is a memory, their evidence",
        matches,
        read,
        facts=True,
    ),
)
