"""What does each preset find on every data set, and is the default never worse than one arm?

Claim: one `default` for all sets finds at least as much in the first ten (R@10) as the best single
arm of each set and as every paper's own configuration: on each reported half it is above the best
arm beyond chance.

Command: python -m bench.tables.presets --data FOLDER [--json FILE] [--limit N] [--sets NAME ...]

Check: all configurations answer over the same store. A single arm is TEMPR's configuration with
that arm alone. The best arm is chosen by R@10 on the queries that it is then compared on, which
favours it. Development and reported queries are separate. Intervals are 95 % bootstraps over
queries. RealMem counts sessions by their best turn, once with the turns of the query's own session
in memory (they are never evidence), and once without them; the other sets count the evidence
itself. The cross-encoders of TEMPR and MemoTrace are left out: their weights are not available
here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bench.datasets import LOADERS, load
from bench.datasets.bank import Bank, Split, counts
from bench.datasets.realmem import of_earlier_sessions
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import ARMS, Options
from bench.tables.lib.metrics import Difference, paired
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.trials import SPLITS, Trial, by_set, claim_of, trials
from recollex import presets

MEASURES = ("R@5", "R@10", "R@20", "NDCG@10", "P@5")
WEIGHTS = presets.ScoreSum().weights
"""Weights of the arms in weighted RRF and in the sum of scores, from LoCoMo's dev half."""

CONFIGURATIONS: Mapping[str, Options] = {
    "default": {},
    "tempr": {"preset": "tempr"},
    "memora": {"preset": "memora"},
    "satf": {"preset": "satf"},
    "memotrace": {"preset": "memotrace"},
    "tempr, weighted RRF": {
        "preset": replace(presets.tempr, fusion=presets.ReciprocalRank(weights=WEIGHTS))
    },
    "tempr, sum of scores": {"preset": replace(presets.tempr, fusion=presets.ScoreSum())},
    **{f"{arm} alone": {"preset": replace(presets.tempr, arms=(arm,))} for arm in ARMS},
}
ALONE = tuple(f"{arm} alone" for arm in ARMS)

Found = Mapping[str, Trial]


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=LOADERS, default=list(LOADERS))
    given = parser.parse_args()
    banks = load(given.data, given.sets)
    print(counts(banks))
    banks += [of_earlier_sessions(bank) for bank in banks if bank.dataset == "realmem"]
    keep(table(banks, given.limit), given.json)


def table(banks: Sequence[Bank], limit: int | None) -> Table:
    embedder = KeptVectors()
    found = {
        dataset: trials(of_set, CONFIGURATIONS, embedder, MEASURES, limit=limit)
        for dataset, of_set in by_set(banks).items()
    }
    verdicts = [
        Section(f"default against the best single arm, {s}", against(found, s)) for s in SPLITS
    ]
    sections = []
    for dataset, of_set in found.items():
        for split in SPLITS:
            part = {name: trial.where(split) for name, trial in of_set.items()}
            if len(part["default"].scored.queries):
                sections.append(Section(f"{dataset}, {split}", overall(part), plot="R@10"))
                if len(part["default"].scored.categories) > 1:
                    title = f"{dataset}, {split}, default by category against the best arm of each"
                    sections.append(Section(title, by_category(part)))
    return Table("presets", claim_of(__doc__), [*verdicts, *sections], [LATENCY])


LATENCY = (
    "p50 is of a recall without its token limit, the query's vector given, on a machine that was "
    "busy with other work: compare rows, not machines. bench/store.py measures latency."
)


def overall(part: Found) -> list[dict[str, Cell]]:
    rows = []
    for name, trial in part.items():
        row: dict[str, Cell] = {"preset": name, "queries": len(trial.scored.queries)}
        rows.append(row | trial.intervals(MEASURES) | {"p50 ms": trial.p50})
    return rows


def best_arm(part: Found) -> str:
    """Return the single arm with the greatest R@10; of equal ones the first."""
    return max(ALONE, key=lambda name: part[name].mean("R@10").mean)


def against(found: Mapping[str, Found], split: Split) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for dataset, of_set in found.items():
        part = {name: trial.where(split) for name, trial in of_set.items()}
        if not len(part["default"].scored.queries):
            continue
        best = best_arm(part)
        row: dict[str, Cell] = {"set": dataset, "queries": len(part["default"].scored.queries)}
        row["best arm"] = best.removesuffix(" alone")
        for measure in ("R@10", "NDCG@10"):
            row[f"{measure} default"] = part["default"].mean(measure)
            row[f"{measure} arm"] = part[best].mean(measure)
            row[f"{measure} added"] = added(part["default"], part[best], measure)
        more = added(part["default"], part[best], "R@10")
        row["R@10 holds"] = verdict(more)
        rows.append(row)
    return rows


def verdict(more: Difference) -> str:
    """Return in words the result of a difference that should not be below 0."""
    if more.interval.low > 0:
        return "above"
    if more.interval.high < 0:
        return "below"
    return "not told apart, mean " + ("not below" if more.interval.mean >= 0 else "below")


def added(ours: Trial, theirs: Trial, measure: str) -> Difference:
    return paired(ours.scored.values[measure], theirs.scored.values[measure])


def by_category(part: Found) -> list[dict[str, Cell]]:
    """Return R@10 and NDCG@10 of the largest categories, eight at most."""
    rows: list[dict[str, Cell]] = []
    for category in part["default"].scored.categories[:8]:
        chosen = {name: trial.where(category=category) for name, trial in part.items()}
        best = best_arm(chosen)
        row: dict[str, Cell] = {
            "category": category,
            "queries": len(chosen["default"].scored.queries),
            "best arm": best.removesuffix(" alone"),
        }
        for measure in ("R@10", "NDCG@10"):
            row[f"{measure} default"] = chosen["default"].mean(measure)
            row[f"{measure} arm"] = chosen[best].mean(measure)
            row[f"{measure} added"] = added(chosen["default"], chosen[best], measure)
        rows.append(row)
    return rows


if __name__ == "__main__":
    main()
