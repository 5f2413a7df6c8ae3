"""What does each arm find by itself, and what does fusing them add, on every data set?

Claim: one default ranks at least as well as the best single arm on each set (R@10, paired
bootstrap).

Command: python -m bench.tables.arms --data FOLDER [--json FILE] [--limit N] [--sets NAME ...]

Check: the arms' lists are read off the same recalls that give the fused one. Development and
reported queries stand apart; intervals are 95 % bootstraps over queries. RealMem counts sessions by
their best turn, the others the evidence itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bench.tables.bank import Bank, Split, counts
from bench.tables.datasets import LOADERS, load
from bench.tables.evaluation import ARMS, run
from bench.tables.metrics import bootstrap, paired
from bench.tables.report import Cell, Section, Table, arguments, keep
from bench.tables.scoring import FUSED, Scored, pooled, score
from bench.tables.vectors import KeptVectors

MEASURES = ("R@5", "R@10", "R@20", "NDCG@10")
LISTS = (FUSED, *ARMS)
SPLITS: tuple[Split, ...] = ("dev", "report")


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=LOADERS, default=list(LOADERS))
    given = parser.parse_args()
    banks = load(given.data, given.sets)
    print(counts(banks))
    keep(table(banks, given.limit), given.json)


def table(banks: Sequence[Bank], limit: int | None) -> Table:
    embedder = KeptVectors()
    sections, remarks = [], []
    for dataset in dict.fromkeys(bank.dataset for bank in banks):
        parts: dict[str, list[Scored]] = {name: [] for name in LISTS}
        for bank in banks:
            if bank.dataset == dataset:
                answers = run(replace(bank, queries=bank.queries[:limit]), embedder=embedder)
                for name, scores in parts.items():
                    scores.append(score(bank, answers, MEASURES, arm=name))
        by_list = {name: pooled(scores) for name, scores in parts.items()}
        for split in SPLITS:
            part = {name: scored.where(split=split) for name, scored in by_list.items()}
            if not part[FUSED].queries:
                continue
            sections += [
                Section(f"{dataset}, {split}", overall(part), plot="R@10"),
                Section(f"{dataset}, {split}, NDCG@10 by category", by_category(part)),
            ]
            remarks.append(f"{dataset}, {split}: {against_best(part)}")
    return Table("arms", __doc__.split("\n\n")[1].replace("\n", " "), sections, remarks)


def overall(part: Mapping[str, Scored]) -> list[dict[str, Cell]]:
    rows = []
    for name, scored in part.items():
        row: dict[str, Cell] = {"list": name, "queries": len(scored.queries)}
        rows.append(row | {m: bootstrap(scored.values[m]) for m in MEASURES})
    return rows


def by_category(part: Mapping[str, Scored]) -> list[dict[str, Cell]]:
    """Return NDCG@10 of the largest categories, eight at most."""
    rows = []
    for category in part[FUSED].categories[:8]:
        chosen = {name: scored.where(category=category) for name, scored in part.items()}
        row: dict[str, Cell] = {"category": category, "queries": len(chosen[FUSED].queries)}
        rows.append(row | {name: bootstrap(s.values["NDCG@10"]) for name, s in chosen.items()})
    return rows


def against_best(part: Mapping[str, Scored]) -> str:
    """Return what fusing adds to the best single arm by R@10, in R@10 and NDCG@10."""
    best = max(ARMS, key=lambda arm: part[arm].values["R@10"].mean())
    added = {
        measure: paired(part[FUSED].values[measure], part[best].values[measure])
        for measure in ("R@10", "NDCG@10")
    }
    return f"fused against {best} alone: " + ", ".join(f"{m} {d}" for m, d in added.items())


if __name__ == "__main__":
    main()
