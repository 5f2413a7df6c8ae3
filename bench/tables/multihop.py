"""Are all the passages of a chain found, when each says only a part?

Claim: on MuSiQue and 2WikiMultihopQA the fused list holds at least as much of the evidence as the
best single arm, and the graph arm finds passages that no words of the question name.

Command: python -m bench.tables.multihop --data FOLDER [--json FILE] [--limit N]

Check: R@2, R@5 and the share of questions with all evidence in the first 5, as HippoRAG reports
them. The pools are samples (see `bench.datasets.multihop`), so the numbers cannot be compared with
HippoRAG's. "Beyond" is the share of the evidence that is in the first 100 of the graph arm and in
the first 100 of no other arm.
"""

from dataclasses import replace

from bench.datasets import load
from bench.datasets.bank import Split
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import ARMS, Answer, run
from bench.tables.lib.metrics import bootstrap
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.scoring import FUSED, score

MEASURES = ("R@2", "R@5", "All@5", "R@20")
LISTS = (FUSED, *(arm for arm in ARMS if arm != "temporal"))
SPLITS: tuple[Split, ...] = ("dev", "report")


def main() -> None:
    given = arguments(__doc__.splitlines()[0]).parse_args()
    embedder = KeptVectors()
    sections, remarks = [], []
    for bank in load(given.data, ("musique", "2wiki")):
        answers = run(replace(bank, queries=bank.queries[: given.limit]), embedder=embedder)
        by_list = {name: score(bank, answers, MEASURES, arm=name) for name in LISTS}
        for split in SPLITS:
            rows: list[dict[str, Cell]] = []
            for name, scored in by_list.items():
                part = scored.where(split)
                for category in (None, *part.categories):
                    chosen = part.where(category=category)
                    row: dict[str, Cell] = {"list": name, "questions": category or "all"}
                    row["n"] = len(chosen.queries)
                    rows.append(row | {m: bootstrap(chosen.values[m]) for m in MEASURES})
            sections.append(Section(f"{bank.dataset}, {split}", rows, plot="R@5"))
        share = bootstrap([beyond(answer) for answer in answers if answer.query.evidence])
        remarks.append(f"{bank.dataset}: evidence that only the graph arm brings: {share}")
    keep(
        Table("multihop", __doc__.split("\n\n")[1].replace("\n", " "), sections, remarks),
        given.json,
    )


def beyond(answer: Answer) -> float:
    """Return the share of the evidence that the graph arm finds and no other arm does."""
    others: set[str] = set()
    for arm, ids in answer.arms.items():
        if arm != "graph":
            others |= set(ids)
    alone = set(answer.arms["graph"]) - others
    return len(alone & answer.query.evidence) / len(answer.query.evidence)


if __name__ == "__main__":
    main()
