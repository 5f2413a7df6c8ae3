"""How good are the answers? Measures over the answers of a bank, and over a set's banks."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.datasets.bank import Bank, Query, Split, Unit
from bench.tables.lib.evaluation import Answer
from bench.tables.lib.metrics import documents, measure

FUSED = "fused"
"""The name of the list that a recall returns, beside the lists of its arms."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Values of measures on the same queries: measure -> float64[queries]."""

    queries: tuple[Query, ...]
    values: Mapping[str, NDArray[np.float64]]

    def where(self, split: Split | None = None, category: str | None = None) -> "Scored":
        """Return the part of one split, of one category, or of both."""
        chosen = [
            place
            for place, query in enumerate(self.queries)
            if (split is None or query.split == split)
            and (category is None or query.category == category)
        ]
        return Scored(
            tuple(self.queries[place] for place in chosen),
            {name: values[chosen] for name, values in self.values.items()},
        )

    @property
    def categories(self) -> list[str]:
        """The queries' categories, the largest first, ties by name."""
        names = [query.category for query in self.queries]
        return sorted(set(names), key=lambda name: (-names.count(name), name))


def score(
    bank: Bank,
    answers: Iterable[Answer],
    measures: Sequence[str],
    *,
    arm: str = FUSED,
    unit: Unit | None = None,
) -> Scored:
    """Return the measures of one list of each answer whose query has evidence, in order.

    arm: the arm of the list; the fused list by default. unit: what is counted, the bank's own unit
    by default. "document" on a bank whose evidence is turns counts the documents of these turns.
    """
    functions = {name: measure(name) for name in measures}
    document_of = bank.document_of
    by_document = (unit or bank.unit) == "document"
    queries, rows = [], []
    for answer in answers:
        if not answer.query.evidence:
            continue
        found: Sequence[str] = answer.ids if arm == FUSED else answer.arms.get(arm, ())
        evidence: Collection[str] = answer.query.evidence
        if by_document:
            found = documents(found, document_of)
            if bank.unit == "turn":
                evidence = {document_of[id] for id in evidence}
        queries.append(answer.query)
        rows.append([function(found, evidence) for function in functions.values()])
    return _scored(queries, rows, measures)


def pooled(parts: Iterable[Scored]) -> Scored:
    """Return the values of several banks as one; a mean over it is a mean over queries."""
    parts = list(parts)
    return Scored(
        tuple(query for part in parts for query in part.queries),
        {
            name: np.concatenate([part.values[name] for part in parts])
            for name in (parts[0].values if parts else ())
        },
    )


def _scored(queries: list[Query], rows: list[list[float]], measures: Sequence[str]) -> Scored:
    table = np.array(rows, np.float64).reshape(len(queries), len(measures))
    return Scored(tuple(queries), {name: table[:, n] for n, name in enumerate(measures)})
