"""A file that is being read: its lines, or the operations of its entries."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import TextIO

from recollex.files import jsonl
from recollex.files.imports.reading import Object, Reading
from recollex.files.jsonl import Line
from recollex_engine.domain.operations import Operation


@dataclass(slots=True)
class Source:
    """A file that was opened.

    format: one of `opening.FORMATS`. total: the number of lines, None if it is not known. lines:
    each as a line of JSON lines. reading: what was left out, complete once ``lines`` have been
    read. episodes: of a format with facts: the operations of each of its entries; it has no lines
    then.
    """

    format: str
    total: int | None
    lines: Iterator[Line]
    reading: Reading
    file: TextIO | None = field(default=None, repr=False)
    episodes: Iterator[list[Operation]] | None = None

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self.file is not None:
            self.file.close()


@dataclass(frozen=True, slots=True)
class Way:
    """How a file is read: the arguments of `opening.open_source`, and what is counted."""

    reading: Reading
    zone: tzinfo
    recorded: bool
    stamped: bool

    def of_lines(
        self,
        lines: Iterable[str],
        document: str | None,
        total: int | None,
        file: TextIO | None = None,
    ) -> Source:
        """Return a source of lines of JSON; ``document``: of turns that name none."""
        skip = self.reading.skip
        read = jsonl.read(lines, self.zone, document, self.recorded, self.stamped, skip)
        return Source("jsonl", total, read, self.reading, file)

    def of_objects(self, format: str, objects: Iterable[Object], total: int | None) -> Source:
        """Return a source of the objects that a reader yields."""
        document = self.reading.document
        read = jsonl.read_objects(objects, self.zone, self.recorded, self.stamped, document)
        return Source(format, total, read, self.reading)

    def of_entries(
        self,
        format: str,
        entries: Iterator[list[Operation]],
        total: int | None = None,
        file: TextIO | None = None,
    ) -> Source:
        """Return a source of entries with facts."""
        return Source(format, total, iter(()), self.reading, file, entries)
