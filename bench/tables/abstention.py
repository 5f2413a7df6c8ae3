"""Does `Recall.confidence` tell the questions that a memory can answer from those that it cannot?

Claim: on halves that the weights were not fitted on, AUROC is at least 0.70 for LoCoMo's category 5
(the wrong person is named), for another name and for the questions of another bank. What was never
told among much that is like it is harder, and stands beside them.

Command: python -m bench.tables.abstention --data FOLDER [--json FILE] [--sets NAME ...] [--fit]

Check: the kinds of unanswerable questions are those of `bench.tables.lib.unanswerable`. Each kind
is compared with the answerable questions put to the same memory. Intervals are 95 % bootstraps;
questions with an answer and without one are drawn separately. Risk is the share of the answered
questions whose first ten memories hold no evidence. With --fit, the weights of
`recollex_engine.ranking.confidence` are fitted on the development halves and printed.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.datasets import load
from bench.datasets.bank import Bank, Query, Split
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import Answer, run
from bench.tables.lib.metrics import (
    RESAMPLES,
    SEED,
    Interval,
    area_under_risk,
    auroc,
    documents,
    risk_coverage,
)
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.trials import by_set, spread
from bench.tables.lib.unanswerable import (
    ANOTHER_NAME,
    ANSWERABLE,
    BY_THE_SET,
    part_of,
    with_unanswerable,
)
from recollex_engine.ranking.confidence import Signs

SETS = (
    *("locomo", "realmem", "lifebench", "timeqa", "musique", "2wiki", "scifact"),
    *("assistant_chats", "documents_through_chat", "household", "updates", "office", "diary_en"),
    *("passages_de", "passages_es", "everyday"),
)
"""Sets on whose development halves the weights are fitted: conversations, documents, languages.

Questions in other scripts than the Latin one have no confidence."""
BANKS = 6
"""The most banks of a set that are asked."""
QUESTIONS = 30
"""The most questions of each kind and half that are put to each memory."""
SPLITS: tuple[Split, ...] = ("dev", "report")
COVERAGE = (0.25, 0.5, 0.75, 1.0)
BINS = 10
RIDGE = 0.05
"""Penalty on the squares of the standardised weights; all questions weigh 1,000 together."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One question, the signs and the confidence of its recall, and the truth.

    bank: the memory asked. correct: whether it has an answer and its evidence is among the first
    ten. signs: name -> value, empty where nothing was found.
    """

    bank: Bank
    query: Query
    confidence: float
    signs: dict[str, float]
    correct: bool


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--fit", action="store_true", help="fit the weights and print them")
    given = parser.parse_args()
    loaded = [
        bank
        for banks in by_set(load(given.data, SETS)).values()  # some borrow questions of others
        for bank in spread(banks, BANKS if banks[0].dataset != "everyday" else len(banks))
    ]
    embedder = KeptVectors()
    judged = [
        each
        for bank in with_unanswerable(loaded, given.sets)
        for each in judge(thinned(bank, given.limit or QUESTIONS), embedder)
    ]
    if given.fit:
        for name, weight in fit(judged).items():
            print(f"{name.upper()} = {weight:.2f}")
    keep(table(judged), given.json)
    if given.json is not None:
        draw(judged, curves(given.json))


def curves(path: Path) -> Path:
    """Return the path of the plot of risk-coverage curves beside a table."""
    return path.with_name(f"{path.stem}_curves.svg")


def thinned(bank: Bank, most: int) -> Bank:
    """Return the bank with at most so many queries of each kind and half, evenly spread."""
    kinds: dict[tuple[str, str], list[Query]] = {}
    for query in bank.queries:
        kinds.setdefault((query.category, query.split), []).append(query)
    kept = {query.id for queries in kinds.values() for query in spread(queries, most)}
    return replace(bank, queries=tuple(query for query in bank.queries if query.id in kept))


def judge(bank: Bank, embedder: KeptVectors) -> list[Judged]:
    """Return the bank's questions, judged; raise if a recall has no confidence."""
    document_of = bank.document_of
    judged = []
    for answer in run(
        bank, embedder=embedder, read=lambda recall: (recall.confidence, recall.signs)
    ):
        confidence, signs = answer.read
        assert confidence is not None
        told = inputs(signs) if signs else {}
        judged.append(
            Judged(bank, answer.query, confidence, told, _correct(answer, bank, document_of))
        )
    return judged


def inputs(signs: Signs) -> dict[str, float]:
    """Return what the weights of `confidence` multiply; `NAMED_BIAS` is ``bias`` + ``spoken``."""
    spoken = float(bool(signs.named or signs.misattributed))
    return {
        "likeness": (1 - spoken) * signs.likeness,
        "lead": (1 - spoken) * signs.lead,
        "unknown": (1 - spoken) * signs.unknown,
        "spoken": spoken,
        "named_lead": spoken * signs.lead,
        "named": signs.named,
        "misattributed": signs.misattributed,
        "size": math.log(max(1, signs.memories)),
    }


