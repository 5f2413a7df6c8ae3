"""The candidates of queries, one list after another, as a fit of weights sees them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Lists:
    """The queries of one set, for a fit.

    x: float32[n, F], the candidates of one query after another. right: float32[n], for each
    candidate its share of the query's evidence, 0 for the others. units: int32[n], what each counts
    as, itself or its document. sizes, evidence: int64[Q], candidates of each query, at least 1, and
    units that prove its answer, found or not.
    """

    x: Matrix
    right: NDArray[np.float32]
    units: NDArray[np.int32]
    sizes: NDArray[np.int64]
    evidence: NDArray[np.int64]


Query = tuple[Matrix, NDArray[np.bool_], NDArray[np.int32], int]
"""The features of a query's candidates, which are evidence, their units, how much evidence."""


def lists(queries: Sequence[Query]) -> Lists:
    """Return the lists of queries.

    A query none of whose candidates is evidence says nothing and is left out.
    """
    useful = [query for query in queries if query[1].any()]
    if not useful:
        nothing, numbers = np.empty(0, np.float32), np.empty(0, np.int64)
        return Lists(nothing[:, None], nothing, np.empty(0, np.int32), numbers, numbers)
    return Lists(
        np.concatenate([x for x, *_ in useful]).astype(np.float32),
        np.concatenate([e / e.sum() for _, e, *_ in useful]).astype(np.float32),
        np.concatenate([units for _, _, units, _ in useful]).astype(np.int32),
        np.array([len(e) for _, e, *_ in useful], np.int64),
        np.array([count for *_, count in useful], np.int64),
    )
