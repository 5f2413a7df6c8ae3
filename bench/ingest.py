"""How much memory does taking in need, and does its speed hold? Beside it, indexes are built.

Claim: while a million memories are taken in, and while their graph is built, the process keeps at
most 1.2 GB that are not pages of files; the tail that waits for a checkpoint never exceeds four
times 8,192 passages and a batch, because a writer that outruns its checkpoints waits; the last
tenth is taken in at no less than half the speed of the first.

Command: python -m bench.ingest [--rows 100000 1000000] [--out FILE]

Check: the memories are counted after the store is closed and opened again, and the tail is empty.

Memories of 100 characters are made up, with given vectors (see `bench.lib.made_up`). They are
retained in batches of 2,000, in a process of their own. Memory is read from the system every 50 ms,
less its value before the store was opened. Building lasts from the last batch until every index,
the graph included, is complete.
"""

import multiprocessing
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import recollex
from bench.lib import made_up
from bench.lib.drawing import Plot
from bench.lib.kept_stores import AGENT, add_arguments
from bench.lib.latency import Bound, Page, Section, claim, finish, parse
from bench.lib.rundata import percentiles, process_memory

EVERY = 0.05
"""Seconds between two readings of the memory."""
TAIL = 4 * 8_192 + made_up.BATCH


def main() -> None:
    parser = parse(__doc__, (100_000, 1_000_000))
    add_arguments(parser)
    arguments = parser.parse_args()
    arguments.stores.mkdir(parents=True, exist_ok=True)
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        pool.apply(measure, (arguments.stores, 3_000))  # compiles the kernels
        rows = [pool.apply(measure, (arguments.stores, count)) for count in arguments.rows]
    finish(page(rows), arguments)


def measure(stores: Path, count: int) -> dict[str, Any]:
    """Return a row: ``count`` memories retained by this process, in a temporary folder."""
    next(made_up.batches(1))  # tables that made_up keeps do not count
    embedder = recollex.GivenVectors(made_up.DIMENSION, links=False)
    taken, tail = [], 0
    with tempfile.TemporaryDirectory(dir=stores) as folder, watched() as peak:
        with recollex.open(folder, embedder=embedder) as store:
            agent = store.agent(AGENT)
            for batch in made_up.batches(count):
                before = time.perf_counter()
                agent.retain_many(**batch.fields())
                taken.append(time.perf_counter() - before)
                tail = max(tail, agent.stats().tail_passages)
            retained = dict(peak)
            before = time.perf_counter()
            agent.checkpoint()
            building = time.perf_counter() - before
        with recollex.open(folder, embedder=embedder, read_only=True) as store:
            stats = store.agent(AGENT).stats()
        assert (stats.memories, stats.tail_passages) == (count, 0), stats
    tenth = max(1, len(taken) // 10)  # batches; only the last may be smaller
    return {
        "memories": count,
        "system": "recollex",
        "memories/s": count / sum(taken),
        "of the first tenth": min(count, tenth * made_up.BATCH) / sum(taken[:tenth]),
        "of the last": min(count, tenth * made_up.BATCH) / sum(taken[-tenth:]),
        **{f"batch {p} ms": ms for p, ms in percentiles([s * 1000 for s in taken]).items()},
        "tail at most": tail,
        "not files at most, MB": retained["RssAnon"],
        "resident at most, MB": retained["VmRSS"],
        "building s": building,
        "not files then, MB": peak["RssAnon"],
    }


@contextmanager
def watched() -> Iterator[dict[str, float]]:
    """Measure the peak of this process's megabytes in the block, above the value before it."""
    before = process_memory()
    peak = dict.fromkeys(before, 0.0)
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(EVERY):
            for name, megabytes in process_memory().items():
                peak[name] = max(peak[name], megabytes - before[name])

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield peak
    finally:
        ended.set()
        watcher.join()


def page(rows: list[dict[str, Any]]) -> Page:
    bounds = []
    for row in rows:
        of = f", {row['memories']:,}"
        most = max(row["not files at most, MB"], row["not files then, MB"])
        bounds += [
            Bound("MB that are not files" + of, most, 1200),
            Bound("tail, passages" + of, row["tail at most"], TAIL),
            Bound(
                "speed of the last tenth / the first" + of,
                row["of the last"] / row["of the first tenth"],
                0.5,
                least=True,
            ),
        ]
    return Page(
        "ingest",
        claim(__doc__),
        "python -m bench.ingest",
        [Section("Taking in", rows, Plot("curves", "memories", "not files at most, MB", "system"))],
        bounds,
        [],
        (),
        {"batch": made_up.BATCH, "dimension": made_up.DIMENSION, "durability": "interval"},
    )


if __name__ == "__main__":
    main()
