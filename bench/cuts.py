"""What does it cost to ask about the past? Recalls as of a recorded time beside recalls of now.

Claim: at 100,000 memories the p50 of a recall under a cut is at most 4 times that of an uncut one;
at 1,000,000 it is at most 40 ms, of vectors of 384 dimensions, each compared exactly.

Command: python -m bench.cuts [--rows N ...] [--keep FOLDER] [--json] [--out FILE]

Check: before the clock starts, a cut at the last recorded time gives the memories, scores and
tokens of an exact recall. Query vectors are given. `fresh cut` uses another moment each time, so
every recall builds its view again. `same cut` uses one moment repeatedly. Memories share names and
times. No semantic links are made: at 1,000,000 memories they would take an hour. ``--keep`` makes
the stores in a folder, where the next run finds them.
"""

import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

import recollex
from bench.lib.drawing import Plot
from bench.lib.latency import Bound, Page, Section, claim, finish, parse
from bench.lib.rundata import percentiles
from bench.store import DIMENSION, SEED, batches

BATCH_TIME = timedelta(minutes=1)
START = datetime(2024, 1, 1, tzinfo=UTC)
NAMES = 20_000
REPEATS = 60
"""Timed recalls of each kind."""


def main() -> None:
    parser = parse(__doc__, (10_000, 100_000, 1_000_000))
    parser.add_argument("--keep", type=Path, help="folder for the stores, used again if complete")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder) / "warm", 3_000)  # compile the kernels
        runs = [
            measure((arguments.keep or Path(folder)) / str(rows), rows) for rows in arguments.rows
        ]
    finish(page(runs), arguments)


def measure(folder: Path, rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(SEED)
    embedder = recollex.GivenVectors(DIMENSION, links=False)
    with recollex.open(folder, embedder=embedder, durability="off") as store:
        agent = store.agent("bench")
        held = agent.stats().memories
        moments, asked = [], []
        for number, (texts, vectors) in enumerate(batches(rows)):
            names = (rng.zipf(1.3, size=(len(texts), 2)) % NAMES).tolist()
            said = [f"N{a:x} {text} N{b:x}" for (a, b), text in zip(names, texts, strict=True)]
            at = START + number * BATCH_TIME
            if held == 0:
                agent.retain_many(said, embedding=vectors, event_at=at, recorded_at=at)
            moments.append(at)
            near = vectors[0] + rng.normal(size=DIMENSION) * 0.01
            asked.append((" ".join(said[0].split()[:6]), near))
        agent.checkpoint()
        assert agent.stats().memories == rows, "a kept store that is not complete: delete it"
        questions = [asked[n] for n in rng.integers(0, len(asked), REPEATS)]
        for text, vector in questions[:20]:
            options: dict[str, Any] = {"query_embedding": vector, "now": moments[-1]}
            exact = agent.recall(text, exact=True, **options)
            cut = agent.recall(text, as_recorded=moments[-1], **options)
            assert list(cut) == list(exact) and cut.tokens == exact.tokens
        late = moments[len(moments) // 2 :]
        fresh = [late[n] for n in rng.integers(0, len(late), REPEATS)]
        middle = late[0]
        return {
            "rows": rows,
            "uncut": clock(questions, lambda _: {}, agent),
            "exact": clock(questions, lambda _: {"exact": True}, agent),
            "cut at the end": clock(questions, lambda _: {"as_recorded": moments[-1]}, agent),
            "same cut": clock(questions, lambda _: {"as_recorded": middle}, agent),
            "fresh cut": clock(questions, lambda place: {"as_recorded": fresh[place]}, agent),
        }


def clock(
    questions: list[tuple[str, np.ndarray]],
    options: Callable[[int], dict[str, Any]],
    agent: recollex.Agent,
) -> dict[str, float]:
    """Return percentiles of a recall in milliseconds; the first round is not counted."""
    taken = []
    for counted in (False, True):
        for place, (text, vector) in enumerate(questions):
            given = options(place)
            before = time.perf_counter()
            recall = agent.recall(text, query_embedding=vector, **given)
            spent = time.perf_counter() - before
            assert not recall.trace.errors
            if counted:
                taken.append(1000 * spent)
    return percentiles(taken)


def page(runs: list[dict[str, Any]]) -> Page:
    rows, bounds = [], []
    for run in runs:
        memories = run.pop("rows")
        now = run["uncut"]["p50"]
        rows += [
            {"memories": memories, "recall": name, **times, "of uncut": times["p50"] / now}
            for name, times in run.items()
        ]
        cuts = [times["p50"] for name, times in run.items() if "cut" in name.split()]
        if memories == 100_000:
            bounds.append(Bound("cut / uncut, 100,000, p50", max(cuts) / now, 4))
        if memories == 1_000_000:
            bounds.append(Bound("a cut of 1,000,000, p50 ms", max(cuts), 40))
    curves = Plot("curves", "memories", "p50", "recall", unit="p50 ms")
    return Page(
        "cuts",
        claim(__doc__),
        "python -m bench.cuts",
        [Section("Recalls, ms", rows, curves)],
        bounds,
        [],
        (),
        {"recalls of each kind": REPEATS, "dimension": DIMENSION},
    )


if __name__ == "__main__":
    main()
