"""Does a ranking hold on texts on which nothing was fitted? Every set is left out in turn.

Claim: the default is below the best single arm of no set beyond chance, and 0.05 above it on
average. Neither are weights that are fitted anew on all sets but one, which are 0.05 above it too.

Command: python -m bench.tables.generalization --data FOLDER [--json FILE] [--limit N]
         [--sets NAME ...]

Check: half of a set resembles its other half, so a weight that is fitted on one half and scored on
the other says little of other texts. Here the parts of the default's score are weighed anew: fitted
to both measures (`bench.tables.lib.smooth_ranks`) on the development halves of all sets but one, no
part against the sign of what it says, and scored on the report half of that one. The weights are
held to what the parts mean: each counts 1 by its sign (`units_of`), as where experts tally cues,
and parts of one kind count alike (`PAIRS`). How many parts there are is chosen for each set by the
means over the others, where these were left out. The candidates are those of the default, whose
constants (anchors, seeds, the weight of keywords in the context) stay. "bound" is R@10 of the
candidates in the best order.

The best arm is chosen for each measure, on the queries that it is then compared on, which favours
it; so is the best arm of each type of question. At most QUERIES queries of each half are asked,
evenly spread. Differences are paired bootstraps, "below" and "above" are beyond chance at 95 %.
Candidates are kept (`bench.tables.lib.offered`), so a second run takes minutes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from bench.datasets import CASES, LOADERS, load
from bench.datasets.bank import Split
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import ARMS
from bench.tables.lib.metrics import Difference, bootstrap, paired
from bench.tables.lib.offered import LISTS, NAMES, Offered, offered
from bench.tables.lib.query_lists import Lists, Matrix, lists
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.smooth_ranks import Plan, fit
from bench.tables.lib.trials import claim_of
from bench.tables.lib.words import COLUMN, lengths
from recollex_engine.ranking.contextual_fusion import KEYWORD_CONTEXT

QUERIES = 200
"""The most questions of each half of a set."""
NEGATIVES = 150
"""Candidates of a query that a fit sees beside the evidence: the best by two arms, and others."""
TYPE = 30
"""The least number of questions of a type that gets a line of its own."""
HELD = 0.001
"""How strongly the weights are held to 0."""
PLANNED = 0.003
"""How strongly they are held to what a part means, see `units_of`."""
STRENGTHS = (0.03,)
"""How strongly those of one kind are held to each other, see `PAIRS`."""
AGAINST = ("question", "passages")
"""Parts that count against a memory, if at all."""
SIGNS = [0 if name == "addressed_question" else -1 if name in AGAINST else 1 for name in NAMES]
"""What a part says has one sign; only an earlier question may be on topic or not."""
MEASURES = ("R@10", "NDCG@10")
LENT = ("before", "after", "before_two", "document")
"""Parts that tell of other memories."""
PAIRS = (
    ("keyword", "semantic", KEYWORD_CONTEXT),
    ("addressed_keyword", "keyword", 1.0),
    ("before", "after", 1.0),
)
"""Parts whose weights are alike, but for a factor: a memory's own evidence is weighed as that of
other memories is; a turn before says as much as one after."""

SUBSETS: Mapping[str, tuple[str, ...]] = {
    "2: the two arms": ("keyword", "semantic"),
    "8: and the context": (
        *("keyword", "semantic", "before", "after", "document", "moment", "association"),
        "addressed_keyword",
    ),
    "20: all": NAMES,
}
"""How many parts a ranking has."""

Point = tuple[str, float]
"""A subset of the parts, and how strongly the weights of one kind are held to each other."""
Found = Mapping[str, Sequence[Offered]]


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    every = [*LOADERS, *CASES]
    parser.add_argument("--sets", nargs="+", choices=every, default=every)
    given = parser.parse_args()
    embedder = KeptVectors()
    found = {
        name: offered(load(given.data, [name]), embedder, given.limit or QUERIES)
        for name in tqdm(given.sets, desc="sets", disable=None)
    }
    keep(table(found), given.json)


def table(found: Found) -> Table:
    """Return the table of at least two sets' candidates."""
    trials = left_out(found)
    points = {name: best_point(trials, name) for name in found}
    fitted = {name: trials[name][points[name]] for name in found}
    sections = [
        Section(f"{measure}, report halves", against(found, fitted, number), plot="fitted added")
        for number, measure in enumerate(MEASURES)
    ]
    sections += [
        Section("How many parts, how strongly held, and with which weights", chosen(found, points)),
        Section("Mean over the sets left out", by_point(found, trials)),
        Section(f"Types of at least {TYPE} questions, the default", by_type(found)),
        Section("Length", by_length(found)),
    ]
    remarks = [line for number in range(2) for line in summary(found, fitted, number)]
    return Table("generalization", claim_of(__doc__), sections, remarks)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A ranking that was fitted without a set, on that set: R@10 and NDCG@10 of its queries.

    weights: float32[P]. development, report: float64[queries, 2].
    """

    weights: Matrix
    development: NDArray[np.float64]
    report: NDArray[np.float64]


def left_out(found: Found) -> dict[str, dict[Point, LeftOut]]:
    """Return, for each set, the rankings that were fitted without it."""
    sets = {name: fitting(of_set) for name, of_set in found.items()}
    points = list(product(SUBSETS, STRENGTHS))
    trials: dict[str, dict[Point, LeftOut]] = {name: {} for name in found}
    for name, (subset, strength) in tqdm(
        list(product(found, points)), desc="fits", leave=False, disable=None
    ):
        others = {other: one for other, one in sets.items() if other != name}
        columns = [NAMES.index(part) for part in SUBSETS[subset]]
        weights = fit(others, columns, HELD, SIGNS, planned(strength))
        measured = [measure_by(part_of(found[name], split), weights) for split in HALVES]
        trials[name][subset, strength] = LeftOut(weights, *measured)
    return trials


def units_of() -> Matrix:
    """Return float32[P]: what a part counts by its meaning alone, in units of the semantic part.

    Each counts 1 by its sign, keyword evidence as in the context of other memories, and what other
    memories lend nothing.
    """
    units = {name: float(sign) for name, sign in zip(NAMES, SIGNS, strict=True)}
    units |= dict.fromkeys(("keyword", "addressed_keyword"), KEYWORD_CONTEXT)
    units |= dict.fromkeys(LENT, 0.0)
    return np.array([units[name] for name in NAMES], np.float32)


def planned(strength: float) -> Plan:
    pairs = [(NAMES.index(a), NAMES.index(b), ratio) for a, b, ratio in PAIRS]
    return Plan(units_of(), pairs, PLANNED, strength)


HALVES: tuple[Split, Split] = ("dev", "report")


def part_of(of_set: Sequence[Offered], split: Split) -> list[Offered]:
    return [one for one in of_set if one.split == split]


def measure_by(queries: Sequence[Offered], weights: Matrix) -> NDArray[np.float64]:
    scored = [one.scored(one.parts @ weights) for one in queries]
    return np.array(scored, np.float64).reshape(len(queries), len(MEASURES))


def fitting(of_set: Sequence[Offered]) -> Lists:
    """Return what a fit sees of a set: the queries of its development half, some candidates."""
    generator = np.random.default_rng(0)
    queries = []
    for one in part_of(of_set, "dev"):
        likely = one.parts @ _LIKELY
        wrong = np.flatnonzero(~one.proved)
        wrong = wrong[np.argsort(-likely[wrong], kind="stable")]
        hard = 2 * NEGATIVES // 3
        others = generator.permutation(wrong[hard:])[: NEGATIVES - hard]
        seen = np.concatenate([np.flatnonzero(one.proved), wrong[:hard], others])
        queries.append((one.parts[seen], one.proved[seen], one.units[seen], one.evidence))
    return lists(queries)


_LIKELY = np.zeros(len(NAMES), np.float32)
for _name, _weight in (("keyword", 5), ("addressed_keyword", 5), ("semantic", 1)):
    _LIKELY[NAMES.index(_name)] = _weight


def best_point(trials: Mapping[str, Mapping[Point, LeftOut]], name: str) -> Point:
    """Return the choice that is best for the other sets, each by a fit without it."""
    others = [other for other in trials if other != name]

    def mean(point: Point) -> float:
        return float(np.mean([trials[other][point].development.mean() for other in others]))

    return max(trials[name], key=mean)


def best_arm(queries: Sequence[Offered], measure: int) -> tuple[str, NDArray[np.float64]]:
    """Return the arm with the greatest mean, the first of equal ones, and its values."""
    values = {
        arm: np.array([one.measured[LISTS.index(arm), measure] for one in queries]) for arm in ARMS
    }
    name = max(ARMS, key=lambda arm: float(values[arm].mean()))
    return name, values[name]


def of_default(queries: Sequence[Offered], measure: int) -> NDArray[np.float64]:
    return np.array([one.measured[0, measure] for one in queries])


def verdict(more: Difference) -> str:
    """Return whether a difference is above or below 0 beyond chance, or by its mean alone."""
    if more.interval.low > 0:
        return "above"
    if more.interval.high < 0:
        return "below"
    return "mean above" if more.interval.mean >= 0 else "mean below"


def against(found: Found, fitted: Mapping[str, LeftOut], measure: int) -> list[dict[str, Cell]]:
    """Return a row for each set: its best arm, the default, the ranking fitted without it."""
    rows: list[dict[str, Cell]] = []
    for name, of_set in found.items():
        queries = part_of(of_set, "report")
        arm, theirs = best_arm(queries, measure)
        default, ours = of_default(queries, measure), fitted[name].report[:, measure]
        more, anew = paired(default, theirs), paired(ours, theirs)
        row: dict[str, Cell] = {"set": name, "queries": len(queries), "best arm": arm}
        row |= {"arm": float(theirs.mean()), "default": float(default.mean())}
        row |= {"default added": more, "default is": verdict(more)}
        row |= {"fitted": float(ours.mean()), "fitted added": anew, "fitted is": verdict(anew)}
        if measure == 0:
            row["bound"] = float(np.mean([one.bound for one in queries]))
        rows.append(row)
    return rows


def summary(found: Found, fitted: Mapping[str, LeftOut], measure: int) -> list[str]:
    """Return in one line for the fitted ranking and one for the default how many sets hold."""
    lists_of: dict[str, Callable[[str, list[Offered]], NDArray[np.float64]]] = {
        "fitted without the set": lambda name, _: fitted[name].report[:, measure],
        "default": lambda _, queries: of_default(queries, measure),
    }
    lines = []
    for label, values in lists_of.items():
        means, below, beyond = [], [], []
        for name, of_set in found.items():
            queries = part_of(of_set, "report")
            more = paired(values(name, queries), best_arm(queries, measure)[1])
            means.append(more.interval.mean)
            if more.interval.mean < 0:
                (beyond if more.interval.high < 0 else below).append(name)
        lines.append(
            f"{MEASURES[measure]}, {label}: mean added to the best arm {np.mean(means):+.3f}; not "
            f"below on {len(means) - len(below) - len(beyond)} of {len(means)}; below by less than "
            f"chance: {', '.join(below) or 'none'}; beyond chance: {', '.join(beyond) or 'none'}"
        )
    return lines


def chosen(found: Found, points: Mapping[str, Point]) -> list[dict[str, Cell]]:
    """Return each choice, by how many sets it was chosen, and its weights fitted on all sets.

    Weights are given in units of the semantic part's.
    """
    sets = {name: fitting(of_set) for name, of_set in found.items()}
    rows: list[dict[str, Cell]] = []
    for point in dict.fromkeys(points.values()):
        columns = [NAMES.index(part) for part in SUBSETS[point[0]]]
        weights = fit(sets, columns, HELD, SIGNS, planned(point[1]))
        unit = float(weights[NAMES.index("semantic")]) or 1.0
        row: dict[str, Cell] = {"parts": point[0], "held": point[1]}
        row["sets"] = sum(each == point for each in points.values())
        for part in SUBSETS[point[0]]:
            row[part] = round(float(weights[NAMES.index(part)]) / unit, 3)
        rows.append(row)
    return rows


def by_point(found: Found, trials: Mapping[str, Mapping[Point, LeftOut]]) -> list[dict[str, Cell]]:
    """Return the means over the sets of each choice, each set left out, and the default's."""
    rows: list[dict[str, Cell]] = []
    for subset, strength in product(SUBSETS, STRENGTHS):
        means = [trials[name][subset, strength] for name in found]
        row: dict[str, Cell] = {"ranking": f"{subset}, held {strength}"}
        for measure, label in enumerate(MEASURES):
            row[f"{label}, dev"] = float(np.mean([m.development[:, measure].mean() for m in means]))
            row[f"{label}, report"] = float(np.mean([m.report[:, measure].mean() for m in means]))
        rows.append(row)
    for label, values in (
        ("default", of_default),
        ("best arm of each set", lambda queries, measure: best_arm(queries, measure)[1]),
    ):
        row = {"ranking": label}
        for measure, name in enumerate(MEASURES):
            for split in HALVES:
                parts = [values(part_of(of_set, split), measure) for of_set in found.values()]
                row[f"{name}, {split}"] = float(np.mean([part.mean() for part in parts]))
        rows.append(row)
    return rows


def by_type(found: Found) -> list[dict[str, Cell]]:
    """Return a row for each type of each set: the default against the best arm of the type."""
    rows: list[dict[str, Cell]] = []
    for name, of_set in found.items():
        queries = part_of(of_set, "report")
        types = sorted({one.category for one in queries})
        for kind in types:
            part = [one for one in queries if one.category == kind]
            if len(types) == 1 or len(part) < TYPE:
                continue
            row: dict[str, Cell] = {"set": name, "type": kind, "questions": len(part)}
            for measure, label in enumerate(MEASURES):
                arm, theirs = best_arm(part, measure)
                ours = of_default(part, measure)
                row |= {f"{label} arm": f"{arm} {theirs.mean():.3f}"}
                row |= {label: bootstrap(ours), f"{label} added": paired(ours, theirs)}
            rows.append(row)
    return rows


def by_length(found: Found) -> list[dict[str, Cell]]:
    return [
        {"set": name, COLUMN: lengths((one.found for one in of_set), (one.gold for one in of_set))}
        for name, of_set in found.items()
    ]


if __name__ == "__main__":
    main()
