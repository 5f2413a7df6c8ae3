"""Does a backup slow the writer down, and how long does it take?

Claim: while a backup runs, in another process or in a thread of the writer's, a write's p99 is at
most twice that without one; a backup that finds nothing new takes at most 100 ms.

Command: python -m bench.backup [--rows 100000] [--json] [--out FILE]

Check: the last backup verifies, and a store restored from it verifies and has the same head: the
same operations with the same hashes.

One agent is filled with memories of 100 characters and given vectors. Then memories are retained
one by one, with durability "always", alternately: alone, beside a process that makes backups of all
the store over and over (`fresh=True`, the most work), and beside a thread that does so.
"""

import contextlib
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import recollex
from bench.lib.latency import Bound, Page, Section, claim, finish, parse
from bench.lib.rundata import percentiles
from bench.store import DIMENSION, batches

TURNS = 6
WRITES = 250
BESIDE = """
import recollex, sys
with recollex.open(sys.argv[1], read_only=True) as store:
    print("begin", flush=True)
    while True:
        store.backup(sys.argv[2], fresh=True, keep=1)
"""


def main() -> None:
    arguments = parse(__doc__, (100_000,)).parse_args()
    sections, bounds = [], []
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory() as folder:
            run = measure(Path(folder), rows)
        sections += run[0]
        bounds += run[1]
    settings = {"turns": TURNS, "writes": WRITES, "dimension": DIMENSION}
    page = Page(
        "backup", claim(__doc__), "python -m bench.backup", sections, bounds, [], (), settings
    )
    finish(page, arguments)


def measure(folder: Path, rows: int) -> tuple[list[Section], list[Bound]]:
    """Return the tables and the bounds of one size."""
    embedder = recollex.GivenVectors(DIMENSION, links=False)
    path, target = folder / "store", folder / "backup"
    with recollex.open(path, embedder=embedder, durability="interval") as store:
        for texts, vectors in batches(rows):
            store.agent("bench").retain_many(texts, embedding=vectors)
    ((texts, vectors),) = batches(1_000)
    beside = {
        "alone": contextlib.nullcontext,
        "beside a process": lambda: process(path, folder / "process"),
        "beside a thread": lambda: thread(path, folder / "thread"),
    }
    taken: dict[str, list[float]] = {name: [] for name in beside}
    number = 0
    with recollex.open(path, embedder=embedder) as store:
        agent = store.agent("bench")
        first, again = (timed(lambda: store.backup(target)) for _ in range(2))
        for _ in range(TURNS):
            for name, started in beside.items():
                with started():
                    for _ in range(WRITES):
                        before = time.perf_counter()
                        agent.retain(
                            f"{texts[number % 1000]} {number}", embedding=vectors[number % 1000]
                        )
                        taken[name].append((time.perf_counter() - before) * 1000)
                        number += 1
        new = timed(lambda: store.backup(target))
        verified = timed(lambda: check(recollex.verify_backup(target).ok))
        restored = timed(lambda: recollex.restore(target, folder / "restored"))
    compare(path, folder / "restored")
    size = sum(each.stat().st_size for each in target.rglob("*") if each.is_file())
    of = f", {rows:,}"
    writes = [{"writes": name, **shown(each)} for name, each in taken.items()]
    alone = percentiles(taken["alone"])["p99"]
    work = {
        "first backup": first,
        "nothing new": again,
        f"{number:,} writes later": new,
        "verify": verified,
        "restore": restored,
    }
    sections = [
        Section(f"Writes beside a backup{of}", writes),
        Section(f"Backups{of}", [{"what": name, "s": each} for name, each in work.items()]),
        Section(f"Size{of}", [{"MB": size / 1e6, "bytes a memory": size / rows}]),
    ]
    bounds = [
        Bound(f"p99 {name} / alone{of}", percentiles(each)["p99"] / alone, 2)
        for name, each in taken.items()
        if name != "alone"
    ]
    return sections, [*bounds, Bound(f"backup that finds nothing, ms{of}", again * 1000, 100)]


@contextlib.contextmanager
def process(path: Path, target: Path) -> Iterator[None]:
    """Make backups in a process of its own meanwhile."""
    command = [sys.executable, "-c", BESIDE, str(path), str(target)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None and child.stdout.readline() == "begin\n"
            yield
        finally:
            child.kill()


@contextlib.contextmanager
def thread(path: Path, target: Path) -> Iterator[None]:
    """Make backups in a thread meanwhile."""
    over = threading.Event()

    def work() -> None:
        with recollex.open(path, read_only=True) as store:
            while not over.is_set():
                store.backup(target, fresh=True, keep=1)

    beside = threading.Thread(target=work)
    beside.start()
    try:
        yield
    finally:
        over.set()
        beside.join()


def timed(work: Any) -> float:
    """Return the seconds that a call takes."""
    before = time.perf_counter()
    work()
    return time.perf_counter() - before


def check(holds: bool) -> None:
    """Stop unless a condition holds."""
    if not holds:
        raise SystemExit("the backup is damaged")


def compare(path: Path, restored: Path) -> None:
    """Stop unless both stores verify and have the same operations."""
    embedder = recollex.GivenVectors(DIMENSION, links=False)
    heads = []
    for each in (path, restored):
        with recollex.open(each, embedder=embedder, read_only=True) as store:
            agent = store.agent("bench")
            check(agent.verify().ok)
            heads.append(agent.head())
    check(heads[0] == heads[1])


def shown(milliseconds: list[float]) -> dict[str, float]:
    """Return the columns of one row."""
    return {f"{p} ms": each for p, each in percentiles(milliseconds).items()}


if __name__ == "__main__":
    main()
