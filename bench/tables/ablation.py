"""What is each part of the default worth? Every weight of `Contextual` set to 0 in turn.

Claim: on two diaries, office records, updates, LoCoMo and passages asked in another language, one
or more loses NDCG@10 beyond chance without any of keyword, addressed_keyword, semantic, before,
after, before_two, question, answer, brevity, speaker, in_range, dated, recency and spelling; other
sets show the others. Papers' choices in the default's stead: RRF loses on five of the six and
TEMPR's thresholds on three; a temporal arm beside the range itself changes nothing.

Command: python -m bench.tables.ablation --data FOLDER [--json FILE] [--limit N] [--sets NAME ...]

Check: paired bootstraps against the default on the same queries, for each set, with development and
report apart, of at most QUERIES queries each, evenly spread. What multiplies (``telling``) is set
to 1, where it has no effect; what stands in another feature's place (``addressed_keyword``) to the
weight of that one. The last rows undo the default's choices outside the sum. So each default that
differs from a paper's stands beside the paper's.
"""

from collections.abc import Mapping
from dataclasses import fields, replace

from bench.datasets import CASES, LOADERS, load
from bench.datasets.bank import Split, counts
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import ARMS, Options
from bench.tables.lib.metrics import Difference, paired
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.trials import SPLITS, Trial, by_set, claim_of, sampled, trials
from recollex import presets
from recollex_engine.models.description import PAPER_THRESHOLDS

MEASURES = ("R@10", "NDCG@10")
QUERIES = 200
"""The most questions of each half of a set."""
DEFAULT = "default"
_PLAIN = presets.Contextual()
NOTHING = {
    "addressed_keyword": _PLAIN.keyword,
    "addressed_question": _PLAIN.question,
    "telling": 1.0,
    "copies": False,
    "later": False,
    "repeated": False,
    "small": False,
}
"""Values at which a field has no effect, if that is not 0."""

OTHER: Mapping[str, Options] = {
    "RRF in the sum's stead (TEMPR 3.2)": {
        "preset": replace(presets.default, fusion=presets.ReciprocalRank())
    },
    "TEMPR's temporal arm beside the others": {"preset": replace(presets.default, arms=ARMS)},
    "TEMPR's thresholds (.3, .4, .5)": {
        "preset": replace(presets.default, thresholds=PAPER_THRESHOLDS)
    },
    "BM25 with k1 1.2, b 0.75": {"preset": replace(presets.default, k1=1.2, b=0.75)},
}


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    every = [*LOADERS, *CASES]
    parser.add_argument("--sets", nargs="+", choices=every, default=every)
    given = parser.parse_args()
    banks = load(given.data, given.sets)
    print(counts(banks))
    embedder = KeptVectors()
    found = {
        dataset: trials(
            sampled(of_set, given.limit or QUERIES), configurations(), embedder, MEASURES
        )
        for dataset, of_set in by_set(banks).items()
    }
    sections = [
        section
        for split in SPLITS
        for measure in MEASURES
        for section in sections_of(found, split, measure)
    ]
    keep(Table("ablation", claim_of(__doc__), sections, remarks(found)), given.json)


def configurations() -> dict[str, Options]:
    """Return the default, and the default without each of its parts in turn."""
    found: dict[str, Options] = {DEFAULT: {}}
    for field in fields(presets.Contextual):
        without = replace(presets.Contextual(), **{field.name: NOTHING.get(field.name, 0.0)})
        name = f"without {field.name} ({field.default})"
        found[name] = {"preset": replace(presets.default, fusion=without)}
    return found | dict(OTHER)


Found = Mapping[str, Mapping[str, Trial]]
"""Set -> configuration -> its trial."""


def sections_of(found: Found, split: Split, measure: str) -> list[Section]:
    """Return the default's means, and for each change a row with what it adds to each set."""
    parts = {
        dataset: {name: trial.where(split) for name, trial in of_set.items()}
        for dataset, of_set in found.items()
    }
    parts = {name: part for name, part in parts.items() if len(part[DEFAULT].scored.queries)}
    own: list[dict[str, Cell]] = [
        {"set": dataset, measure: part[DEFAULT].mean(measure)} for dataset, part in parts.items()
    ]
    rows: list[dict[str, Cell]] = []
    for name in configurations():
        if name != DEFAULT:
            row: dict[str, Cell] = {"change": name}
            for dataset, part in parts.items():
                row[dataset] = change(part[name], part[DEFAULT], measure)
            rows.append(row | {"most lost": most_lost(row)})
    return [
        Section(f"{measure}, {split}: the default", own),
        Section(f"{measure}, {split}: what each change adds", rows, plot="most lost"),
    ]


def most_lost(row: Mapping[str, Cell]) -> Difference:
    """Return the least of a row's differences."""
    return min(
        (cell for cell in row.values() if isinstance(cell, Difference)),
        key=lambda cell: cell.interval.mean,
    )


def change(ours: Trial, theirs: Trial, measure: str) -> Difference:
    return paired(ours.scored.values[measure], theirs.scored.values[measure])


def remarks(found: Found) -> list[str]:
    """Return, for each change, the sets that it hurts and those that it helps, by NDCG@10.

    The queries of both halves count. A part that no set needs is named as such.
    """
    lines = []
    for name in configurations():
        if name == DEFAULT:
            continue
        hurt, helped = [], []
        for dataset, of_set in found.items():
            told = change(of_set[name], of_set[DEFAULT], "NDCG@10").interval
            if told.high < 0:
                hurt.append(f"{dataset} {told.mean:+.3f}")
            if told.low > 0:
                helped.append(f"{dataset} {told.mean:+.3f}")
        lines.append(
            f"{name}: "
            + (f"worse on {', '.join(hurt)}" if hurt else "no set is worse beyond chance")
            + (f"; better on {', '.join(helped)}" if helped else "")
        )
    return lines


if __name__ == "__main__":
    main()
