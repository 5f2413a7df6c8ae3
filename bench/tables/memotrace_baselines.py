"""MemoTrace's baselines and further tasks: equal budgets, needles, counting, no literal match.

Claim: facts under the cut answer every question about a past day, and every count, right. With 600
tokens to read, the newest turns answer one in fourteen, and the ways that search 0.83 to 0.86,
within each other's intervals. The semantic arm alone finds the evidence of such questions best
(hit@5 0.88, the default 0.76); the default finds all needles most often (0.91). GraphRAG and
Self-RAG need a language model and are not run.

Command: python -m bench.tables.memotrace_baselines [--histories 5] [--first-seed 101] [--json FILE]

Check: exits with 1 if facts under the cut have one wrong answer, or one wrong count.

The histories are those of `bench.tables.memotrace`, with every turn written. A baseline chooses
turns as of the cut until its budget is full. No model answers: a reader by rule takes what the
newest of these turns says of the person (for a count: all that they say). So the figures tell
which turns were chosen, the same reader for all. The rows:

  long context    the newest turns, without a search
  vector RAG      the semantic arm
  sentence graph  SGMem's idea: the semantic arm, then activation over shared names and likeness
  timeline        DyG-RAG's idea: the semantic and the temporal arm
  memotrace, default   the presets
  facts           `facts.find` under the cut, one line of text an answer

  Acc         the share of answers that are right, about the day of the cut
  hit@5, NDCG@10   of the turns that the answer rests on
  needles     "where has she lived over the years?": all of its turns are among those read
  count       "in how many places has she lived?": the number is right, corrections and rumours out
  no literal  NDCG@10 on the set `everyday`: no question shares a word with its answer
  Brier, ECE  of `Recall.confidence`: half of the questions are about people never told of
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

import recollex
from bench.datasets import everyday
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import run
from bench.tables.lib.listener import CUT, Listener
from bench.tables.lib.metrics import bootstrap, ndcg_at
from bench.tables.lib.report import Cell, Section, Table, keep
from bench.tables.lib.scripted_histories import (
    ASKED_ALL,
    ASKED_OF,
    OBJECTS,
    Beliefs,
    best,
    history,
    written,
)
from bench.tables.lib.trials import claim_of
from recollex import presets

QUESTIONS = 60
"""Questions about a day in one history."""
BUDGETS = (75, 150, 300, 600, 1200)
"""Tokens that may be read; MemoTrace's is about 600."""
EQUAL = 600
STRANGERS = ("Olga", "Pavel", "Quentin", "Rosa", "Sven", "Tilda", "Ugo", "Vera")
BINS = 10

WAYS: dict[str, presets.Preset | None] = {
    "long context": None,
    "vector RAG": replace(presets.satf, self_anchoring=None),
    "sentence graph": replace(presets.tempr, arms=("semantic", "graph"), reranker=None),
    "timeline": replace(presets.tempr, arms=("semantic", "temporal"), reranker=None),
    "memotrace": presets.memotrace,
    "default": presets.default,
}
"""Name -> how turns are chosen; None for the newest."""
NOT_RUN = {
    "GraphRAG": "not run: its communities are summarised by a language model",
    "Self-RAG critique": "not run: it needs a trained critic",
}

Read = list[tuple[str, str, int]]
"""Id, text and tokens of each turn that a way chose, best first."""


@dataclass
class Score:
    """What one way reached; lists of one number a question."""

    right: dict[int, list[float]] = field(default_factory=lambda: {b: [] for b in BUDGETS})
    tokens: dict[int, list[float]] = field(default_factory=lambda: {b: [] for b in BUDGETS})
    hit: list[float] = field(default_factory=list)
    ndcg: list[float] = field(default_factory=list)
    needles: list[float] = field(default_factory=list)
    counts: list[float] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--histories", type=int, default=5, help="how many (5)")
    parser.add_argument("--first-seed", type=int, default=101, help="of the first history (101)")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="keep the table here; .md and .svg go beside it"
    )
    given = parser.parse_args()
    embedder = KeptVectors()
    scores = {name: Score() for name in (*WAYS, "facts")}
    sure: list[tuple[float, bool]] = []
    for seed in range(given.first_seed, given.first_seed + given.histories):
        with tempfile.TemporaryDirectory() as folder:
            hear(Path(folder), embedder, seed, scores, sure)
    settings = {"first seed": given.first_seed, "histories": given.histories}
    keep(table(scores, sure, no_literal(embedder), settings), given.json)
    exact = scores["facts"]
    return int(not all(min(each) == 1 for each in (exact.right[EQUAL], exact.counts)))


