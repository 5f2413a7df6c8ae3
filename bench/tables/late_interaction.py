"""What does late interaction, MemoTrace's second stage (ColBERT), bring after each list?

Claim: MaxSim over the token vectors of the default encoder, which was not trained for it, lifts the
lists of the dense arm and of MemoTrace's preset, and brings nothing to the default's; so it is off.

Command: python -m bench.tables.late_interaction --data FOLDER [--json FILE] [--limit N]
         [--sets NAME ...]

Check: all configurations answer over the same store, and the second stage looks at the best 100 of
the list before it. Differences are paired bootstraps against the same list without the stage.
"""

from collections.abc import Mapping
from dataclasses import replace

from bench.datasets import LOADERS, load
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import Asking
from bench.tables.lib.metrics import paired
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.trials import SPLITS, by_set, claim_of, trials
from recollex import presets

MEASURES = ("R@5", "R@10", "NDCG@10")
DEPTH = 100
LISTS = {
    "dense arm": replace(presets.memotrace, arms=("semantic",), diversity=None),
    "memotrace without MMR": replace(presets.memotrace, diversity=None),
    "default": presets.default,
}
STAGES = {
    "MaxSim in its place": presets.Combination("replace"),
    "f * (1 + .3 MaxSim)": presets.Combination("multiply", 0.3),
    "f + .3 MaxSim": presets.Combination("add", 0.3),
}
ASKED: Mapping[str, Asking] = {
    **{name: {"preset": preset} for name, preset in LISTS.items()},
    **{
        f"{name}, {stage}": {
            "preset": replace(
                preset, reranker=presets.LateInteraction(), combination=how, depth=DEPTH
            )
        }
        for name, preset in LISTS.items()
        for stage, how in STAGES.items()
    },
}


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=LOADERS, default=["locomo"])
    given = parser.parse_args()
    embedder = KeptVectors()
    sections = []
    for dataset, banks in by_set(load(given.data, given.sets)).items():
        found = trials(banks, ASKED, embedder, MEASURES, limit=given.limit)
        for split in SPLITS:
            rows: list[dict[str, Cell]] = []
            for name in sorted(ASKED, key=lambda name: list(LISTS).index(name.split(",")[0])):
                part = found[name].where(split)
                if not len(part.scored.queries):
                    continue
                row: dict[str, Cell] = {"list": name} | part.intervals(MEASURES)
                base = name.split(",")[0]
                if name != base:
                    theirs = found[base].where(split).scored.values["R@10"]
                    row["R@10 added"] = paired(part.scored.values["R@10"], theirs)
                rows.append(row)
            if rows:
                sections.append(Section(f"{dataset}, {split}", rows, plot="R@10"))
    keep(Table("late_interaction", claim_of(__doc__), sections), given.json)


if __name__ == "__main__":
    main()
