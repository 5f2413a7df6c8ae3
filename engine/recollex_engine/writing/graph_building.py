"""When and how do rows get their HNSW graph? Beside everything else, and never in its way.

Inserting a vector costs a hundred times what the rest of a checkpoint costs a row, so graphs are
extended by a job of their own. Until it is done, the rows that no graph covers are scanned, which
gives the exact answer; recalls only get faster when it is.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Lock

from recollex_engine.state.hnsw import PROPOSED, Hnsw, extend_graph, least_width
from recollex_engine.state.manifest import GraphEntry
from recollex_engine.state.replica import Replica
from recollex_engine.storage.disk import flush_folder

GRAPH_ROWS = 262_144
"""Rows of an agent up to which no graph is built: comparing one bit a component is as fast.

Microseconds for the first hundred, p50, one thread, two cores of AMD EPYC; the walk as wide as it
was found that it must be, and in brackets as narrow as finds .99 of the ten:

| rows | one bit a component, recall@10 | graph, recall@10 |
| --- | --- | --- |
| 99,000, MiniLM on IRC | 136, .996 | 379, .993 (310, .992) |
| 198,000, MiniLM on IRC | 248, .998 | 464, .993 (387, .992) |
| 131,072, made up | 169, 1.0 | 168, 1.0 (133, 1.0) |
| 262,144, made up | 327, 1.0 | 144, 1.0 |
| 524,288, made up | 975, 1.0 | 202, 1.0 |

Real messages need a walk three to four times as wide as what is made up, and there are no more of
them: up to 262,144 rows one bit takes 1.25 us a thousand, so 330,000 would take as long as a walk;
behind that its 48 bytes a row leave the caches, and it takes half as long again.
"""
GRAPH_MOST = 1 << 20
"""Rows of a graph: while it is extended, all of it is in memory, 560 MB at 384 dimensions."""
GRAPH_STEP, GRAPH_SHARE = 16_384, 16
"""Rows behind the last graph at which it is extended, or another begun: so many, and of a graph
one row for so many that it holds, since it is written whole."""
GRAPH_PART = 262_144
"""Rows by which a graph is extended at most: so many insertions are lost if an agent is closed."""
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
    end = min(indexed, first + GRAPH_MOST, reached + GRAPH_PART)
    lacking = end - reached
    enough = max(GRAPH_STEP, (reached - first) // GRAPH_SHARE)
    if lacking >= min(enough, GRAPH_PART) or (lacking and end == first + GRAPH_MOST):
        return first, reached, end
    return None


def unmeasured(replica: Replica) -> bool:
    """Return whether a graph is there of which nobody knows how wide its walk must be."""
    return any(not graph.width for graph in replica.indexes.graphs)


def extend(replica: Replica, indexing: Lock, stopped: Callable[[], bool]) -> None:
    """Extend every graph that is due, and serve from it; measure those that were not.

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
        graph = _measured(replica, Hnsw.open(building, replica.columns.dimension, first, end))
        with indexing:  # a checkpoint removes what the manifest does not name
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
        with indexing:
            replica.install(tuple(measured), tuple(entries))


def _measured(replica: Replica, graph: Hnsw) -> Hnsw:
    """Return the graph with the width that its walk needs, as a recall of the default asks it."""
    return replace(graph, width=least_width(graph, replica.coded, PROPOSED, replica.codes))


def _serve(replica: Replica, path: Path, graph: Hnsw) -> None:
    """Put a graph into the manifest and into service; the one that it extends leaves both."""
    name = str(path.relative_to(replica.folder))
    entry = GraphEntry(name, graph.first_row, graph.end_row, graph.width)
    kept = sum(each.first_row < graph.first_row for each in replica.graphs)
    old = replica.graphs[kept:]
    replica.install((*replica.indexes.graphs[:kept], graph), (*replica.graphs[:kept], entry))
    for each in old:
        (replica.folder / each.path).unlink(missing_ok=True)
