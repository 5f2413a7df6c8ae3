"""When are HNSW graphs built, and how? By a background job of their own.

To insert a vector into a graph costs a hundred times as much as the rest of a checkpoint costs for
a row. Until the job is done, the rows that no graph covers are scanned, which gives the exact
answer; the graph only makes recalls faster.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from recollex_engine.state.hnsw import PROPOSED, Hnsw, extend_graph, least_width
from recollex_engine.state.manifest import GraphEntry
from recollex_engine.state.replica import Replica
from recollex_engine.storage.disk import flush_folder, make_folder

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
