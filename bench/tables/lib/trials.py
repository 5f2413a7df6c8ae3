"""How good is each configuration on a set? The answers are scored bank by bank."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bench.datasets.bank import Bank, Split, Unit
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import Asking, Read, run_all
from bench.tables.lib.metrics import Interval, bootstrap
from bench.tables.lib.report import Cell
from bench.tables.lib.scoring import Scored, pooled, score
from bench.tables.lib.words import COLUMN, count_words, lengths, words_found, words_of_evidence

Item = TypeVar("Item")
SPLITS: tuple[Split, ...] = ("dev", "report")


@dataclass(frozen=True, slots=True)
class Trial:
    """One configuration's answers over the banks of a set, for queries with evidence.

    scored: their measures. micros: float64[queries], the time of each recall with the query's
    vector given. reads: what the caller's function returned for each recall, in the same order.
    found: the words of each of the first ten, a tuple a query; gold: of each memory that is
    evidence.
    """

    scored: Scored
    micros: NDArray[np.float64]
    reads: tuple[Any, ...]
    found: tuple[tuple[int, ...], ...]
    gold: tuple[tuple[int, ...], ...]

    def where(self, split: Split | None = None, category: str | None = None) -> "Trial":
        """Return the part of one split, of one category, or of both."""
        chosen = [
            place
            for place, query in enumerate(self.scored.queries)
            if (split is None or query.split == split)
            and (category is None or query.category == category)
        ]
        return Trial(
            self.scored.where(split, category),
            self.micros[chosen],
            tuple(self.reads[place] for place in chosen),
            tuple(self.found[place] for place in chosen),
            tuple(self.gold[place] for place in chosen),
        )

    @property
    def p50(self) -> float:
        """The median of a recall, in milliseconds, to two digits."""
        return round(float(np.median(self.micros)) / 1000, 2) if len(self.micros) else 0.0

    def intervals(self, measures: Sequence[str]) -> dict[str, Cell]:
        """Return the mean of each measure with its interval, and how long the first ten are."""
        means: dict[str, Cell] = {name: self.mean(name) for name in measures}
        return means | {COLUMN: lengths(self.found, self.gold)}

    def mean(self, measure: str) -> Interval:
        """Return one measure's mean with its interval."""
        return bootstrap(self.scored.values[measure])


def trials(
    banks: Sequence[Bank],
    configurations: Mapping[str, Asking],
    embedder: KeptVectors,
    measures: Sequence[str],
    *,
    unit: Unit | None = None,
    read: Read | None = None,
    limit: int | None = None,
) -> dict[str, Trial]:
    """Return one trial for each configuration; a bank is retained once and asked under each.

    limit: the number of queries asked of each bank.
    """
    parts: dict[str, list[Trial]] = {name: [] for name in configurations}
    for bank in banks:
        asked = replace(bank, queries=bank.queries[:limit])
        words = {turn["id"]: count_words(turn["text"]) for turn in bank.turns}
        found = run_all(asked, configurations, embedder, read, lists=False)
        for name, answers in found.items():
            proved = [answer for answer in answers if answer.query.evidence]
            parts[name].append(
                Trial(
                    score(bank, proved, measures, unit=unit),
                    np.array([answer.micros for answer in proved]),
                    tuple(answer.read for answer in proved),
                    tuple(words_found(answer.ids, words) for answer in proved),
                    tuple(words_of_evidence(bank, answer.query, words) for answer in proved),
                )
            )
    return {name: together(of) for name, of in parts.items()}


def together(parts: Sequence[Trial]) -> Trial:
    """Return the trials of several banks as one; a mean over it is a mean over queries."""
    return Trial(
        pooled(part.scored for part in parts),
        np.concatenate([part.micros for part in parts]),
        tuple(read for part in parts for read in part.reads),
        tuple(words for part in parts for words in part.found),
        tuple(words for part in parts for words in part.gold),
    )


def by_set(banks: Sequence[Bank]) -> dict[str, list[Bank]]:
    """Return the banks of each set, in their order."""
    found: dict[str, list[Bank]] = {}
    for bank in banks:
        found.setdefault(bank.dataset, []).append(bank)
    return found


def spread(items: Sequence[Item], most: int) -> list[Item]:
    """Return at most so many of the items, evenly spread."""
    count = min(most, len(items))
    return [items[place * len(items) // count] for place in range(count)]


def sampled(banks: Sequence[Bank], most: int) -> list[Bank]:
    """Return the banks of one set with at most so many of the queries of each half.

    They are evenly spread over those with evidence. A bank of which none is asked is left out.
    """
    proved = [query for bank in banks for query in bank.queries if query.evidence]
    chosen = {
        query.id
        for split in ("dev", "report")
        for query in spread([one for one in proved if one.split == split], most)
    }
    made = []
    for bank in banks:
        asked = tuple(query for query in bank.queries if query.id in chosen and query.evidence)
        if asked:
            made.append(replace(bank, queries=asked))
    return made


def claim_of(docstring: str | None) -> str:
    """Return what a script claims: the second paragraph of its docstring, in one line."""
    assert docstring is not None
    return " ".join(docstring.split("\n\n")[1].split())