def hear(
    folder: Path,
    embedder: KeptVectors,
    seed: int,
    scores: dict[str, Score],
    sure: list[tuple[float, bool]],
) -> None:
    """Tell one history, and ask every way about it."""
    told, beliefs, rng = history(seed), Beliefs(), random.Random(seed)
    end = told[-1][0].at + 2 * CUT
    with recollex.open(folder, embedder=embedder, durability="off", clock=lambda: end) as store:
        agent = store.agent("listener")
        listener = Listener(agent, None)
        for lines in told:
            for line in lines:
                beliefs.tell(line)
            listener.session(lines, rng, [])
        cuts = [lines[0].at + CUT for lines in told]
        about_a_day(listener, beliefs, cuts, random.Random(seed), scores, sure)
        over_the_years(listener, beliefs, cuts[-1], scores)


def chosen(agent: recollex.Agent, way: str, query: str, budget: int, at: datetime) -> Read:
    """Return the turns that a way chooses as of ``at``, within ``budget`` tokens."""
    preset = WAYS[way]
    if preset is not None:
        found = agent.recall(query, preset=preset, max_tokens=budget, as_recorded=at, now=at)
        line = (found.tokens - sum(m.tokens for m in found)) // max(1, len(found))
        return [(m.id, m.text, m.tokens + line) for m in found]
    read: Read = []
    line = agent.engine.counting.costs(agent.engine.counter().name).date
    for memory in agent.list(limit=200, newest=True, recorded_until=at):
        tokens = memory.tokens + line
        if sum(each for *_, each in read) + tokens > budget:
            break
        read.append((memory.id, memory.text, tokens))
    return read


def about_a_day(
    listener: Listener,
    beliefs: Beliefs,
    cuts: Sequence[datetime],
    rng: random.Random,
    scores: dict[str, Score],
    sure: list[tuple[float, bool]],
) -> None:
    """Ask for the state on the day of a cut, as recorded by then."""
    keys = sorted({(each.subject, each.predicate) for each in beliefs.versions})
    for _ in range(QUESTIONS):
        (subject, predicate), at = rng.choice(keys), rng.choice(cuts[2:])
        held = [
            each
            for each in beliefs.at(at, at)
            if (each.subject, each.predicate) == (subject, predicate)
        ]
        if not held:
            continue
        right = best([(each.rumour, each.recorded, each.object) for each in held])
        rests_on = {turn for each in held for turn in each.evidence}
        query = ASKED_OF[predicate].format(s=subject, d=written(at))
        for way in WAYS:
            for budget in BUDGETS:
                read = chosen(listener.agent, way, query, budget, at)
                said = told_of(listener, read, subject, predicate)
                answer = max(said, default=(None, None))[1]
                scores[way].right[budget].append(float(answer == right))
                scores[way].tokens[budget].append(float(sum(n for *_, n in read)))
            ids = [id for id, *_ in chosen(listener.agent, way, query, EQUAL, at)]
            scores[way].hit.append(float(bool(rests_on & set(ids[:5]))))
            scores[way].ndcg.append(ndcg_at(10, ids, rests_on))
        answer, _ = listener.answer((subject, predicate), {"as_recorded": at, "as_world": at})
        line = f"{subject} {predicate} {answer}"
        for budget in BUDGETS:
            scores["facts"].right[budget].append(float(answer == right))
            tokens = listener.agent.engine.counter().count(line)
            scores["facts"].tokens[budget].append(float(tokens))
        for name, known in ((subject, True), (rng.choice(STRANGERS), False)):
            asked = ASKED_OF[predicate].format(s=name, d=written(at))
            confidence = listener.agent.recall(asked, as_recorded=at, now=at).confidence
            assert confidence is not None
            sure.append((confidence, known))


def told_of(
    listener: Listener, read: Read, subject: str, predicate: str
) -> list[tuple[datetime, str]]:
    """Return when each chosen turn was said, and which object it tells of the subject, by rule.

    Where a turn names several ("it is not Oslo but Rome"), the last one counts.
    """
    said = []
    for id, text, _ in read:
        places = {text.rfind(name): name for name in OBJECTS[predicate] if name in text}
        if subject in text and places:
            said.append((listener.lines[id].at, places[max(places)]))
    return said


