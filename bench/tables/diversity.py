"""What do MMR and collapsing cost, and do they make a list less like itself?

Claim: MMR with lambda 0.5 (Memora 3.4) spreads the list and loses evidence, so the default does
without it; collapsing repetitions loses none.

Command: python -m bench.tables.diversity --data FOLDER [--json FILE] [--limit N] [--sets NAME ...]

Check: every row's stage is applied to the same default list. Intra-list similarity is the mean
cosine of the pairs among the first ten, by the vectors of their best passages. Differences are
paired bootstraps against no stage.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

import recollex
from bench.datasets import LOADERS, load
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import Asking
from bench.tables.lib.metrics import bootstrap, paired
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.trials import SPLITS, by_set, claim_of, trials
from recollex import presets

MEASURES = ("R@10", "NDCG@10", "R@20")
NONE = "none (default)"
STAGES = {
    "MMR .5": presets.Diversity(),
    "MMR .8": presets.Diversity(balance=0.8),
    "MMR .95": presets.Diversity(balance=0.95),
    "collapse": presets.Diversity(balance=None, collapse=True),
    "collapse of cosine .95": presets.Diversity(balance=None, collapse=True, threshold=0.95),
    "MMR .5 + collapse": presets.Diversity(collapse=True),
}
ASKED: Mapping[str, Asking] = {
    NONE: {},
    **{
        name: {"preset": replace(presets.default, diversity=stage)}
        for name, stage in STAGES.items()
    },
}


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=LOADERS, default=list(LOADERS))
    given = parser.parse_args()
    embedder = KeptVectors()
    sections = []
    for dataset, banks in by_set(load(given.data, given.sets)).items():
        read = likeness(embedder)
        found = trials(banks, ASKED, embedder, MEASURES, read=read, limit=given.limit)
        for split in SPLITS:
            rows: list[dict[str, Cell]] = []
            base = found[NONE].where(split)
            if not len(base.scored.queries):
                continue
            for name, trial in found.items():
                part = trial.where(split)
                row: dict[str, Cell] = {"stage": name} | part.intervals(MEASURES)
                for measure in MEASURES[:2] if name != NONE else ():
                    ours, theirs = part.scored.values[measure], base.scored.values[measure]
                    row[f"{measure} added"] = paired(ours, theirs)
                row["similarity of 10"] = bootstrap([like for like, _ in part.reads])
                row["folded, of 10"] = bootstrap([folded for _, folded in part.reads])
                rows.append(row)
            sections.append(Section(f"{dataset}, {split}", rows, plot="NDCG@10"))
    keep(Table("diversity", claim_of(__doc__), sections), given.json)


def likeness(embedder: KeptVectors) -> Callable[[recollex.Recall], tuple[float, float]]:
    """Return a reader of the first ten: their mean cosine, and how many repetitions they fold."""

    def read(recall: recollex.Recall) -> tuple[float, float]:
        first = recall[:10]
        if len(first) < 2:
            return 0.0, 0.0
        vectors = embedder.embed([embedded(memory) for memory in first])
        pairs = np.triu_indices(len(first), 1)
        folded = float(sum(len(memory.collapsed) for memory in first))
        return float((vectors @ vectors.T)[pairs].mean()), folded

    return read


def embedded(memory: recollex.Memory) -> str:
    """Return a memory's best passage as it was embedded when it was retained."""
    if memory.speaker is None:
        return memory.passage
    return f"{memory.speaker} said: {memory.passage.removeprefix(f'{memory.speaker}: ')}"


if __name__ == "__main__":
    main()
