"""What does a greater thinking budget buy, and what does it cost?

Claim: recall of the evidence rises with `thinking_budget` and so does latency: more memories looked
at find more of those that the first hundred leave out, at the first ten places they change little.

Command: python -m bench.tables.thinking_budget --data FOLDER [--json FILE] [--limit N]

Check: the default answers each question under every budget over one store, without a token limit.
"found" is the share of the evidence anywhere in the list. Latency is that of the recall alone, with
the query's vector given; it is the median over questions.
"""

from bench.datasets import load
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import Asking
from bench.tables.lib.metrics import paired
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.trials import SPLITS, by_set, claim_of, trials

SETS = ("locomo", "lifebench", "musique")
BUDGETS = (10, 20, 50, 100, 200, 500, 1000)
DEFAULT = 100
MEASURES = ("R@10", "NDCG@10", "R@20", "R@100", f"R@{1 << 30}")
FOUND = MEASURES[-1]


def main() -> None:
    given = arguments(__doc__.splitlines()[0]).parse_args()
    embedder = KeptVectors()
    asked: dict[str, Asking] = {str(budget): {"thinking_budget": budget} for budget in BUDGETS}
    sections = []
    for dataset, banks in by_set(load(given.data, SETS)).items():
        found = trials(banks, asked, embedder, MEASURES, limit=given.limit)
        for split in SPLITS:
            rows: list[dict[str, Cell]] = []
            base = found[str(DEFAULT)].where(split)
            for name, trial in found.items():
                part = trial.where(split)
                row: dict[str, Cell] = {"thinking_budget": int(name)}
                row["questions"] = len(part.scored.queries)
                row |= part.intervals(MEASURES[:-1]) | {"found": part.mean(FOUND)}
                if int(name) != DEFAULT and len(part.scored.queries):
                    ours, theirs = part.scored.values["R@10"], base.scored.values["R@10"]
                    row[f"R@10 against {DEFAULT}"] = paired(ours, theirs)
                rows.append(row | {"p50 ms": part.p50})
            title = f"{dataset}, {split}"
            sections.append(Section(title, rows, plot="R@20", across="p50 ms"))
    remark = (
        "p50 was taken on a machine busy with other work: the shape of the curve counts. Points of "
        f"the plot are the budgets {', '.join(map(str, BUDGETS))}, from left to right where time "
        "grows with them."
    )
    keep(Table("thinking_budget", claim_of(__doc__), sections, [remark]), given.json)


if __name__ == "__main__":
    main()