def over_the_years(
    listener: Listener, beliefs: Beliefs, at: datetime, scores: dict[str, Score]
) -> None:
    """Ask for all that ever held, and how many different ones that were."""
    sure = [each for each in beliefs.versions if not each.rumour]
    for subject, predicate in sorted({(each.subject, each.predicate) for each in sure}):
        of_key = [each for each in sure if (each.subject, each.predicate) == (subject, predicate)]
        needles = {turn for each in of_key for turn in each.evidence}
        count = len({each.object for each in of_key if each.closed is None})
        if len(needles) < 2:
            continue
        query = ASKED_ALL[predicate].format(s=subject)
        for way in WAYS:
            read = chosen(listener.agent, way, query, EQUAL, at)
            scores[way].needles.append(float(needles <= {id for id, *_ in read}))
            said = {name for _, name in told_of(listener, read, subject, predicate)}
            scores[way].counts.append(float(len(said) == count))
        facts = listener.agent.facts.find(subject=subject, predicate=predicate)
        known = {fact.object for fact in facts if fact.confidence == 1.0}
        cited = {turn for fact in facts for id in fact.evidence for turn in listener.sources[id]}
        scores["facts"].counts.append(float(len(known) == count))
        scores["facts"].needles.append(float(needles <= cited))


def no_literal(embedder: KeptVectors) -> dict[str, list[float]]:
    """Return NDCG@10 of each way on questions that share no word with their answer."""
    found: dict[str, list[float]] = {}
    for way, preset in WAYS.items():
        if preset is not None:
            found[way] = [
                ndcg_at(10, answer.ids, answer.query.evidence)
                for bank in everyday.load()
                for answer in run(bank, {"preset": preset}, embedder)
            ]
    return found


def calibration(sure: Sequence[tuple[float, bool]]) -> list[dict[str, Cell]]:
    """Return the Brier score and the expected calibration error, beside those of one number."""
    confidence, known = (np.array(each, np.float64) for each in zip(*sure, strict=True))
    bins = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    gaps = [
        np.sum(bins == b) * abs(np.mean(confidence[bins == b]) - np.mean(known[bins == b]))
        for b in np.unique(bins)
    ]
    constant = float(np.mean((np.mean(known) - known) ** 2))
    return [
        {
            "of": "default's confidence",
            "questions": len(sure),
            "Brier": float(np.mean((confidence - known) ** 2)),
            "ECE": float(sum(gaps) / len(sure)),
        },
        {
            "of": "the share of answerable ones",
            "questions": len(sure),
            "Brier": constant,
            "ECE": 0.0,
        },
    ]


def mean(each: Sequence[float]) -> Cell:
    """Return a mean with its interval; "not searched" for a way that was not asked."""
    return bootstrap(each) if each else "not searched"


def table(
    scores: dict[str, Score],
    sure: Sequence[tuple[float, bool]],
    everyday_: dict[str, list[float]],
    settings: dict[str, Any],
) -> Table:
    """Return the answers at an equal budget, the Pareto of budget and accuracy, and calibration."""
    answers: list[dict[str, Cell]] = [
        {
            "system": name,
            "Acc": mean(score.right[EQUAL]),
            "hit@5": mean(score.hit),
            "NDCG@10": mean(score.ndcg),
            "needles": mean(score.needles),
            "count": mean(score.counts),
            "no literal": mean(everyday_.get(name, [])),
            "model calls": 0,
        }
        for name, score in scores.items()
    ]
    answers += [{"system": name, "Acc": why} for name, why in NOT_RUN.items()]
    pareto: list[dict[str, Cell]] = [
        {
            "system": name,
            "budget": budget,
            "tokens read": float(np.mean(score.tokens[budget])),
            "Acc": mean(score.right[budget]),
        }
        for name, score in scores.items()
        for budget in BUDGETS
    ]
    return Table(
        "memotrace_baselines",
        claim_of(__doc__),
        [
            Section(f"Answers for {EQUAL} tokens read", answers),
            Section("Budget and accuracy", pareto, plot="Acc", across="tokens read"),
            Section("Calibration", calibration(sure)),
        ],
        ["Times need a quiet machine: `bench.tables.memotrace` has them."],
        settings | {"questions about a day": QUESTIONS},
    )


if __name__ == "__main__":
    sys.exit(main())