def _correct(answer: Answer, bank: Bank, document_of: dict[str, str]) -> bool:
    found: Sequence[str] = answer.ids
    if bank.unit == "document":
        found = documents(found, document_of)
    return answer.query.answerable and not answer.query.evidence.isdisjoint(found[:10])


def table(judged: Sequence[Judged]) -> Table:
    sections, remarks = [], []
    for split in SPLITS:
        part = [each for each in judged if each.query.split == split]
        if not part:
            continue
        sections += [
            Section(f"AUROC by kind, mean over the sets, {split}", by_kind(separation(part))),
            Section(f"AUROC by set and kind, {split}", separation(part), plot="AUROC"),
            Section(f"Risk at coverage by set, {split}", risks(part)),
            Section(f"Calibration, {split}, all sets alike", reliability(part)),
        ]
        remarks.append(f"{split}: expected calibration error {_error(part):.3f}, all sets alike")
    remarks.append("risk against coverage is drawn beside this page, in the file of curves")
    claim = __doc__.split("\n\n")[1].replace("\n", " ")
    return Table("abstention", claim, sections, remarks)


def separation(part: Sequence[Judged]) -> list[dict[str, Cell]]:
    """Return one row for each set and kind of unanswerable question, beside answerable ones."""
    rows: list[dict[str, Cell]] = []
    for dataset in _datasets(part):
        own = [each for each in part if each.bank.dataset == dataset]
        for kind in dict.fromkeys(each.query.category for each in own):
            without = [each for each in own if each.query.category == kind]
            asked = {each.bank.name for each in without}
            having = [
                each
                for each in own
                if each.query.category == ANSWERABLE and each.bank.name in asked
            ]
            if kind == ANSWERABLE or not having:
                continue
            yes, no = _confidences(having), _confidences(without)
            rows.append(
                {
                    "set": dataset,
                    "without an answer": kind,
                    "with": len(yes),
                    "without": len(no),
                    "AUROC": separated(yes, no),
                    "mean confidence with": float(yes.mean()),
                    "and without": float(no.mean()),
                }
            )
    return rows


def by_kind(rows: Sequence[Mapping[str, Cell]]) -> list[dict[str, Cell]]:
    """Return the mean AUROC over the sets that have a kind of unanswerable question."""
    found: dict[str, list[float]] = {}
    for row in rows:
        auroc = row["AUROC"]
        assert isinstance(auroc, Interval)
        found.setdefault(str(row["without an answer"]), []).append(auroc.mean)
    return [
        {
            "without an answer": kind,
            "sets": len(means),
            "AUROC": float(np.mean(means)),
            "least": min(means),
        }
        for kind, means in found.items()
    ]


