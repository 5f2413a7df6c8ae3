"""Which checksums does a checkpoint write, and which items does each of them cover?"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.schema import CLOSED
from recollex_engine.errors import CorruptError, FormatError
from recollex_engine.state.columns import Columns, ReadRows
from recollex_engine.state.integrity import Part, SideThread, known_at, sum_beside
from recollex_engine.state.manifest import GraphEntry, Manifest, SegmentEntry
from recollex_engine.state.view import Indexes
from recollex_engine.storage.column import crc32

_POSTING = 3
"""Bytes of a posting in a segment's file."""


def of_columns(columns: Columns, op: int, generation: int) -> dict[str, int]:
    """Return the checksums of the columns and dictionaries that a checkpoint has just persisted.

    op: the last operation of the checkpoint. Cost: 0.3 ns for each byte that is new since the last
    checkpoint, and for each byte of the columns of `CLOSED`.
    """
    assert columns.settings is not None
    home = columns.settings.columns_folder
    found = {}
    for name, column in columns.column.copy().items():
        if column.stored:
            found[f"{home}/{name}"] = (
                crc32(known_at(column.array[: column.stored], op))
                if name in CLOSED
                else column.checksum(column.stored)
            )
    for name, dictionary in columns.dictionary.items():
        for end, crc in dictionary.checksums(dictionary.stored, generation).items():
            found[f"{home}/{name}.{end}"] = crc
    return found


def of_indexes(indexes: Indexes, manifest: Manifest, known: Manifest | None) -> dict[str, int]:
    """Return the checksums of the files of segments and graphs.

    Files that ``known``, the manifest before, names too are not read again.
    """
    kept = {*known.segments, *known.graphs} if known is not None else set()
    sums = known.checksums if known is not None else {}
    return {
        name: sums[name] if entry in kept and name in sums else crc32(items)
        for name, entry, items in _index_files(indexes, manifest)
    }


def of_vectors(
    replica_rows: ReadRows, manifest: Manifest, known: Manifest | None
) -> dict[str, int]:
    """Return the checksum of the vectors of the rows in ``manifest``, extended from ``known``.

    replica_rows(first, end) returns the vectors of rows [first, end).
    """
    name = manifest.settings.vectors_file
    rows = manifest.columns["memory_of_row"]
    first = crc = 0
    if known is not None and name in known.checksums:
        first = known.columns["memory_of_row"]
        crc = known.checksums[name]
    return {name: crc32(replica_rows(first, rows), crc)} if rows else {}


def parts_of_columns(columns: Columns, manifest: Manifest, folder: Path) -> tuple[list[Part], bool]:
    """Return what is to be compared of columns that were just opened, and whether that is all."""
    settings = manifest.settings
    sums = manifest.checksums
    parts = []
    count = 0
    home = settings.columns_folder
    for name, column in columns.column.items():
        count += 1
        if (crc := sums.get(path := f"{home}/{name}")) is not None:
            column.vouch(crc)
            op = manifest.position.op if name in CLOSED else None
            parts.append(Part(folder, path, column.array, crc, op))
    for name, dictionary in columns.dictionary.items():
        for end, (items, held) in dictionary.stored_parts(manifest.generation).items():
            count += 1
            if (crc := sums.get(path := f"{home}/{name}.{end}")) is not None:
                if held is not None:
                    held.vouch(crc)
                parts.append(Part(folder, path, items, crc))
    return parts, len(parts) == count


def parts_of_indexes(
    indexes: Indexes, manifest: Manifest, folder: Path
) -> tuple[list[Part], list[Part]]:
    """Return what is to be compared of the last segment, and of the other segments and graphs.

    Kernels index by the numbers of memories in a segment. All numbers of 16 bits are memories of a
    sealed segment, so only the last one must be compared before anything reads it.
    """
    sums = manifest.checksums
    last = manifest.segments[-1].postings if manifest.segments else ""
    parts = [
        (name, Part(folder, name, items, sums[name]))
        for name, _, items in _index_files(indexes, manifest)
        if name in sums
    ]
    return [part for name, part in parts if name == last], [
        part for name, part in parts if name != last
    ]


def sum_of_last(manifest: Manifest, folder: Path) -> SideThread[int | None] | None:
    """Begin to read the last segment's file, which must be compared before anything reads it.

    Returns None where it is small or has no checksum.
    """
    name = manifest.segments[-1].postings if manifest.segments else ""
    if name not in manifest.checksums:
        return None
    return sum_beside(folder / name, manifest.columns.get("term", 0) * _POSTING)


def part_of_vectors(replica_rows: ReadRows, manifest: Manifest, folder: Path) -> list[Part]:
    """Return what is to be compared of the vectors; nothing if rows are missing."""
    name = manifest.settings.vectors_file
    rows = manifest.columns["memory_of_row"]
    crc = manifest.checksums.get(name)
    if crc is None or not rows:
        return []
    try:
        return [Part(folder, name, replica_rows(0, rows), crc, is_truth=True)]
    except (CorruptError, FormatError):  # what opens the agent says so
        return []


def _index_files(
    indexes: Indexes, manifest: Manifest
) -> Iterator[tuple[str, SegmentEntry | GraphEntry, npt.NDArray[np.uint8]]]:
    for segment, entry in zip(indexes.segments, manifest.segments, strict=True):
        yield entry.postings, entry, segment.postings.file
    for graph, named in zip(indexes.graphs, manifest.graphs, strict=True):
        yield named.path, named, graph.nodes
