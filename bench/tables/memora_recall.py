"""Memora 7.1 beside ours: Recall@20 of four-way retrieval, Precision@5 of its rerankers.

Claim: over evidence, no configuration comes near the paper's >95 % and 85 to 90 %, which it gives
without saying over which questions and judgements. Precision@5 cannot: few questions have five
pieces of evidence, so the row "ceiling" is what a perfect ranking has.

Command: python -m bench.tables.memora_recall --data FOLDER [--sets SET ...] [--json FILE]
[--limit N]

Check: R@20 is the share of a question's evidence among the first 20 memories, P@5 the share of
evidence among the first 5. "four-way" is the fused list of the preset `memora`, without reranker
and MMR. The cross-encoder's row is not run where its weights are missing.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bench.datasets import CASES, LOADERS, load
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import Asking
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.trials import SPLITS, Trial, by_set, claim_of, trials
from recollex import presets

SETS = ("locomo", "realmem", "lifebench")
MEASURES = ("R@20", "P@5")
PRINTED = (
    {"list": "Memora 7.1: 4-way retrieval", "R@20": "> .95"},
    {"list": "Memora 7.1: heuristic", "P@5": ".85"},
    {"list": "Memora 7.1: cross-encoder", "P@5": ".90"},
)
"""The paper's "preliminary results (internal testing)"."""
MEMORA = presets.memora
JUDGE = presets.CrossEncoderReranker(optional=True)
LISTS: Mapping[str, Asking] = {
    "four-way": {"preset": replace(MEMORA, reranker=None, diversity=None)},
    "four-way, heuristic as printed": {"preset": replace(MEMORA, diversity=None)},
    "memora: heuristic as printed, MMR": {"preset": MEMORA},
    "four-way, heuristic corrected": {
        "preset": replace(MEMORA, reranker=presets.Heuristic(), diversity=None)
    },
    "default": {"preset": presets.default},
}


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    known = (*LOADERS, *CASES)
    parser.add_argument("--sets", nargs="+", choices=known, default=list(SETS))
    given = parser.parse_args()
    asked = dict(LISTS)
    if JUDGE.available:
        asked["four-way, cross-encoder"] = {
            "preset": replace(MEMORA, reranker=JUDGE, diversity=None)
        }
    embedder = KeptVectors()
    sections = []
    for dataset, banks in by_set(load(given.data, given.sets)).items():
        found = trials(banks, asked, embedder, MEASURES, limit=given.limit)
        for split in SPLITS:
            part = {name: trial.where(split) for name, trial in found.items()}
            if len(part["default"].scored.queries):
                sections.append(Section(f"{dataset}, {split}", rows(part), plot="R@20"))
    keep(Table("memora_recall", claim_of(__doc__), sections), given.json)


def rows(part: Mapping[str, Trial]) -> list[dict[str, Cell]]:
    """Return the paper's rows, the ceiling, and ours."""
    found: list[dict[str, Cell]] = [dict(each) for each in PRINTED]
    queries = part["default"].scored.queries
    most = np.mean([min(5, len(q.evidence)) / 5 for q in queries])
    reach = np.mean([min(20, len(q.evidence)) / len(q.evidence) for q in queries])
    found.append(
        {"list": "ceiling", "questions": len(queries), "R@20": float(reach), "P@5": float(most)}
    )
    for name, trial in part.items():
        row: dict[str, Cell] = {"list": name, "questions": len(queries)}
        found.append(row | {measure: trial.mean(measure) for measure in MEASURES})
    if not JUDGE.available:
        missing = "not run: its weights are not on this machine"
        found.append({"list": "four-way, cross-encoder", "R@20": missing, "P@5": missing})
    return found


if __name__ == "__main__":
    main()