def separated(yes: NDArray[np.float64], no: NDArray[np.float64]) -> Interval:
    """Return the AUROC of ``yes`` above ``no`` and its interval; the two are drawn separately."""
    generator = np.random.default_rng(SEED)
    truth = np.repeat([True, False], [len(yes), len(no)])
    drawn = [
        auroc(
            np.concatenate(
                [
                    yes[generator.integers(0, len(yes), len(yes))],
                    no[generator.integers(0, len(no), len(no))],
                ]
            ),
            truth,
        )
        for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Interval(
        auroc(np.concatenate([yes, no]), truth), float(low), float(high), len(yes) + len(no)
    )


def risks(part: Sequence[Judged]) -> list[dict[str, Cell]]:
    """Return the risk at some coverages, and its mean over all, by set."""
    rows: list[dict[str, Cell]] = []
    for dataset in _datasets(part):
        own = [each for each in part if each.bank.dataset == dataset]
        sure, right = _confidences(own), np.array([each.correct for each in own])
        coverage, risk = risk_coverage(sure, right)
        row: dict[str, Cell] = {"set": dataset, "questions": len(own)}
        row |= {
            f"at {share:.0%}": float(risk[np.searchsorted(coverage, share)]) for share in COVERAGE
        }
        rows.append(row | {"mean": area_under_risk(sure, right)})
    return rows


def reliability(part: Sequence[Judged]) -> list[dict[str, Cell]]:
    """Return, for ten bins of confidence, the number of questions and of those with an answer."""
    sure, truth, weights = _confidences(part), _truth(part), weigh(part)
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    rows: list[dict[str, Cell]] = []
    for place in range(BINS):
        mine = bins == place
        share = float(weights[mine].sum() / weights.sum())
        if share:
            rows.append(
                {
                    "confidence": f"{place / BINS:.1f} to {(place + 1) / BINS:.1f}",
                    "questions": int(mine.sum()),
                    "share of all": share,
                    "mean confidence": float(np.average(sure[mine], weights=weights[mine])),
                    "with an answer": float(np.average(truth[mine], weights=weights[mine])),
                }
            )
    return rows


def _error(part: Sequence[Judged]) -> float:
    """Return the expected calibration error: the mean gap of the bins of `reliability`."""
    total = 0.0
    for row in reliability(part):
        share, said, true = (
            row[name] for name in ("share of all", "mean confidence", "with an answer")
        )
        assert isinstance(share, float) and isinstance(said, float) and isinstance(true, float)
        total += share * abs(said - true)
    return total


def weigh(part: Sequence[Judged]) -> NDArray[np.float64]:
    """Return the weight of each question; the weights add up to 1,000.

    All sets weigh the same. Within a set, questions with an answer weigh as much as those without
    one, and among these all kinds weigh the same. Questions put to whole memories, to memories half
    told, to those with details untold and to stretches of each length are kinds of their own.
    """
    groups = [
        (each.bank.dataset, each.query.answerable, each.query.category, part_of(each.bank))
        for each in part
    ]
    sizes = {group: groups.count(group) for group in set(groups)}
    kinds = {side: sum(group[:2] == side for group in sizes) for side in {g[:2] for g in sizes}}
    weights = np.array([1 / (sizes[group] * kinds[group[:2]]) for group in groups])
    return weights * (1000 / weights.sum())


def fit(judged: Sequence[Judged]) -> dict[str, float]:
    """Return the weights of a logistic model by penalised maximum likelihood (Newton's method).

    They are fitted to the development halves; `weigh` gives the questions' weights,
    and those about the wrong person weigh twice.
    """
    part = [each for each in judged if each.query.split == "dev" and each.signs]
    names = list(part[0].signs)
    signs = np.array([[each.signs[name] for name in names] for each in part])
    truth = _truth(part)
    weights = weigh(part) * [2.0 if _wrong_person(each) else 1.0 for each in part]
    weights *= 1000 / weights.sum()
    mean, spread = signs.mean(axis=0), signs.std(axis=0)
    inputs = np.column_stack([(signs - mean) / spread, np.ones(len(part))])
    penalty = np.diag([2 * RIDGE] * len(names) + [0.0])
    found = np.zeros(len(names) + 1)
    for _ in range(50):
        chance = 1 / (1 + np.exp(-inputs @ found))
        gradient = inputs.T @ (weights * (chance - truth)) + penalty @ found
        curvature = (inputs.T * (weights * chance * (1 - chance))) @ inputs + penalty
        found -= np.linalg.solve(curvature, gradient)
    scaled = found[:-1] / spread
    bias = float(found[-1] - scaled @ mean)
    return {"bias": bias} | dict(zip(names, scaled.tolist(), strict=True))


def _wrong_person(each: Judged) -> bool:
    kind = each.query.category
    return kind == ANOTHER_NAME or (kind == BY_THE_SET and each.bank.dataset == "locomo")


def draw(judged: Sequence[Judged], path: Path) -> None:
    """Draw risk against coverage, one panel for each half and one line for each set."""
    try:
        import matplotlib
        from matplotlib import pyplot
    except ImportError as error:
        raise SystemExit("plots need matplotlib: pip install 'recollex[bench]'") from error

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "recollex"
    figure, panels = pyplot.subplots(1, len(SPLITS), figsize=(9, 4), sharey=True)
    for split, panel in zip(SPLITS, panels, strict=True):
        part = [each for each in judged if each.query.split == split]
        for dataset in _datasets(part):
            own = [each for each in part if each.bank.dataset == dataset]
            coverage, risk = risk_coverage(_confidences(own), [each.correct for each in own])
            seen = np.linspace(0, len(coverage) - 1, min(len(coverage), 200)).astype(int)
            panel.plot(coverage[seen], risk[seen], label=dataset, linewidth=1.2)
        panel.set_title(split, fontsize=9)
        panel.set_xlabel("coverage: share of the questions answered", fontsize=8)
        panel.tick_params(labelsize=8)
    panels[0].set_ylabel("risk: no evidence among the first ten", fontsize=8)
    panels[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def _datasets(part: Sequence[Judged]) -> list[str]:
    return list(dict.fromkeys(each.bank.dataset for each in part))


def _confidences(part: Sequence[Judged]) -> NDArray[np.float64]:
    return np.array([each.confidence for each in part], np.float64)


def _truth(part: Sequence[Judged]) -> NDArray[Any]:
    return np.array([each.query.answerable for each in part], np.float64)


if __name__ == "__main__":
    main()
