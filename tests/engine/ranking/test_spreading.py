from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import recollex
from recollex import presets
from recollex_engine.errors import InputError

CHAIN = [["Ann", "Bo"], ["Bo", "Cy"], ["Cy", "Di"], ["Di", "Ed"], ["Ed", "Flo"]]
DIMENSION = 8
TWO_HOPS = presets.Spreading(decay=0.03, threshold=0.00005, from_one=True, rare_entities=False)


@pytest.mark.parametrize(
    ("spreading", "reached"), [(TWO_HOPS, 3), (presets.Spreading(rare_entities=False), 5)]
)
def test_a_strong_fading_counts_hops(tmp_path, spreading, reached):
    start = datetime(2024, 1, 1, tzinfo=UTC)
    vectors = np.eye(len(CHAIN), DIMENSION, dtype=np.float32)
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(DIMENSION)) as store:
        agent = store.agent("a")
        ids = agent.retain_many(
            [f"this is memory {n}" for n in range(len(CHAIN))],
            entities=CHAIN,
            event_at=[start + timedelta(days=30 * n) for n in range(len(CHAIN))],
            embedding=vectors,
        )
        preset = replace(presets.tempr, arms=("graph",), spreading=spreading)
        found = agent.recall("whatever", query_embedding=vectors[0], preset=preset)
    assert [memory.id for memory in found] == ids[:reached]


def test_the_threshold_is_bounded():
    with pytest.raises(InputError, match="threshold"):
        presets.Spreading(threshold=0.0)
