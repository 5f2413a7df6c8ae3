"""When and how does a segment get its HNSW graph? Beside everything else, and never in its way.

Inserting a vector costs a hundred times what the rest of a checkpoint costs a row, so graphs are
extended by a job of their own. Until it is done, the rows that no graph covers are scanned, which
gives the exact answer; recalls only get faster when it is.
"""

from collections.abc import Callable
from pathlib import Path
from threading import Lock

from recollex_engine.disk import flush_folder
from recollex_engine.hnsw import Hnsw, extend_graph
from recollex_engine.manifest import SegmentEntry
from recollex_engine.replica import Replica
from recollex_engine.view import Segment

GRAPH_ROWS = 524_288
"""Rows of an agent up to which no graph is built: comparing one bit a component is faster.

Microseconds for the first hundred, p50, one thread, two cores of AMD EPYC:

| rows | one bit a component, recall@10 | graph, recall@10 |
| --- | --- | --- |
| 99,000, MiniLM on IRC | 240, 1.0 | 750, .989 (256 candidates); 1,390, .997 (512) |
| 262,144, made up | 550, 1.0 | - |
| 524,288, made up | 1,320, 1.0 | - |
| 1,000,000, made up | 2,730, 1.0 | 1,130, .997 (four graphs, 96 candidates in each) |

usearch's own f16 took 1,500 for .989 and 2,770 for .996 of the 99,000.
"""
GRAPH_STEP = 16_384
"""Rows beyond a segment's graph at which it is extended."""
BUILDING = ".building"
"""The end of the name of a graph file that is being written."""


def due(replica: Replica) -> list[SegmentEntry]:
    """Return the segments whose graph lacks enough of their indexed rows, sealed ones any row."""
    if not replica.entries or replica.entries[-1].end_row <= GRAPH_ROWS:
        return []
    last = replica.entries[-1].number
    return [
        entry
        for entry in replica.entries
        if entry.end_row - max(entry.first_row, entry.hnsw_end)
        >= (GRAPH_STEP if entry.number == last else 1)
    ]


def extend(replica: Replica, indexing: Lock, stopped: Callable[[], bool]) -> None:
    """Extend every graph that is due, and serve from it.

    ``indexing`` is held while the manifest is replaced, and by checkpoints. ``stopped`` is asked
    now and then: once it returns True, what is not done is left for another time.
    """
    for entry in due(replica):
        path = replica.folder / f"segment-{entry.number:04d}" / f"hnsw-{entry.end_row}"
        reached = max(entry.first_row, entry.hnsw_end)
        codes = replica.codes(reached, entry.end_row)
        building = path.with_suffix(BUILDING)
        for leftover in path.parent.glob(f"*{BUILDING}"):
            leftover.unlink()
        before = replica.folder / entry.hnsw if entry.hnsw else None
        if not extend_graph(building, before, codes, reached, stopped):
            return
        with indexing:  # a checkpoint removes what the manifest does not name
            building.rename(path)
            flush_folder(path.parent)
            _serve(replica, entry, path)


def _serve(replica: Replica, extended: SegmentEntry, path: Path) -> None:
    """Put the graph at ``path`` into the manifest and into service."""
    entries, segments = [], []
    for entry, segment in zip(replica.entries, replica.segments, strict=True):
        if entry.number == extended.number:
            end = extended.end_row
            graph = Hnsw.open(path, replica.columns.dimension, entry.first_row, end)
            name = str(path.relative_to(replica.folder))
            entry = SegmentEntry(
                entry.number, entry.first_row, entry.end_row, entry.postings, name, end
            )
            segment = Segment(segment.number, segment.postings, graph)
        entries.append(entry)
        segments.append(segment)
    replica.install(tuple(segments), tuple(entries))
    if extended.hnsw is not None:
        (replica.folder / extended.hnsw).unlink(missing_ok=True)
