"""A memory counts more if facts that share words with the question cite it."""

import numpy as np

from recollex_engine.ranking.fusion import Cited, Fused
from recollex_engine.ranking.reordered_parts import reordered

CITED = "cited"
"""The name of the part of the score that facts add to the memories that they cite."""


def raise_cited(fused: Fused, cited: Cited, weight: float) -> Fused:
    """Return ``fused`` with ``weight`` times its share more for each memory that facts cite.

    Ties: as they stood. Cost: 20 us.
    """
    order = np.argsort(cited[0])
    memories = cited[0][order]
    shares = cited[1][order]
    places = np.minimum(np.searchsorted(memories, fused.memories), len(memories) - 1)
    added = np.where(memories[places] == fused.memories, shares[places], np.float32(0))
    scores = fused.scores + weight * added.astype(np.float64)
    return reordered(fused, np.argsort(-scores, kind="stable"), scores, CITED)
