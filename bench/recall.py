"""How long does a recall take when the question's vector is there already?

Claim: with the default preset at most 0.5 ms (p50) at 10,000 memories of chat, whether a checkpoint
holds them or 8,000 of them are in the tail.

Command: python -m bench.recall [--rows 1000 10000] [--data FOLDER] [--json] [--out FILE]

Check: before the clock starts, every question is answered after the checkpoint as before it, scores
to the bit, by exact recalls and by others, whose first ten are at least 99 % of the exact ones; no
arm fails in any recall.

Memories are the first messages of ``FOLDER/irc/messages.jsonl.gz`` (a message a line: at, speaker,
text; RECOLLEX_DATA names the folder too), a day being a document, with MiniLM's vectors, kept
between runs. Without the file: sentences of words drawn from a Zipf distribution, said by 40
people, a word's vector being random and a text's the mean of its words'. Questions are what the
messages behind them say, every fifth of them about last week. One thread asks.
"""

import argparse
import gzip
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recollex
from bench.rundata import environment, percentiles, write_run
from bench.tables.vectors import KeptVectors

TAIL = 8_000
QUESTIONS = 100
REPEATS = 5
PRESETS = ("default", "tempr")
LEAST_WORDS = 4
LEAST_SHARED = 0.99
SEED = 11
BATCH = 2_000

Answers = list[list[tuple[str, float]]]
"""Of each question the ids and scores, best first."""


@dataclass(frozen=True)
class Message:
    """One line of a chat."""

    at: datetime
    speaker: str
    text: str


