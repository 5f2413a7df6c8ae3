"""What makes an agent open and answer quickly? Checkpoints, and HNSW graphs beside them.

A checkpoint appends the missing items to the column files, builds the posting lists of the open
segment again and replaces the manifest. Graphs are extended separately (see `extend`).
Sealed segments are never touched, so the cost is bounded by one segment. Readers of the old
generation finish on it.

The order makes a crash at any point leave a consistent state: columns appended, log and vectors
flushed, columns flushed, segment files written, manifest replaced, old files removed. Appended
items have no meaning until the manifest is replaced.

When are HNSW graphs built, and how? By a background job of their own.
To insert a vector into a graph costs a hundred times as much as the rest of a checkpoint costs for
a row. Until the job is done, the rows that no graph covers are scanned, which gives the exact
answer; the graph only makes recalls faster.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from recollex_engine.log.format import Position
from recollex_engine.state import integrity
from recollex_engine.state.file_sizes import FileSizes
from recollex_engine.state.hnsw import PROPOSED, Hnsw, extend_graph, least_width
from recollex_engine.state.manifest import GraphEntry, Manifest, SegmentEntry
from recollex_engine.state.postings import Postings
from recollex_engine.state.replica import Replica
from recollex_engine.state.view import Indexes, Segment, View
from recollex_engine.storage.disk import flush_folder, make_folder
from recollex_engine.writing.writer import Writer

GRAPH_ROWS = 262_144
"""Up to this many rows of an agent no graph is built: the one-bit comparison is as fast.

Microseconds for the best 100, p50, one thread, two cores of AMD EPYC. The walk has the width that
`least_width` chose; in brackets, the narrowest width with a recall@10 of 0.99:

| rows | one bit a component, recall@10 | graph, recall@10 |
| --- | --- | --- |
| 99,000, MiniLM on IRC | 136, 0.996 | 379, 0.993 (310, 0.992) |
| 198,000, MiniLM on IRC | 248, 0.998 | 464, 0.993 (387, 0.992) |
| 131,072, made up | 169, 1.0 | 168, 1.0 (133, 1.0) |
| 262,144, made up | 327, 1.0 | 144, 1.0 |
| 524,288, made up | 975, 1.0 | 202, 1.0 |

Real messages need a walk three to four times as wide as generated vectors, but only 198,000 real
messages were available. Up to 262,144 rows the one-bit comparison takes 1.25 us for 1,000 rows, so
at 330,000 real rows it would take as long as a walk. Above that, its 48 bytes a row no longer fit
the caches, and it takes half as long again.
"""
GRAPH_MOST = 1 << 20
"""Maximum rows of a graph. While it is extended it is in memory: 560 MB at 384 dimensions."""
GRAPH_STEP = 16_384
GRAPH_SHARE = 16
"""A graph is extended, or another begun, when it lacks `GRAPH_STEP` rows and also 1 / `GRAPH_SHARE`
of the rows that it holds: the whole graph is written each time."""
GRAPH_PART = 262_144
"""Maximum rows of one extension: this many insertions are lost if the agent is closed meanwhile."""
GRAPHS = "graphs"
"""The folder of an agent's graphs."""
BUILDING = ".building"
"""Suffix of the name of a graph file that is being written."""


def due(replica: Replica) -> tuple[int, int, int] | None:
    """Return the first row of a graph to extend, and the indexed rows [first, end) that it lacks.

    None if too few rows are missing; a graph that would become full is always extended.
    """
    indexed = replica.entries[-1].end_row if replica.entries else 0
    if indexed <= GRAPH_ROWS:
        return None
    reached = replica.graphs[-1].end_row if replica.graphs else 0
    first = replica.graphs[-1].first_row if replica.graphs else 0
    if reached - first >= GRAPH_MOST:
        first = reached
    end = min(indexed, first + GRAPH_MOST, reached + GRAPH_PART)
    lacking = end - reached
    enough = max(GRAPH_STEP, (reached - first) // GRAPH_SHARE)
    if lacking >= min(enough, GRAPH_PART) or (lacking and end == first + GRAPH_MOST):
        return first, reached, end
    return None


def unmeasured(replica: Replica) -> bool:
    """Return whether there is a graph for which the width of a walk was not measured yet."""
    return any(not graph.width for graph in replica.indexes.graphs)


def extend(
    replica: Replica,
    installing: Callable[[], AbstractContextManager[None]],
    threads: Callable[[], int],
) -> None:
    """Extend every graph that is due and put it into service; measure graphs that were not.

    The manifest is replaced within ``installing()``, where no checkpoint is made. ``threads`` is
    asked regularly how many threads may work: once it returns 0, the rest is left for a later call.
    """
    folder = replica.folder / GRAPHS
    while (rows := due(replica)) is not None:
        first, reached, end = rows
        make_folder(folder)
        path = folder / f"hnsw-{first}-{end}"
        building = path.with_suffix(BUILDING)
        for leftover in folder.glob(f"*{BUILDING}*"):
            leftover.unlink()
        before = replica.folder / replica.graphs[-1].path if reached > first else None
        if not extend_graph(building, before, replica.codes(reached, end), reached, threads):
            return
        graph = _measured(replica, Hnsw.open(building, replica.columns.dimension, first, end))
        with installing():  # a checkpoint removes files that the manifest does not name
            building.rename(path)
            flush_folder(folder)
            _serve(replica, path, graph)
    if unmeasured(replica):
        measured = [
            graph if graph.width else _measured(replica, graph) for graph in replica.indexes.graphs
        ]
        entries = [
            replace(entry, width=graph.width)
            for entry, graph in zip(replica.graphs, measured, strict=True)
        ]
        with installing():
            replica.install(tuple(measured), tuple(entries))


def _measured(replica: Replica, graph: Hnsw) -> Hnsw:
    """Return the graph with the width that its walk needs in a recall with default arguments."""
    return replace(graph, width=least_width(graph, replica.coded, PROPOSED, replica.codes))


def _serve(replica: Replica, path: Path, graph: Hnsw) -> None:
    """Put a graph into the manifest and into service, in place of the graph that it extends."""
    name = str(path.relative_to(replica.folder))
    entry = GraphEntry(name, graph.first_row, graph.end_row, graph.width)
    kept = sum(each.first_row < graph.first_row for each in replica.graphs)
    old = replica.graphs[kept:]
    replica.install((*replica.indexes.graphs[:kept], graph), (*replica.graphs[:kept], entry))
    for each in old:
        (replica.folder / each.path).unlink(missing_ok=True)


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
