"""What did the last checkpoint leave on disk? One small file, replaced atomically.

MANIFEST is JSON: the format, the generation, the position in the log up to which columns and
segments hold everything, the agent's settings, how many items each column and dictionary has, the
files of the segments and of the graphs, the CRC-32 of what counts in each of these files, and a
checksum of all that. If the manifest or a file that it names is missing, everything is rebuilt from
the log.
"""

import hashlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from recollex_engine.domain.schema import PIECES, schema
from recollex_engine.domain.settings import Settings
from recollex_engine.errors import CorruptError
from recollex_engine.log.format import Position
from recollex_engine.storage.content_file import read_content, write_content
from recollex_engine.storage.formats import unknown_format

FORMAT = 1
NAME = "MANIFEST"


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """The file of one segment: the posting lists of rows [first_row, end_row)."""

    number: int
    first_row: int
    end_row: int
    postings: str


@dataclass(frozen=True, slots=True)
class GraphEntry:
    """The file of an HNSW graph over rows [first_row, end_row).

    width: how many nodes a recall's walk must keep; 0 if not measured yet.
    """

    path: str
    first_row: int
    end_row: int
    width: int = 0


@dataclass(frozen=True, slots=True)
class Manifest:
    """The state of a checkpoint.

    checksums: the CRC-32 of what counts in a file, by its path below the agent's folder.
    """

    generation: int
    position: Position
    settings: Settings
    columns: dict[str, int]
    dictionaries: dict[str, int]
    segments: tuple[SegmentEntry, ...] = ()
    graphs: tuple[GraphEntry, ...] = ()
    checksums: dict[str, int] = field(default_factory=dict)

    @property
    def has_all_columns(self) -> bool:
        """Whether it names every column, except for those of `PIECES`, which few agents have."""
        return self.columns.keys() | PIECES.keys() == schema().keys()

    def _check(self) -> None:
        """Raise `TypeError` for a field of another type, or a negative number.

        The checksum says that nothing was changed by chance, not that it is one of ours.
        """
        position = self.position
        settings = self.settings
        counts = *self.columns.items(), *self.dictionaries.items(), *self.checksums.items()
        files = [(each.postings, (each.number, *_rows(each))) for each in self.segments]
        files += [(each.path, (each.width, *_rows(each))) for each in self.graphs]
        names = settings.model, settings.language, settings.counter, settings.locale
        numbers = (
            self.generation,
            position.file,
            position.offset,
            position.op,
            settings.dimension,
            settings.analyzer,
            settings.embedding,
            *(count for _, count in counts),
            *(number for _, held in files for number in held),
        )
        texts = *names, *(name for name, _ in counts), *(path for path, _ in files)
        if not all(isinstance(each, str) for each in texts):
            raise TypeError("a name that is not a string")
        if not all(isinstance(each, int) and each >= 0 for each in numbers):
            raise TypeError("a count that is not a number from 0 on")

    def write(self, folder: Path) -> None:
        """Replace the manifest of ``folder``; durable once this returns."""
        values: dict[str, Any] = {
            "format": FORMAT,
            "generation": self.generation,
            "position": self.position.to_json(),
            "settings": self.settings.to_payload(),
            "columns": self.columns,
            "dictionaries": self.dictionaries,
            "segments": [asdict(segment) for segment in self.segments],
            "graphs": [asdict(graph) for graph in self.graphs],
            "checksums": self.checksums,
        }
        values["sha256"] = _checksum(values)
        write_content(folder / NAME, orjson.dumps(values, option=orjson.OPT_INDENT_2))

    @classmethod
    def read(cls, folder: Path) -> "Manifest | None":
        """Return the manifest of ``folder``, None where no checkpoint was made yet.

        Raises `CorruptError` for a damaged one, `FormatError` for one of another version.
        """
        path = folder / NAME
        try:
            values = orjson.loads(read_content(path))
        except FileNotFoundError:
            return None
        except orjson.JSONDecodeError as error:
            raise CorruptError(path, "a manifest in JSON", str(error)) from error
        try:
            if values["format"] != FORMAT:
                raise unknown_format(path, values["format"], FORMAT)
            if (found := values.pop("sha256")) != (expected := _checksum(values)):
                raise CorruptError(path, f"checksum {expected}", found)
            found = cls(
                values["generation"],
                Position.from_json(values["position"]),
                Settings.from_payload(values["settings"]),
                values["columns"],
                values["dictionaries"],
                tuple(SegmentEntry(**entry) for entry in values["segments"]),
                tuple(GraphEntry(**entry) for entry in values["graphs"]),
                values["checksums"],
            )
            found._check()
            return found
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise CorruptError(path, "the fields of a manifest", repr(error)) from error


def _rows(entry: SegmentEntry | GraphEntry) -> tuple[int, int]:
    return entry.first_row, entry.end_row


def _checksum(values: dict[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(values, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]
