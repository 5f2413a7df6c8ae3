"""Ten thousand agents of a hundred memories: opened, asked, all open at once.

Claim: opening an agent and recalling takes at most 5 ms at p50 cold and 0.5 ms warm; all are open
at once; at most 300 MB on disk (which the vectors alone are beyond, as f16: 768 MB).

Command: python -m bench.many_agents [--agents N] [--json] [--out FILE]

Check: every recall finds the memory whose words and vector it asks with, first.

Each agent retains its hundred memories in one call and is closed. It has a log alone, since no
checkpoint is due. Cold is the first recall of each agent in a process that has asked one other
agent, from `store.agent` to the ids. Warm is the second recall, while every agent is still open.
"""

import argparse
import multiprocessing
import resource
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import recollex
from bench.lib import made_up
from bench.lib.drawing import Plot
from bench.lib.kept_stores import add_arguments
from bench.lib.latency import Bound, Page, Section, claim, finish, parse
from bench.lib.rundata import percentiles

MEMORIES = 100
VECTORS = MEMORIES * made_up.DIMENSION * 2
"""Bytes of the vectors of one agent."""


def main() -> None:
    parser = parse(__doc__)
    add_arguments(parser)
    parser.add_argument("--agents", type=int, default=1_000, help="1,000 unless said")
    parser.add_argument("--read-only", action="store_true", help="open without being the writer")
    arguments = parser.parse_args()
    arguments.stores.mkdir(parents=True, exist_ok=True)
    path = arguments.stores / f"agents-{arguments.agents}"
    seconds = make(path, arguments.agents)
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    blocks = sum(file.stat().st_blocks * 512 for file in path.rglob("*") if file.is_file())
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(ask, (path, arguments.agents, arguments.read_only))
    finish(page(arguments, found, size, blocks, seconds), arguments)


def embedder() -> recollex.GivenVectors:
    return recollex.GivenVectors(made_up.DIMENSION, links=False)


def make(path: Path, agents: int) -> float:
    """Make the store if it does not exist; return the seconds that took, or 0."""
    if path.exists():
        return 0.0
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        making = Path(folder) / "made"
        batches = iter(made_up.batches(agents * MEMORIES))
        each = made_up.BATCH // MEMORIES
        for number in range(0, agents, each):
            fields = next(batches).fields()
            with recollex.open(making, embedder=embedder(), durability="off") as store:
                for place in range(min(each, agents - number)):
                    part = slice(place * MEMORIES, (place + 1) * MEMORIES)
                    own = {name: value[part] for name, value in fields.items()}
                    store.agent(f"agent-{number + place}").retain_many(**own)
        shutil.move(making, path)
    return time.perf_counter() - started


def ask(path: Path, agents: int, read_only: bool) -> dict[str, Any]:
    """Return the times of one process over all agents, its memory and its open files."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    questions = [
        (batch.texts[place], np.array(batch.vectors[place]))
        for batch in made_up.batches(agents * MEMORIES)
        for place in range(7, len(batch), MEMORIES)
    ]
    cold, warm = [], []
    with recollex.open(path, embedder=embedder(), read_only=read_only) as store:
        before = _resident()
        for counted in (False, True):
            for number in range(1) if not counted else range(1, agents):
                text, vector = questions[number]
                started = time.perf_counter_ns()
                agent = store.agent(f"agent-{number}")
                recall = agent.recall(text, query_embedding=vector)
                _ = recall.ids
                if counted:
                    cold.append((time.perf_counter_ns() - started) / 1e6)
                assert recall[0].text == text, number
        for number in range(1, agents):
            text, vector = questions[number]
            started = time.perf_counter_ns()
            _ = store.agent(f"agent-{number}").recall(text, query_embedding=vector).ids
            warm.append((time.perf_counter_ns() - started) / 1e6)
        return {
            "cold": percentiles(cold),
            "warm": percentiles(warm),
            "resident MB": _resident(),
            "KB each": (_resident() - before) * 1024 / agents,
            "open files": len(list(Path("/proc/self/fd").iterdir())),
            "maps": len(Path("/proc/self/maps").read_text().splitlines()),
            "threads": len(list(Path("/proc/self/task").iterdir())),
        }


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def page(
    arguments: argparse.Namespace, found: dict[str, Any], size: int, blocks: int, seconds: float
) -> Page:
    agents = arguments.agents
    times = [
        {"agents": agents, "recall": "open and recall, cold, ms", **found["cold"]},
        {"agents": agents, "recall": "recall, warm, all open, ms", **found["warm"]},
    ]
    held = {
        "agents": agents,
        "memories each": MEMORIES,
        "bytes on disk, MB": size / 1e6,
        "in blocks, MB": blocks / 1e6,
        "bytes a memory": size / agents / MEMORIES,
        **{name: found[name] for name in ("resident MB", "KB each", "open files", "maps")},
        "threads": found["threads"],
    }
    if seconds:
        held["made in s"] = seconds
    return Page(
        "many_agents",
        claim(__doc__),
        f"python -m bench.many_agents --agents {agents}",
        [
            Section("Times", times, Plot("bars", "recall", "p50", unit="p50 ms")),
            Section("All open at once", [held]),
        ],
        [
            Bound("open and recall, cold, p50 ms", found["cold"]["p50"], 5),
            Bound("recall, warm, p50 ms", found["warm"]["p50"], 0.5),
            Bound(
                "MB on disk, of 10,000 agents",
                size / 1e6 * 10_000 / agents,
                300,
                note=f"the vectors alone, as f16, are {VECTORS * 10_000 / 1e6:.0f}",
            ),
        ],
        [],
        (),
        {"opened": "read-only" if arguments.read_only else "for writing"},
    )


if __name__ == "__main__":
    main()
