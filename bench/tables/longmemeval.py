"""Are the sessions found that hold the answer? LongMemEval, where its file is at hand.

Claim: none yet: the haystacks are not redistributed here, and this row says "not run" until the
file is there.

Command: python -m bench.tables.longmemeval --data FOLDER [--json FILE] [--limit N]
(FOLDER/longmemeval/ holds longmemeval_s_cleaned.json of github.com/xiaowu0162/LongMemEval.)

Check: R@k and NDCG@10 over sessions, each ranked by its best turn, as the benchmark scores
retrieval. Abstention questions are left out, as in the benchmark.
"""

from collections.abc import Sequence

from bench.datasets import load
from bench.datasets.bank import Bank
from bench.datasets.longmemeval import FILES, find
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import run
from bench.tables.lib.metrics import bootstrap
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.scoring import FUSED, Scored, pooled, score

MEASURES = ("R@5", "R@10", "All@5", "All@10", "NDCG@5", "NDCG@10")
LISTS = (FUSED, "semantic", "keyword", "graph", "temporal")


def main() -> None:
    given = arguments(__doc__.splitlines()[0]).parse_args()
    claim = "Sessions that hold the answer, found among those of a haystack."
    if find(given.data) is None:
        remark = f"not run: none of {', '.join(FILES)} in the data's folder longmemeval"
        keep(Table("longmemeval", claim, [not_run()], [remark]), given.json)
        return
    banks = load(given.data, ("longmemeval",))[: given.limit]
    keep(Table("longmemeval", claim, table(banks, KeptVectors())), given.json)


def not_run() -> Section:
    return Section("longmemeval", [{"list": name, "R@10": "not run"} for name in LISTS])


def table(banks: Sequence[Bank], embedder: KeptVectors) -> list[Section]:
    """Return the sections: all questions, and each type. A bank has one question."""
    chosen = [bank for bank in banks if all(query.answerable for query in bank.queries)]
    parts: dict[str, list[Scored]] = {name: [] for name in LISTS}
    for bank in chosen:
        answers = run(bank, embedder=embedder)
        for name, scores in parts.items():
            scores.append(score(bank, answers, MEASURES, arm=name))
    by_list = {name: pooled(scores) for name, scores in parts.items()}
    sections = []
    for category in (None, *by_list[FUSED].categories):
        rows: list[dict[str, Cell]] = []
        for name, scored in by_list.items():
            part = scored.where(category=category)
            row: dict[str, Cell] = {"list": name, "questions": len(part.queries)}
            rows.append(row | {m: bootstrap(part.values[m]) for m in MEASURES})
        sections.append(Section(category or "all questions", rows, plot="R@10"))
    return sections


if __name__ == "__main__":
    main()
