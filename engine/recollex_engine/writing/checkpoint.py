"""What does a checkpoint write, so that an agent opens quickly? Columns and posting lists.

A checkpoint appends the missing items to the column files, builds the posting lists of the open
segment again and replaces the manifest. Graphs are extended separately (see `graph_building`).
Sealed segments are never touched, so the cost is bounded by one segment. Readers of the old
generation finish on it.

The order makes a crash at any point leave a consistent state: columns appended, log and vectors
flushed, columns flushed, segment files written, manifest replaced, old files removed. Appended
items have no meaning until the manifest is replaced.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from recollex_engine.log.format import Position
from recollex_engine.state import integrity
from recollex_engine.state.file_sizes import FileSizes
from recollex_engine.state.manifest import Manifest, SegmentEntry
from recollex_engine.state.postings import Postings
from recollex_engine.state.replica import Replica
from recollex_engine.state.view import Indexes, Segment, View
from recollex_engine.storage.disk import flush_folder, make_folder
from recollex_engine.writing.graph_building import BUILDING, GRAPHS
from recollex_engine.writing.writer import Writer

SEGMENT_ROWS = 1 << 18
"""Rows of a sealed segment."""
TAIL_ROWS = 8_192
"""Rows of the tail at which a checkpoint is due."""
LOG_BYTES = 64 << 20
"""Size at which a log file is sealed and compressed."""


@dataclass(frozen=True, slots=True)
class _Frozen:
    """The state of the columns when the checkpoint began."""

    view: View
    position: Position
    columns: dict[str, int]
    dictionaries: dict[str, int]


def run(writer: Writer, generation: int) -> None:
    """Make a checkpoint of all operations applied so far.

    Threads: one checkpoint at a time; retains and recalls continue meanwhile. Raises
    `StoreFullError`; then the old generation stays in force.
    """
    replica = writer.replica
    columns = replica.columns
    folder = replica.folder
    if columns.settings is None:
        return
    home = folder / columns.settings.columns_folder
    FileSizes().check(replica)
    make_folder(home)
    with writer.lock:
        writer.check_settled()
        columns.code_rows(replica.rows_of_file, needed=True)
        frozen = _Frozen(
            replica.view(columns.op),
            writer.log.position,
            {name: column.count for name, column in columns.column.all().items()},
            {name: dictionary.count for name, dictionary in columns.dictionary.items()},
        )
        writer.check_place()  # whose files these are
        for name, column in columns.column.items():
            column.persist(home / name, frozen.columns[name], sync=False)
            column.write_back(sync=False)
    for name, dictionary in columns.dictionary.items():  # their strings never change
        dictionary.persist(home, name, generation, frozen.dictionaries[name], sync=False)
    writer.log.sync()
    for column in columns.column.values():
        column.flush_file()
    for dictionary in columns.dictionary.values():
        dictionary.flush_files()
    flush_folder(home)
    pairs = [
        _index(replica, frozen.view, number, generation)
        for number in _unsealed(replica, frozen.view.rows)
    ]
    kept = [
        (segment, entry)
        for segment, entry in zip(replica.indexes.segments, replica.entries, strict=True)
        if all(entry.number != new.number for _, new in pairs)
    ]
    everything = sorted([*kept, *pairs], key=lambda pair: pair[1].number)
    manifest = Manifest(
        generation,
        frozen.position,
        columns.settings,
        frozen.columns,
        frozen.dictionaries,
        tuple(entry for _, entry in everything),
        replica.graphs,
    )
    segments = tuple(segment for segment, _ in everything)
    indexes = Indexes(segments, replica.indexes.graphs)
    manifest = replace(manifest, checksums=_checksums(replica, manifest, indexes))
    writer.check_place()  # it may have been moved while all of this was written
    manifest.write(folder)
    replica.manifest = manifest
    replica.generation = generation
    replica.indexes = indexes
    writer.commit_word.generation = generation
    _remove_old(folder, manifest)
    with writer.lock:
        for dictionary in columns.dictionary.values():
            dictionary.adopt(generation)
    if writer.log.rotate_if_larger(LOG_BYTES):
        writer.log.compress_sealed()


def _checksums(replica: Replica, manifest: Manifest, indexes: Indexes) -> dict[str, int]:
    """Return the checksums of all files of a checkpoint; those of kept index files are known."""
    op = manifest.position.op
    known = replica.manifest
    return {
        **integrity.of_columns(replica.columns, op, manifest.generation),
        **integrity.of_indexes(indexes, manifest, known),
        **integrity.of_vectors(replica.rows_of_file, manifest, known),
    }


def _unsealed(replica: Replica, rows: int) -> range:
    """Return the numbers of the segments whose rows no sealed segment covers."""
    sealed = sum(entry.end_row - entry.first_row == SEGMENT_ROWS for entry in replica.entries)
    return range(sealed, -(-rows // SEGMENT_ROWS))


def _index(
    replica: Replica, view: View, number: int, generation: int
) -> tuple[Segment, SegmentEntry]:
    """Write the posting lists of one segment of ``view``, and map them."""
    first = number * SEGMENT_ROWS
    end = min(first + SEGMENT_ROWS, view.rows)
    folder = replica.folder / f"segment-{number:04d}"
    make_folder(folder)
    terms = replica.columns.dictionary["terms"].count
    path = folder / f"postings-{generation}"
    # a memory that crosses into the next segment belongs to the segment where it begins
    began = view.of_memories("first_row")
    first_memory, end_memory = np.searchsorted(began, [first, end]).tolist()
    offsets = view.term_offsets(first_memory, end_memory)
    lengths = view.buffer("words")[first_memory:end_memory]
    Postings.build(offsets, view.buffer("term"), lengths, first_memory, terms).write(path)
    flush_folder(folder)
    entry = SegmentEntry(number, first, end, str(path.relative_to(replica.folder)))
    return Segment(number, Postings.read(path)), entry


def _remove_old(folder: Path, manifest: Manifest) -> None:
    """Remove files of earlier generations; processes that mapped them keep them."""
    named = {folder / entry.postings for entry in manifest.segments}
    named |= {folder / entry.path for entry in manifest.graphs}
    for path in (*folder.glob("segment-*/*"), *folder.glob(f"{GRAPHS}/*")):
        if path not in named and BUILDING not in path.suffixes:
            path.unlink(missing_ok=True)
