"""How fast does a store take memories in, how small are they, how soon does it answer again?

Claim: given vectors, in batches of 1,000: at least 12,000 memories/s at durability "interval"
without semantic links and 2,000 with them at 100,000 memories, "always" within a factor of 2 of
"interval"; from opening to the first recall at most 10 ms in a warm process; at most 3 KB a memory
of 100 characters, everything included.

Command: python -m bench.store [--rows 10000 100000] [--json] [--out FILE]

Check: after each run the store is reopened, holds every memory, and answers one exact recall as
before it was closed.

The time to the first recall begins before `recollex.open` and ends with the ids: the lock, COMMIT,
the columns, the posting lists, their checksums as far as they are compared before an answer, and
the recall with a given vector. The process has its kernels loaded and the files are in the page
cache. Each opening is for writing and the one before it was closed. On a tmpfs an opening of
100,000 takes 3 ms more than on ext4 (docs/reliability.md), so TMPDIR should be on a disk.

Texts are made of words drawn from a Zipf distribution. Vectors are random around 2,000 centres, so
that semantic links exist. A rival in the same loop is SQLite: one row for each memory with its text
and vector, an FTS5 index, synchronous=FULL, the same batches.
"""

import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

import recollex
from bench.lib.drawing import Plot
from bench.lib.latency import Bound, Page, Section, claim, finish, parse
from bench.lib.rundata import percentiles

BATCH = 1_000
DIMENSION = 384
WORDS = 50_000
CENTRES = 2_000
CHARACTERS = 100
SEED = 7
REOPENINGS = 21


def main() -> None:
    arguments = parse(__doc__, (10_000, 100_000)).parse_args()
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder) / "warm", 3_000, "interval", links=True)  # compile the kernels
        for rows in arguments.rows:
            for durability in ("off", "interval", "always"):
                name = f"{rows}-{durability}"
                runs.append(measure(Path(folder) / name, rows, durability, links=False))
            runs.append(measure(Path(folder) / f"{rows}-links", rows, "interval", links=True))
            runs.append(rival(Path(folder) / f"{rows}.sqlite", rows))
    finish(page(runs), arguments)


