"""How soon does recollex answer? Imports, the command line, the first recall of a process.

Claim: `import recollex` takes at most 60 ms, `recollex --help` 150 ms, `recollex recall` on a warm
machine 1 s.

Command: python -m bench.cold_start [--json] [--out FILE]

Check: every process exits with 0, and the recall prints the expected memory.

Each figure is measured in new processes, one after the other. The file cache and the compiled
kernels are warm: `recollex warmup` runs first. The time of Python alone is shown beside. `first
recall` is timed inside a process that brings its own vectors: it imports, opens, and recalls twice.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import recollex
from bench.lib import made_up
from bench.lib.drawing import Plot
from bench.lib.latency import Bound, Page, Section, claim, finish, parse
from bench.lib.rundata import percentiles

REPEATS = 12
MEMORIES = 2_000
WORDS = "Ann plays the cello."
FIRST = """
import json, sys, time
from pathlib import Path
began = time.perf_counter()
import numpy as np
numpy = time.perf_counter()
import recollex
imported = time.perf_counter()
store = recollex.open(sys.argv[1], embedder=recollex.GivenVectors(384, links=False))
agent = store.agent("bench")
opened = time.perf_counter()
vector = np.load(sys.argv[2])
taken = []
for _ in range(3):
    before = time.perf_counter()
    assert agent.recall(sys.argv[3], query_embedding=vector, preset=sys.argv[4]).ids
    taken.append(time.perf_counter() - before)
print(json.dumps({
    "import numpy": numpy - began, "import recollex": imported - numpy,
    "open store and agent": opened - imported, "first recall": taken[0],
    "second recall": taken[1], "third recall": taken[2],
    "from import to first answer": opened - began + taken[0],
}))
"""
SCRIPT = "import sys; from recollex.cli import main; sys.exit(main())"
"""The code that the command `recollex` runs."""
IMPORT = "import time; b = time.perf_counter(); import {0}; print(time.perf_counter() - b)"


def main() -> None:
    parser = parse(__doc__)
    arguments = parser.parse_args()
    command = [sys.executable, "-c", SCRIPT]
    run([*command, "warmup"])
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "words")
        run([*command, "retain", store, WORDS, "Bob moved to Oslo."])
        recall = [*command, "recall", store, "Who makes music?"]
        found = run(recall)
        assert WORDS in found, found
        processes = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "import numpy (a floor)": [sys.executable, "-c", "import numpy"],
            "import numba (a floor)": [sys.executable, "-c", "import numba"],
            "import recollex": [sys.executable, "-c", "import recollex"],
            "recollex --help": [*command, "--help"],
            "recollex recall": recall,
        }
        rows = [{"process": name, **spent(argv)} for name, argv in processes.items()]
        inside = {name: imported(name) for name in ("numpy", "numba", "recollex")}
        firsts = {preset: first(Path(folder), preset) for preset in ("default", "tempr")}
    finish(page(rows, inside, firsts), arguments)


def run(argv: list[str]) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, env=os.environ, check=False)
    assert done.returncode == 0, (argv, done.stderr[-2000:])
    return done.stdout


def spent(argv: list[str]) -> dict[str, float]:
    """Return percentiles of a process's whole run time in milliseconds."""
    taken = []
    for _ in range(REPEATS + 1):
        before = time.perf_counter()
        run(argv)
        taken.append(1000 * (time.perf_counter() - before))
    return percentiles(taken[1:])


def imported(module: str) -> dict[str, float]:
    """Return percentiles of the import alone, timed inside its process, in milliseconds."""
    argv = [sys.executable, "-c", IMPORT.format(module)]
    return percentiles([1000 * float(run(argv)) for _ in range(REPEATS)])


def first(folder: Path, preset: str) -> dict[str, dict[str, float]]:
    """Return percentiles of the steps to a process's first answer, in milliseconds."""
    import numpy as np

    path, vector = folder / "first", folder / "vector.npy"
    if not path.exists():
        embedder = recollex.GivenVectors(made_up.DIMENSION, links=False)
        with recollex.open(path, embedder=embedder) as store:
            for batch in made_up.batches(MEMORIES):
                store.agent("bench").retain_many(**batch.fields())
        np.save(vector, made_up.vectors(0, 1)[0])
    (question,) = made_up.questions(MEMORIES, 1)
    taken: dict[str, list[float]] = {}
    argv = [sys.executable, "-c", FIRST, str(path), str(vector), question.text, preset]
    for _ in range(REPEATS):
        for name, seconds in json.loads(run(argv)).items():
            taken.setdefault(name, []).append(1000 * seconds)
    return {name: percentiles(each) for name, each in taken.items()}


def page(
    rows: list[dict[str, Any]],
    inside: dict[str, dict[str, float]],
    firsts: dict[str, dict[str, dict[str, float]]],
) -> Page:
    whole = {row["process"]: row["p50"] for row in rows}
    steps = [
        {"preset": preset, "step": name, **times}
        for preset, found in firsts.items()
        for name, times in found.items()
    ]
    return Page(
        "cold_start",
        claim(__doc__),
        "python -m bench.cold_start",
        [
            Section("Processes from start to end, ms", rows, Plot("bars", "process", "p50")),
            Section(
                "Imports alone, ms", [{"module": name, **times} for name, times in inside.items()]
            ),
            Section(f"The first recall of a process, {MEMORIES:,} memories, ms", steps),
        ],
        [
            Bound("import recollex, p50 ms", inside["recollex"]["p50"], 60),
            Bound("recollex --help, p50 ms", whole["recollex --help"], 150),
            Bound("recollex recall, p50 ms", whole["recollex recall"], 1000),
        ],
        [],
        ("numba",),
        {"repeats": REPEATS},
    )


if __name__ == "__main__":
    main()
