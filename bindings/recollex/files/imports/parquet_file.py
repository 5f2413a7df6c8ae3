"""Tables as Parquet, with the columns of `tables`; also what `recollex export` wrote."""

from collections.abc import Iterator
from pathlib import Path

from recollex.files.imports.formats import Format
from recollex.files.imports.reading import FileReading, Object
from recollex.files.imports.tables import read_rows
from recollex.files.parquet import check_installed
from recollex_engine.errors import InputError

MAGIC = b"PAR1"
"""The first bytes of a file."""
_ROWS = 10_000


def matches(path: Path) -> bool:
    """Return whether a file begins as one of Parquet."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def count(path: Path) -> int:
    """Return the number of rows. Raises `InputError` for another file, or without pyarrow."""
    check_installed()
    import pyarrow
    from pyarrow import parquet

    try:
        return int(parquet.read_metadata(path).num_rows)
    except pyarrow.ArrowInvalid as error:
        raise InputError(f"it is not a Parquet file: {error}") from error


def read(path: Path, reading: FileReading) -> Iterator[Object]:
    """Yield the rows. Raises `InputError` for another file, or without pyarrow."""
    count(path)
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        rows = (row for batch in file.iter_batches(_ROWS) for row in batch.to_pylist())
        yield from read_rows(list(file.schema_arrow.names), rows, reading)


FORMATS = (
    Format(
        "parquet",
        ("file",),
        "the same, as Parquet",
        "what one of `csv` does",
        matches,
        read,
        extra="parquet",
        count=count,
    ),
)