class WordVectors:
    """An embedder whose texts are the mean of their words' random vectors."""

    dimension = 384
    fingerprint = "bench-words-384"
    thresholds = recollex.GivenVectors(384).thresholds

    def __init__(self) -> None:
        self._words: dict[str, NDArray[np.float32]] = {}

    def _word(self, word: str) -> NDArray[np.float32]:
        if word not in self._words:
            rng = np.random.default_rng(list(word.encode()))
            self._words[word] = rng.standard_normal(self.dimension).astype(np.float32)
        return self._words[word]

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return float32[dimension] of length 1."""
        vector = np.sum([self._word(word) for word in text.split()], axis=0, dtype=np.float32)
        unit: NDArray[np.float32] = vector / np.linalg.norm(vector)
        return unit

    def embed(
        self,
        texts: Sequence[str],
        threads: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> NDArray[np.float32]:
        """Return float32[len(texts), dimension]."""
        if progress is not None:
            progress(len(texts))
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def count_tokens(self, text: str) -> int:
        """Return the number of words."""
        return len(text.split())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", type=int, default=[1_000, 10_000])
    parser.add_argument("--data", type=Path, default=os.environ.get("RECOLLEX_DATA"))
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--out", type=Path, help="write the JSON to this file as well")
    arguments = parser.parse_args()
    path = Path(arguments.data or ".") / "irc" / "messages.jsonl.gz"
    real = path.exists()
    embedder = KeptVectors() if real else WordVectors()
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for rows in arguments.rows:
            lines = list(islice(chat(path) if real else made_up(), rows + QUESTIONS * 20))
            runs += measure(Path(folder) / str(rows), lines, rows, embedder)
    write_run(
        {
            "bench": "recall",
            "data": "irc" if real else "made up",
            "environment": environment(),
            "runs": runs,
        },
        arguments.json,
        arguments.out,
        show,
    )


def chat(path: Path) -> Iterator[Message]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            message = json.loads(line)
            if message["text"].strip():
                at = datetime.fromisoformat(message["at"])
                yield Message(at, message["speaker"], message["text"])


def made_up() -> Iterator[Message]:
    rng = np.random.default_rng(SEED)
    words = np.array([f"w{number:x}" for number in range(20_000)])
    weights = 1 / np.arange(1, len(words) + 1)
    weights /= weights.sum()
    at = datetime(2024, 1, 1, tzinfo=UTC)
    while True:
        at += timedelta(seconds=int(rng.integers(5, 300)))
        text = " ".join(rng.choice(words, int(rng.integers(3, 25)), p=weights))
        yield Message(at, f"Person{int(rng.integers(0, 40))}", text)


def measure(folder: Path, lines: list[Message], rows: int, embedder: Any) -> list[dict[str, Any]]:
    runs = []
    with recollex.open(folder, embedder=embedder, durability="off") as store:
        agent = store.agent("bench")
        retain(agent, lines[: max(0, rows - TAIL)])
        agent.checkpoint()
        retain(agent, lines[max(0, rows - TAIL) : rows])
        questions = ask(lines[rows:], lines[rows - 1].at, embedder)
        expected = {
            (preset, exact): answers(agent, questions, preset, exact=exact)
            for preset in PRESETS
            for exact in (True, False)
        }
        for state in ("full tail", "checkpoint"):
            if state == "checkpoint":
                agent.checkpoint()
            for preset in PRESETS:
                for exact in (True, False):
                    found = answers(agent, questions, preset, exact=exact)
                    assert found == expected[preset, exact]
                share = shared(found, expected[preset, True])
                assert share >= LEAST_SHARED, (preset, share)
                runs.append(
                    {
                        "rows": rows,
                        "state": state,
                        "preset": preset,
                        "recall@10 of exact": share,
                        **clock(agent, questions, preset),
                    }
                )
    return runs


def retain(agent: recollex.Agent, lines: list[Message]) -> None:
    for day, messages in groupby(lines, key=lambda message: message.at.date()):
        turns = [{"speaker": m.speaker, "text": m.text, "at": m.at} for m in messages]
        for first in range(0, len(turns), BATCH):
            agent.retain_dialogue(turns[first : first + BATCH], document_id=day.isoformat())


def ask(lines: list[Message], now: datetime, embedder: Any) -> list[dict[str, Any]]:
    """Return the arguments of recalls, vectors given."""
    long = [line for line in lines if len(line.text.split()) >= LEAST_WORDS][:QUESTIONS]
    questions = []
    for number, line in enumerate(long):
        text = f"{line.text} last week?" if number % 5 == 4 else line.text
        vector = embedder.embed_query(text)
        questions.append({"query": text, "query_embedding": vector, "now": now})
    return questions


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
    """Return how many of the first ten of exact recalls are among the first ten found."""
    pairs = zip(found, exact, strict=True)
    both = [({id for id, _ in one[:10]}, {id for id, _ in two[:10]}) for one, two in pairs]
    return sum(len(one & two) for one, two in both) / sum(len(two) for _, two in both)


def clock(agent: recollex.Agent, questions: list[dict[str, Any]], preset: str) -> dict[str, Any]:
    taken = []
    stages: dict[str, list[float]] = {}
    for _ in range(REPEATS):
        for question in questions:
            before = time.perf_counter_ns()
            recall = agent.recall(**question, preset=preset)
            taken.append((time.perf_counter_ns() - before) / 1e6)
            for name, spent in recall.trace.stages.items():
                stages.setdefault(name, []).append(spent)
    medians = {name: float(np.median(spent)) for name, spent in stages.items()}
    return {"recall_ms": percentiles(taken), "stage_us": medians}


def show(result: dict[str, Any]) -> str:
    lines = [
        f"{result['data']}, load {result['environment']['load']:.1f}",
        f"{'rows':>8} {'state':<11} {'preset':<8} {'ms p50':>7} {'p95':>6} {'p99':>6}  stages, us",
    ]
    for run in result["runs"]:
        spent = run["recall_ms"]
        stages = ", ".join(f"{name} {time:.0f}" for name, time in run["stage_us"].items())
        lines.append(
            f"{run['rows']:>8,} {run['state']:<11} {run['preset']:<8} {spent['p50']:>7.3f} "
            f"{spent['p95']:>6.3f} {spent['p99']:>6.3f}  {stages}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
