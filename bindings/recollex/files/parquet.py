"""Memories as a Parquet file: a row for each, a column for each field of a line of JSON.

Times are timestamps in microseconds UTC, entities and tags lists of strings, the metadata a JSON
object in a string, the embedding a list of float32. A turn's ``at`` stands in the column
``event_at``; a row with a speaker is a turn.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from recollex_engine.domain.fields import FIELDS
from recollex_engine.errors import InputError

_ROWS = 10_000
_TIMES = tuple(field.name for field in FIELDS if field.form == "moment")
_LISTS = tuple(field.name for field in FIELDS if field.form in ("names", "entities"))
_STRINGS = ("text", *(field.name for field in FIELDS if field.form in ("text", "object")))


def check_installed() -> None:
    """Raise `InputError` unless pyarrow can be imported."""
    if find_spec("pyarrow") is None:
        raise InputError("Parquet needs pyarrow: pip install 'recollex[parquet]'")


def write(path: Path, objects: Iterable[dict[str, Any]]) -> int:
    """Write the objects of lines to a file; return how many."""
    check_installed()
    import pyarrow
    from pyarrow import parquet

    at = pyarrow.timestamp("us", tz="UTC")
    schema = pyarrow.schema(
        [
            *((name, pyarrow.string()) for name in _STRINGS),
            *((name, at) for name in _TIMES),
            *((name, pyarrow.list_(pyarrow.string())) for name in _LISTS),
            ("embedding", pyarrow.list_(pyarrow.float32())),
        ],
        metadata={"recollex": "memories 1"},
    )
    rows = map(_row, objects)
    count = 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while chunk := list(islice(rows, _ROWS)):
            writer.write_table(pyarrow.Table.from_pylist(chunk, schema))
            count += len(chunk)
    return count


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file as objects of lines. Raises `InputError` for another file."""
    check_installed()
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            names = {*_STRINGS, *_TIMES, *_LISTS, "embedding"}
            others = [name for name in file.schema_arrow.names if name not in names]
            if others or "text" not in file.schema_arrow.names:
                found = f"has a column {others[0]!r}" if others else "has no column 'text'"
                raise InputError(f"{path} {found}; known are {', '.join(sorted(names))}")
            for batch in file.iter_batches(_ROWS):
                yield from map(_object, batch.to_pylist())
    except pyarrow.ArrowInvalid as error:
        raise InputError(f"{path} is not a Parquet file of memories: {error}") from error


def _row(line: dict[str, Any]) -> dict[str, Any]:
    row = dict(line)
    if "at" in row:
        row["event_at"] = row.pop("at")
    for name in _TIMES:
        if name in row:
            row[name] = datetime.fromisoformat(row[name])
    if "metadata" in row:
        row["metadata"] = json.dumps(row["metadata"], ensure_ascii=False)
    return row


def _object(row: dict[str, Any]) -> dict[str, Any]:
    line = {name: value for name, value in row.items() if value is not None and value != []}
    for name in _TIMES:
        if name in line:
            line[name] = line[name].isoformat()
    if "metadata" in line:
        try:
            line["metadata"] = json.loads(line["metadata"])
        except (ValueError, RecursionError) as error:
            raise InputError(f"metadata must be a JSON object: {error}") from error
    if "speaker" in line:
        line["at"] = line.pop("event_at", None)
    return line
