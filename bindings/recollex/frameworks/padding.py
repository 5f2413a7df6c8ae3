"""Vectors of any length, padded with zeros to one that a store takes: no similarity changes."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

BLOCK = 8
"""A store's dimension is a multiple of this."""


def padded(vectors: Sequence[Sequence[float]]) -> npt.NDArray[np.float32]:
    """Return float32[n, m], where m is the next multiple of 8 of the vectors' length.

    >>> padded([[1.0, 2.0]]).tolist()
    [[1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    """
    given = np.asarray(vectors, np.float32)
    return np.pad(given, ((0, 0), (0, -given.shape[1] % BLOCK)))
