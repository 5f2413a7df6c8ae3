"""How soon is an agent back after a crash, or after everything but log and vectors is lost?

Claim: at 1,000,000 memories, opening after `kill -9` and answering takes at most 5 s; building all
columns and indexes again from log and vectors takes at most 5 minutes.

Command: python -m bench.rebuild [--rows 100000 1000000] [--json] [--out FILE]

Check: after each kill, everything acknowledged is there. The rebuilt agent answers ten exact
questions as the first one, scores included, and both verify.

The agent holds `bench.lib.made_up` memories with given vectors. A crash: a process opens the agent
for writing with durability "always", retains batches of 500 as fast as it can, and is killed once
it has acknowledged enough that a checkpoint is due or runs. Then this process, whose kernels are
loaded, opens the agent for writing and asks one question. Building again: log and vectors are
copied to a new folder; "columns" lasts from opening to the first answer, "indexes" is
`Agent.checkpoint`, which returns when posting lists and graphs are complete.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import recollex
from bench.lib import made_up
from bench.lib.drawing import Plot
from bench.lib.kept_stores import AGENT, add_arguments
from bench.lib.latency import Bound, Page, Section, claim, finish, parse
from bench.lib.rundata import percentiles

KILLS = 8
BATCH = 500
LATER = 20_000
"""Memories that are made up for the process that is killed: it begins again after the last."""
CRASH, REBUILD = 5.0, 300.0
WRITER = """
import itertools, sys
import recollex
from bench import rebuild
with recollex.open(sys.argv[1], embedder=rebuild.embedder()) as store:
    agent = store.agent(rebuild.AGENT)
    for batch in itertools.cycle(rebuild.later()):
        print(len(agent.retain_many(**batch)), flush=True)
"""


def main() -> None:
    parser = parse(__doc__, (100_000,))
    add_arguments(parser)
    arguments = parser.parse_args()
    arguments.stores.mkdir(parents=True, exist_ok=True)
    runs = []
    with tempfile.TemporaryDirectory(dir=arguments.stores) as folder:
        measure(Path(folder) / "warm", 3_000, kills=1)  # compiles the kernels
        for rows in arguments.rows:
            runs.append(measure(Path(folder) / str(rows), rows, KILLS))
            shutil.rmtree(Path(folder) / str(rows))
    finish(page(runs), arguments)


def embedder() -> recollex.GivenVectors:
    return recollex.GivenVectors(made_up.DIMENSION, links=False)


def later() -> list[dict[str, Any]]:
    """Return the arguments of the batches that the killed process retains."""
    parts = []
    for batch in made_up.batches(LATER):
        fields = batch.fields()
        for first in range(0, len(batch), BATCH):
            part = slice(first, first + BATCH)
            parts.append({name: value[part] for name, value in fields.items()})
    return parts


def measure(folder: Path, rows: int, kills: int) -> dict[str, Any]:
    """Return the times of one size."""
    started = time.perf_counter()
    with recollex.open(folder, embedder=embedder(), durability="off") as store:
        for batch in made_up.batches(rows):
            store.agent(AGENT).retain_many(**batch.fields())
    made = time.perf_counter() - started
    held, opened, tails = rows, [], []
    questions = [question.fields() for question in made_up.questions(rows, 10)]
    for turn in range(kills):
        acknowledged = crash(folder, least=(turn + 1) * LATER // kills)
        before = time.perf_counter()
        with recollex.open(folder, embedder=embedder()) as store:
            agent = store.agent(AGENT)
            _ = agent.recall(**questions[0]).ids
            opened.append(time.perf_counter() - before)
            stats = agent.stats()
            assert stats.memories >= held + acknowledged, (stats.memories, held, acknowledged)
            held, tail = stats.memories, stats.tail_passages
        tails.append(tail)
    with recollex.open(folder, embedder=embedder()) as store:
        agent = store.agent(AGENT)
        agent.checkpoint()
        expected = answers(agent, questions)
        assert agent.verify().ok
    home, copy = folder / "agents" / AGENT, folder.with_name("rebuilt")
    (copy / "agents" / AGENT).mkdir(parents=True)
    shutil.copy(folder / "store.json", copy)
    shutil.copytree(home / "log", copy / "agents" / AGENT / "log")
    shutil.copy(home / "vectors.f16", copy / "agents" / AGENT)
    started = time.perf_counter()
    with recollex.open(copy, embedder=embedder()) as store:
        agent = store.agent(AGENT)
        _ = agent.recall(**questions[0]).ids
        columns = time.perf_counter() - started
        agent.checkpoint()
        whole = time.perf_counter() - started
        assert answers(agent, questions) == expected
        assert agent.verify().ok
    shutil.rmtree(copy)
    return {
        "memories": rows,
        "made in s": made,
        "opened": opened,
        "tail at most": max(tails),
        "columns s": columns,
        "indexes s": whole - columns,
        "all s": whole,
    }


def crash(folder: Path, least: int) -> int:
    """Kill a process that writes once ``least`` memories are acknowledged; return their number."""
    command = [sys.executable, "-c", WRITER, str(folder)]
    told = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        while told < least:
            told += int(child.stdout.readline())
        child.kill()
        told += sum(int(line) for line in child.stdout if line.endswith("\n"))
    return told


def answers(agent: recollex.Agent, questions: list[dict[str, Any]]) -> list[Any]:
    """Return the ids and scores of exact recalls."""
    found = [agent.recall(**question, exact=True) for question in questions]
    return [[(memory.id, memory.score) for memory in recall] for recall in found]


def page(runs: list[dict[str, Any]]) -> Page:
    rows, bounds = [], []
    for run in runs:
        times = percentiles(run["opened"])
        rows.append(
            {
                "memories": run["memories"],
                **{f"after kill -9, {name} s": value for name, value in times.items()},
                "longest s": max(run["opened"]),
                "tail at most": run["tail at most"],
                **{name: run[name] for name in ("columns s", "indexes s", "all s", "made in s")},
            }
        )
        of = f", {run['memories']:,}"
        bounds.append(Bound(f"opened after kill -9, longest s{of}", max(run["opened"]), CRASH))
        bounds.append(Bound(f"built from log and vectors, s{of}", run["all s"], REBUILD))
    return Page(
        "rebuild",
        claim(__doc__),
        "python -m bench.rebuild",
        [Section("Back again", rows, Plot("bars", "memories", "all s"))],
        bounds,
        [],
        (),
        {"kills": KILLS, "batch": BATCH, "dimension": made_up.DIMENSION},
    )


if __name__ == "__main__":
    main()