def batches(rows: int) -> Iterator[tuple[list[str], np.ndarray]]:
    """Yield texts of about 100 characters and float32[n, 384] vectors of length 1."""
    rng = np.random.default_rng(SEED)
    words = np.array([f"w{number:x}" for number in range(WORDS)])
    weights = 1 / np.arange(1, WORDS + 1)
    weights /= weights.sum()
    centres = rng.normal(size=(CENTRES, DIMENSION)).astype(np.float32)
    for first in range(0, rows, BATCH):
        count = min(BATCH, rows - first)
        drawn = rng.choice(words, size=(count, CHARACTERS // 4), p=weights)
        texts = [" ".join(line)[:CHARACTERS] for line in drawn]
        vectors = centres[rng.integers(0, CENTRES, count)]
        vectors = vectors + rng.normal(size=vectors.shape).astype(np.float32) * 0.7
        yield texts, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def measure(folder: Path, rows: int, durability: str, links: bool) -> dict[str, Any]:
    made = list(batches(rows))
    embedder = recollex.GivenVectors(DIMENSION, links=links)
    taken = []
    with recollex.open(folder, embedder=embedder, durability=durability) as store:
        agent = store.agent("bench")
        started = time.perf_counter()
        for texts, vectors in made:
            before = time.perf_counter()
            agent.retain_many(texts, embedding=vectors)
            taken.append(time.perf_counter() - before)
        seconds = time.perf_counter() - started
        stats = agent.stats()
        query, vector = made[0][0][0], made[0][1][0]
        expected = agent.recall(query, query_embedding=vector, exact=True).ids
    opened = []
    for _ in range(REOPENINGS):
        before = time.perf_counter()
        with recollex.open(folder, embedder=embedder, durability=durability) as store:
            agent = store.agent("bench")
            agent.recall(query, query_embedding=vector)
            opened.append(time.perf_counter() - before)
            assert agent.stats().memories == rows
            assert agent.recall(query, query_embedding=vector, exact=True).ids == expected
    used = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    texts_size = sum(len(text) for texts, _ in made for text in texts) / rows
    return {
        "system": "recollex",
        "rows": rows,
        "durability": durability,
        "links": stats.links,
        "memories_per_s": rows / seconds,
        "batch_ms": percentiles([each * 1000 for each in taken]),
        "open_to_recall_ms": percentiles([each * 1000 for each in opened]),
        "bytes_per_memory": used / rows,
        "characters_per_memory": texts_size,
    }


def rival(path: Path, rows: int) -> dict[str, Any]:
    made = list(batches(rows))
    taken = []
    with closing(sqlite3.connect(path)) as database:
        database.execute("pragma journal_mode = wal")
        database.execute("pragma synchronous = full")
        database.execute("create table memory (id integer primary key, text, vector blob)")
        database.execute("create virtual table words using fts5(text, content='memory')")
        started = time.perf_counter()
        number = 0
        for texts, vectors in made:
            before = time.perf_counter()
            blobs = [vector.astype(np.float16).tobytes() for vector in vectors]
            lines = list(zip(range(number, number + len(texts)), texts, blobs, strict=True))
            with database:
                database.executemany("insert into memory values (?, ?, ?)", lines)
                database.executemany(
                    "insert into words (rowid, text) values (?, ?)", [line[:2] for line in lines]
                )
            number += len(texts)
            taken.append(time.perf_counter() - before)
        seconds = time.perf_counter() - started
        assert database.execute("select count(*) from memory").fetchone() == (rows,)
        database.execute("pragma wal_checkpoint(truncate)")
    opened = []
    for _ in range(REOPENINGS):
        before = time.perf_counter()
        with closing(sqlite3.connect(path)) as database:
            database.execute(
                "select rowid from words where words match ? order by rank limit 100",
                (" or ".join(made[0][0][0].split()),),
            ).fetchall()
        opened.append(time.perf_counter() - before)
    used = path.stat().st_size
    return {
        "system": "sqlite3 + FTS5 (no vector search)",
        "rows": rows,
        "durability": "always",
        "links": 0,
        "memories_per_s": rows / seconds,
        "batch_ms": percentiles([each * 1000 for each in taken]),
        "open_to_recall_ms": percentiles([each * 1000 for each in opened]),
        "bytes_per_memory": used / rows,
    }


def page(runs: list[dict[str, Any]]) -> Page:
    rows, bounds = [], []
    for run in runs:
        links = ", links" if run["links"] else ""
        rows.append(
            {
                "run": f"{run['system']}, {run['durability']}{links}",
                "memories": run["rows"],
                "links": run["links"],
                "memories/s": run["memories_per_s"],
                **{f"batch {p} ms": ms for p, ms in run["batch_ms"].items()},
                **{f"open {p} ms": ms for p, ms in run["open_to_recall_ms"].items()},
                "bytes a memory": run["bytes_per_memory"],
            }
        )
    for memories in sorted({run["rows"] for run in runs}):
        ours = [run for run in runs if run["rows"] == memories and run["system"] == "recollex"]
        bounds += held(ours, f", {memories:,}")
    return Page(
        "store",
        claim(__doc__),
        "python -m bench.store",
        [Section("Taking in and opening", rows, Plot("curves", "memories", "memories/s", "run"))],
        bounds,
        [],
        (),
        {"batch": BATCH, "characters": CHARACTERS, "dimension": DIMENSION},
    )


def held(runs: list[dict[str, Any]], of: str) -> list[Bound]:
    """Return the bounds that must hold for runs of one size."""
    rate = {run["durability"]: run["memories_per_s"] for run in runs if not run["links"]}
    linked = [run["memories_per_s"] for run in runs if run["links"]]
    opened = max(run["open_to_recall_ms"]["p50"] for run in runs)
    size = max(run["bytes_per_memory"] for run in runs)
    return [
        Bound("memories/s, interval" + of, rate["interval"], 12_000, least=True),
        *(Bound("with semantic links" + of, each, 2_000, least=True) for each in linked),
        Bound("interval / always" + of, rate["interval"] / rate["always"], 2),
        Bound("open to first recall, p50 ms" + of, opened, 10),
        Bound("bytes a memory" + of, size, 3_000),
    ]


if __name__ == "__main__":
    main()
