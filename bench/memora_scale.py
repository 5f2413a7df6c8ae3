"""Memora's scalability analysis (5.3), measured: 1,000 to 1,000,000 memories, 1 to 100 callers.

Claim: a whole recall, four arms to the token budget without a model, p50 / p99: 0.3 / 1 ms at
10,000 memories, 0.6 / 2 ms at 100,000, 2 / 6 ms at 1,000,000. A million memories of 100 characters
take at most 2.5 KB each on disk and 2 GB of memory while recalling; a checkpoint of them, which
touches the open segment alone, at most 3 s.

Command: python -m bench.memora_scale [--rows N ...] [--data FOLDER] [--json] [--out FILE]

Check: before the clock starts, the questions are answered by an index as by an exact recall, at
recall@10 of at least 0.98; every concurrent caller gets the answers that one caller gets.

Memories are made up (see `bench.lib.made_up`). If ``--data`` has the IRC log, real messages with
MiniLM's vectors are measured too (10,000 and 100,000). The question's vector is given. Every fifth
question about messages names a time, and so runs all four arms. The resident memory is that of a
new process that opened the store and recalled 200 times; it includes pages of mapped files.
Concurrent callers are threads that ask without a pause. The checkpoint is made of a copy of the
store, 8,000 memories after the last checkpoint.
"""

import argparse
import multiprocessing
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import recollex
from bench.lib import chat, made_up
from bench.lib.drawing import Plot
from bench.lib.kept_stores import AGENT, add_arguments, made_up_store
from bench.lib.latency import Bound, Page, Section, System, claim, finish, parse, race
from bench.lib.rundata import percentiles, process_memory
from bench.lib.storage_parts import PARTS, storage_parts

QUESTIONS = 200
CALLERS = (1, 16, 100)
CALLS = 2_000
PRESETS = ("default", "tempr")
LIMITS = {10_000: (0.3, 1.0), 100_000: (0.6, 2.0), 1_000_000: (2.0, 6.0)}
"""Number of memories -> milliseconds at p50 and at p99."""
SINCE_CHECKPOINT = 8_000
CHECKPOINTS = 3


def main() -> None:
    parser = parse(__doc__, (1_000, 10_000, 100_000))
    add_arguments(parser)
    arguments = parser.parse_args()
    recalls: list[dict[str, Any]] = []
    sizes: list[dict[str, Any]] = []
    callers: list[dict[str, Any]] = []
    checkpoints: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []
    for rows in arguments.rows:
        with made_up_store(arguments.stores, rows) as agent:
            asked = [q.fields() for q in made_up.questions(rows, QUESTIONS)]
            recalls += whole("made up", agent, asked)
            callers += concurrent(agent, asked)
            held = agent.stats()
        path = arguments.stores / f"made-up-{rows}"
        sizes.append(
            {
                "memories": rows,
                "bytes a memory on disk": held.bytes_on_disk / rows,
                "MB per 1,000 (Memora: 7.5)": held.bytes_on_disk / rows / 1000,
                **resident(path, asked),
            }
        )
        [agent_folder] = (path / "agents").iterdir()
        parts.append({"memories": rows} | per_thousand(storage_parts(agent_folder), rows))
        if rows >= 100_000:
            checkpoints += checkpoint(path, rows)
        if chat.path_in(arguments.data).exists() and 10_000 <= rows <= chat.MOST:
            with messages(arguments, rows) as (agent, asked):
                recalls += whole("irc", agent, asked)
    finish(page(recalls, sizes, callers, checkpoints, parts), arguments)


@contextmanager
def messages(
    arguments: argparse.Namespace, rows: int
) -> Iterator[tuple[recollex.Agent, list[dict[str, Any]]]]:
    from bench.lib.kept_vectors import KeptVectors

    with chat.chat_store(arguments.stores, arguments.data, rows, KeptVectors(), QUESTIONS) as (
        agent,
        _,
        asked,
    ):
        yield agent, asked


