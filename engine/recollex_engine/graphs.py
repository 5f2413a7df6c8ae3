"""When and how do rows get their HNSW graph? Beside everything else, and never in its way.

Inserting a vector costs a hundred times what the rest of a checkpoint costs a row, so graphs are
extended by a job of their own. Until it is done, the rows that no graph covers are scanned, which
gives the exact answer; recalls only get faster when it is.
"""

from collections.abc import Callable
from threading import Lock

from recollex_engine.disk import flush_folder
from recollex_engine.hnsw import Hnsw, extend_graph
from recollex_engine.manifest import GraphEntry
from recollex_engine.replica import Replica

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
GRAPH_MOST = 262_144
"""Rows of a graph, of which an agent has as many as it needs."""
GRAPH_STEP = 16_384
"""Rows behind the last graph at which it is extended, or another begun."""
GRAPHS = "graphs"
"""The folder of an agent's graphs."""
BUILDING = ".building"
"""The end of the name of a graph file that is being written."""


def due(replica: Replica) -> tuple[int, int, int] | None:
    """Return where a graph begins, and the first and the end of the indexed rows that it lacks.

    None where no graph lacks enough of them. One that they make whole may lack any number.
    """
    indexed = replica.entries[-1].end_row if replica.entries else 0
    if indexed <= GRAPH_ROWS:
        return None
    reached = replica.graphs[-1].end_row if replica.graphs else 0
    first = replica.graphs[-1].first_row if replica.graphs else 0
    if reached - first >= GRAPH_MOST:
        first = reached
    end = min(indexed, first + GRAPH_MOST)
    lacking = end - reached
    if lacking >= GRAPH_STEP or (lacking and end == first + GRAPH_MOST):
        return first, reached, end
    return None


def extend(replica: Replica, indexing: Lock, stopped: Callable[[], bool]) -> None:
    """Extend every graph that is due, and serve from it.

    ``indexing`` is held while the manifest is replaced, and by checkpoints. ``stopped`` is asked
    now and then: once it returns True, what is not done is left for another time.
    """
    folder = replica.folder / GRAPHS
    while (rows := due(replica)) is not None:
        first, reached, end = rows
        folder.mkdir(exist_ok=True)
        path = folder / f"hnsw-{first}-{end}"
        building = path.with_suffix(BUILDING)
        for leftover in folder.glob(f"*{BUILDING}"):
            leftover.unlink()
        before = replica.folder / replica.graphs[-1].path if reached > first else None
        if not extend_graph(building, before, replica.codes(reached, end), reached, stopped):
            return
        with indexing:  # a checkpoint removes what the manifest does not name
            building.rename(path)
            flush_folder(folder)
            _serve(replica, GraphEntry(str(path.relative_to(replica.folder)), first, end))


def _serve(replica: Replica, entry: GraphEntry) -> None:
    """Put a graph into the manifest and into service; the one that it extends leaves both."""
    kept = [place for place, e in enumerate(replica.graphs) if e.first_row != entry.first_row]
    old = [e for e in replica.graphs if e.first_row == entry.first_row]
    path = replica.folder / entry.path
    graph = Hnsw.open(path, replica.columns.dimension, entry.first_row, entry.end_row)
    replica.install(
        (*(replica.indexes.graphs[place] for place in kept), graph),
        (*(replica.graphs[place] for place in kept), entry),
    )
    for each in old:
        (replica.folder / each.path).unlink(missing_ok=True)
