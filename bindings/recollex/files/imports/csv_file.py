"""Tables as CSV: the first line names the columns, between commas, semicolons, tabs or bars."""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from recollex.files.imports.formats import Format
from recollex.files.imports.reading import FileReading, Object
from recollex.files.imports.tables import fields_of, read_rows
from recollex_engine.errors import InputError

_SEPARATORS = ",;\t|"
csv.field_size_limit(1 << 24)


def header_separator(header: str) -> str:
    """Return the most frequent separator of a line; a comma if it has none."""
    most = max(_SEPARATORS, key=header.count)
    return most if most in header else ","


def separator_of(header: str) -> str | None:
    """Return what separates the columns of a table by its first line; None if it is no table.

    >>> separator_of("id;message;date"), separator_of("Alice likes tea.")
    (';', None)
    """
    for separator in sorted(_SEPARATORS, key=header.count, reverse=True):
        columns = next(csv.reader([header.rstrip("\r\n")], delimiter=separator), [])
        if "text" in fields_of(columns).values():
            return separator
    return None


def _is_header(first: str) -> bool:
    return first.lstrip()[:1] not in ("{", "[") and separator_of(first) is not None


def read(content: str, reading: FileReading) -> Iterator[Object]:
    """Yield the rows. Raises `InputError` for what is no table with a column of texts."""
    lines = io.StringIO(content, newline="")
    header = content.partition("\n")[0]
    rows = csv.DictReader(lines, delimiter=separator_of(header) or ",", restkey="")
    try:
        columns = [name for name in rows.fieldnames or () if name is not None]
        yield from read_rows(columns, _whole(rows, reading), reading)
    except csv.Error as error:
        raise InputError(f"row {rows.line_num} is not CSV: {error}") from error


def _whole(rows: Iterable[dict[str, Any]], reading: FileReading) -> Iterator[dict[str, str]]:
    for row in rows:
        if row.pop("", None):
            reading.skip("row with more cells than columns")
            continue
        yield {name: value for name, value in row.items() if value is not None}


FORMATS = (
    Format(
        "csv",
        ("text",),
        "a table with a column of texts",
        "a row is a memory; with speaker and time, or role, a turn",
        _is_header,
        read,
    ),
)