def whole(corpus: str, agent: recollex.Agent, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one row for each preset, timed from the call to the ids."""
    rows = []
    for preset in PRESETS:
        shared = []
        for question in asked:
            ten = [
                set(agent.recall(**question, preset=preset, exact=exact).ids[:10])
                for exact in (False, True)
            ]
            shared.append(len(ten[0] & ten[1]) / max(1, len(ten[1])))
        assert np.mean(shared) >= 0.98, (corpus, preset, np.mean(shared))
        stages: dict[str, list[float]] = {}
        for question in asked:
            trace = agent.recall(**question, preset=preset).trace
            assert not trace.errors
            for name, spent in trace.stages.items():
                stages.setdefault(name, []).append(spent)

        def ask(question: dict[str, Any], preset: str = preset) -> list[str]:
            return agent.recall(**question, preset=preset).ids

        times = race([System(preset, ask)], asked)[preset]
        medians = {name: float(np.median(each)) for name, each in stages.items()}
        rows.append(
            {
                "memories": agent.stats().memories,
                "texts": corpus,
                "preset": preset,
                "system": f"{corpus}, {preset}",
                "p50 ms": times["p50"] / 1000,
                "p95": times["p95"] / 1000,
                "p99": times["p99"] / 1000,
                "best p50": times["best p50"] / 1000,
                "best p99": times["best p99"] / 1000,
                "recall@10": float(np.mean(shared)),
                "stages, us": ", ".join(f"{name} {us:.0f}" for name, us in medians.items()),
            }
        )
    return rows


def concurrent(agent: recollex.Agent, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one row for each number of callers; a caller is a thread that asks without a pause."""
    expected = [agent.recall(**question).ids for question in asked]
    rows = []
    for count in CALLERS:
        spent: list[list[float]] = [[] for _ in range(count)]
        wrong: list[int] = []
        barrier = threading.Barrier(count + 1)

        def call(
            number: int,
            count: int = count,
            spent: list[list[float]] = spent,
            wrong: list[int] = wrong,
            barrier: threading.Barrier = barrier,
        ) -> None:
            barrier.wait()
            for turn in range(max(1, CALLS // count)):
                place = (number * 31 + turn) % len(asked)
                before = time.perf_counter_ns()
                found = agent.recall(**asked[place]).ids
                spent[number].append((time.perf_counter_ns() - before) / 1e6)
                if found != expected[place]:
                    wrong.append(place)

        threads = [threading.Thread(target=call, args=(n,)) for n in range(count)]
        for thread in threads:
            thread.start()
        barrier.wait()
        before = time.perf_counter()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - before
        assert not wrong, f"{len(wrong)} answers of {count} callers differ"
        times = [each for part in spent for each in part]
        found = percentiles(times)
        rows.append(
            {
                "memories": agent.stats().memories,
                "callers": count,
                "system": f"{count} callers",
                "recalls/s": len(times) / seconds,
                "p50 ms": found["p50"],
                "p95": found["p95"],
                "p99": found["p99"],
            }
        )
    return rows


def resident(path: Path, asked: list[dict[str, Any]]) -> dict[str, float]:
    """Return the megabytes of a process that opens the store and recalls."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_resident, (path, asked))


def _resident(path: Path, asked: list[dict[str, Any]]) -> dict[str, float]:
    before = process_memory()
    with recollex.open(path, embedder=recollex.GivenVectors(made_up.DIMENSION)) as store:
        agent = store.agent(AGENT)
        for question in asked:
            _ = agent.recall(**question).ids
        after = process_memory()
    return {
        "resident MB": after["VmRSS"],
        "of it not files": after["RssAnon"],
        "peak": after["VmHWM"],
        "before opening": before["VmRSS"],
    }


def checkpoint(path: Path, rows: int) -> list[dict[str, Any]]:
    """Return one row for each checkpoint of a copy; 8,000 memories lie between two of them."""
    found = []
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(path, copy)
        embedder = recollex.GivenVectors(made_up.DIMENSION, links=False)
        more = [batch.fields() for batch in islice(made_up.batches(rows), 4)]
        with recollex.open(copy, embedder=embedder, durability="off") as store:
            agent = store.agent(AGENT)
            for _ in range(CHECKPOINTS):
                for batch in more:
                    agent.retain_many(**batch)
                graphs = sorted(copy.rglob("hnsw-*"))
                before = time.perf_counter()
                agent.checkpoint()
                seconds = time.perf_counter() - before
                grew = graphs != sorted(copy.rglob("hnsw-*"))
                row = {"memories": agent.stats().memories, "s": seconds}
                found.append(row | {"HNSW": "extended" if grew else "no"})
    return found


def per_thousand(sizes: dict[str, int], rows: int) -> dict[str, float]:
    """Return the megabytes of each part for 1,000 memories."""
    return {name: size / rows / 1000 for name, size in sizes.items()}


def statements(
    recalls: list[dict[str, Any]], callers: list[dict[str, Any]], parts: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return what Memora 5.3 states, twelve rows, and what was measured for each here."""
    p50 = {r["memories"]: r["p50 ms"] for r in recalls if r["system"] == "made up, default"}
    many = {(r["memories"], r["callers"]): r for r in callers}
    most = max(p50, default=0)
    busy = many.get((most, 100))
    stored = next((r for r in parts if r["memories"] == 1000), parts[-1] if parts else {})

    def ms(memories: int) -> Any:
        return p50.get(memories, "not run")

    def mb(*names: str) -> Any:
        return sum(stored[name] for name in names) if stored else "not run"

    told: list[tuple[str, str, Any]] = [
        ("10,000 memories: retrieval, ms", "< 100", ms(10_000)),
        ("100,000 memories: retrieval, ms", "< 150", ms(100_000)),
        ("1,000,000 memories: retrieval, ms", "shard by agent", ms(1_000_000)),
        ("concurrent requests", "100", busy["callers"] if busy else "not run"),
        ("connections of a search", "2 to 4", "none: in the process"),
        ("overload", "a semaphore", "threads wait; a server answers 503"),
        (
            f"100 callers, {most:,} memories: recalls/s",
            "",
            busy["recalls/s"] if busy else "not run",
        ),
        ("1,000 memories: embeddings, MB", "1.5 (float32)", mb("embeddings", "vector index")),
        ("1,000 memories: links, MB", "5", mb("links")),
        ("1,000 memories: metadata, MB", "1", mb("metadata", "texts", "words", "other")),
        ("1,000 memories: log, MB", "", mb("log")),
        ("1,000 memories: total, MB", "7.5", mb(*PARTS)),
    ]
    return [
        {"statement": name, "Memora 5.3": printed, "here": here} for name, printed, here in told
    ]


def page(
    recalls: list[dict[str, Any]],
    sizes: list[dict[str, Any]],
    callers: list[dict[str, Any]],
    checkpoints: list[dict[str, Any]],
    parts: list[dict[str, Any]],
) -> Page:
    bounds = []
    for row in recalls:
        if row["preset"] == "default" and row["memories"] in LIMITS:
            for name, limit in zip(("p50 ms", "p99"), LIMITS[row["memories"]], strict=True):
                what = f"recall, {row['memories']:,} {row['texts']}, {name[:3]} ms"
                bounds.append(Bound(what, row[name], limit))
    for row in sizes:
        if row["memories"] == 1_000_000:
            bounds.append(Bound("bytes a memory, 1,000,000", row["bytes a memory on disk"], 2500))
            bounds.append(Bound("resident GB, 1,000,000", row["resident MB"] / 1024, 2))
    plain = [row["s"] for row in checkpoints if row["HNSW"] == "no" and row["memories"] > 1_000_000]
    if plain:
        bounds.append(Bound("checkpoint at 1,000,000 without HNSW, s", max(plain), 3))
    curves = Plot("curves", "memories", "p50 ms", "system")
    sections = [
        Section("A whole recall, to the ids (Memora: < 100 ms, 150 at 100,000)", recalls, curves),
        Section("Concurrent callers, default preset", callers, curves),
        Section("Storage and memory", sizes),
        Section(
            "Storage by part, MB per 1,000 memories (Memora: embeddings 1.5, links 5, metadata 1)",
            parts,
        ),
        Section("Memora 5.3, statement by statement", statements(recalls, callers, parts)),
    ]
    if checkpoints:
        sections.append(
            Section(f"A checkpoint {SINCE_CHECKPOINT:,} memories after the last", checkpoints)
        )
    return Page(
        "memora_scale",
        claim(__doc__),
        "python -m bench.memora_scale --rows 1000 10000 100000 1000000",
        sections,
        bounds,
        [
            "best p50, best p99: of each question's best of five rounds, which other processes on "
            "the machine disturb least.",
            "`bench.many_agents` measures 10,000 agents of 100 memories.",
        ],
        (),
        {"questions": QUESTIONS, "calls": CALLS, "thinking_budget": "default"},
    )


if __name__ == "__main__":
    main()
