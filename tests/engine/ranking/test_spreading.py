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
        presets.Spreading(threshold=-0.1)
    assert presets.Spreading(threshold=0.0).threshold == 0  # Memora prints none
    with pytest.raises(InputError, match="hub"):
        presets.Spreading(hub=0)


@pytest.mark.parametrize(("hub", "found"), [(3, 4), (None, 9)])
def test_an_entity_leads_to_all_its_memories_where_asked(tmp_path, hub, found):
    start = datetime(2024, 1, 1, tzinfo=UTC)
    vectors = np.eye(DIMENSION, dtype=np.float32)[[0, *[1] * 8]]
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(DIMENSION)) as store:
        agent = store.agent("a")
        agent.retain_many(
            [f"this is memory {n}" for n in range(9)],
            entities=[["Ann"]] * 9,
            event_at=[start + timedelta(days=30 * n) for n in range(9)],
            embedding=vectors,
        )
        spreading = presets.Spreading(rare_entities=False, decay=0.12, hub=hub)
        preset = replace(presets.tempr, arms=("graph",), spreading=spreading)
        recall = agent.recall("whatever", query_embedding=vectors[0], preset=preset)
    assert len(recall) == found


@pytest.mark.parametrize(("threshold", "reached"), [(0.1, 4), (0.0, 12)])
def test_without_a_threshold_activation_goes_as_far_as_the_links(tmp_path, threshold, reached):
    start = datetime(2024, 1, 1, tzinfo=UTC)
    chain = [[f"Q{n}", f"Q{n + 1}"] for n in range(12)]
    vectors = np.eye(16, dtype=np.float32)[:12]
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(16)) as store:
        agent = store.agent("a")
        agent.retain_many(
            [f"this is memory {n}" for n in range(12)],
            entities=chain,
            event_at=[start + timedelta(days=30 * n) for n in range(12)],
            embedding=vectors,
        )
        spreading = presets.Spreading(rare_entities=False, decay=0.5, threshold=threshold)
        preset = replace(presets.memora, arms=("graph",), spreading=spreading, diversity=None)
        recall = agent.recall("whatever", query_embedding=vectors[0], preset=preset)
    assert len(recall) == reached
