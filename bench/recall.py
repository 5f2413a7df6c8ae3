"""How long does a recall take when the question's vector is there already?

Claim: four arms to the token budget without a model, p50 / p99: 0.3 / 1 ms at 10,000 memories of
chat and 0.6 / 2 ms at 100,000, whether a checkpoint holds them or 8,000 of them are in the tail.

Command: python -m bench.recall [--rows 1000 10000] [--data FOLDER] [--json] [--out FILE]

Check: before the clock starts, every question has the same answer after the checkpoint as before
it, scores to the bit, in exact recalls and in others. At least 99 % of the first ten of the others
are those of the exact recalls. No arm fails in any recall.

Memories are messages (see `bench.lib.chat`): of the IRC log with MiniLM's vectors, which are kept
between runs, or made up if there is no log. One thread asks.
"""

import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

import recollex
from bench.lib import chat
from bench.lib.drawing import Plot
from bench.lib.kept_vectors import KeptVectors
from bench.lib.latency import Bound, Page, Section, claim, finish, parse
from bench.lib.rundata import percentiles
from bench.lib.stages import timed

TAIL = 8_000
QUESTIONS = 100
REPEATS = 5
PRESETS = ("default", "tempr")
STATES = ("full tail", "checkpoint")
LEAST_SHARED = 0.99
LIMITS = {10_000: (0.3, 1.0), 100_000: (0.6, 2.0)}
"""Number of memories -> milliseconds at p50 and at p99."""

Answers = list[list[tuple[str, float]]]
"""The ids and scores of each question's answer, best first."""


def main() -> None:
    arguments = parse(__doc__, (1_000, 10_000)).parse_args()
    real = chat.path_in(arguments.data).exists()
    embedder = KeptVectors() if real else chat.WordVectors()
    recalls: list[dict[str, Any]] = []
    stages: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for rows in arguments.rows:
            said = chat.messages(arguments.data) if real else chat.made_up()
            lines = list(islice(said, rows + QUESTIONS * 20))
            for found, spent in measure(Path(folder) / str(rows), lines, rows, embedder):
                recalls.append(found)
                stages += spent
    finish(page(recalls, stages, "the IRC log" if real else "made up"), arguments)


def measure(
    folder: Path, lines: list[chat.Message], rows: int, embedder: Any
) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Return one row for each state and preset, and one row for each stage."""
    measured = []
    with recollex.open(folder, embedder=embedder, durability="off") as store:
        agent = store.agent("bench")
        chat.retain(agent, lines[: max(0, rows - TAIL)])
        agent.checkpoint()
        chat.retain(agent, lines[max(0, rows - TAIL) : rows])
        questions = chat.questions(lines[rows:], lines[rows - 1].at, QUESTIONS, embedder)
        expected = {
            (preset, exact): answers(agent, questions, preset, exact=exact)
            for preset in PRESETS
            for exact in (True, False)
        }
        for state in STATES:
            if state == "checkpoint":
                agent.checkpoint()
            for preset in PRESETS:
                for exact in (True, False):
                    found = answers(agent, questions, preset, exact=exact)
                    assert found == expected[preset, exact]
                share = shared(found, expected[preset, True])
                assert share >= LEAST_SHARED, (preset, share)
                spent, _ = timed(agent, questions * REPEATS, preset=preset)
                asked = {"memories": rows, "state": state, "preset": preset}
                row = asked | {"recall": f"{rows:,}, {state}, {preset}"}
                row |= {f"{p} ms": us / 1000 for p, us in percentiles(spent.whole).items()}
                stages = spent.rows({stage: stage for stage in spent.stages})
                measured.append((row | {"recall@10": share}, [asked | row for row in stages]))
    return measured


def answers(
    agent: recollex.Agent, questions: list[dict[str, Any]], preset: str, *, exact: bool
) -> Answers:
    found = []
    for question in questions:
        recall = agent.recall(**question, preset=preset, exact=exact)
        assert not recall.trace.errors, recall.trace.errors
        found.append([(memory.id, memory.score) for memory in recall])
    return found


def shared(found: Answers, exact: Answers) -> float:
    """Return the share of the exact recalls' first ten that is among the first ten found."""
    pairs = zip(found, exact, strict=True)
    both = [({id for id, _ in one[:10]}, {id for id, _ in two[:10]}) for one, two in pairs]
    return sum(len(one & two) for one, two in both) / sum(len(two) for _, two in both)


def page(recalls: list[dict[str, Any]], stages: list[dict[str, Any]], texts: str) -> Page:
    bounds = []
    for row in recalls:
        if row["preset"] == "default" and row["memories"] in LIMITS:
            for p, limit in zip(("p50", "p99"), LIMITS[row["memories"]], strict=True):
                what = f"recall, {row['memories']:,}, {row['state']}, {p} ms"
                bounds.append(Bound(what, row[f"{p} ms"], limit))
    return Page(
        "recall",
        claim(__doc__),
        "python -m bench.recall --rows 1000 10000 100000",
        [
            Section(
                "Whole recalls, from the call to the answer",
                recalls,
                Plot("bars", "recall", "p50 ms"),
            ),
            Section("Stages, us", stages),
        ],
        bounds,
        [],
        (),
        {"memories": texts, "questions": QUESTIONS, "repeats": REPEATS, "tail": TAIL},
    )


if __name__ == "__main__":
    main()
