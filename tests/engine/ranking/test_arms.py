"""The temporal arm, where a range has no beginning; the semantic arm over few rows."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

import recollex
from recollex import presets
from recollex_engine.ranking.arm_table import ARMS
from recollex_engine.ranking.arms import scan
from recollex_engine.state.columns import CODED_FROM
from recollex_engine.state.view import View
from tests.kernels.inputs import read_only


def test_before_a_year_ranks_by_the_middle_of_what_the_agent_knows(tmp_path):
    """With the middle of year 1 to 2020 the oldest memory came first, whatever else there was."""
    vector = np.ones(16)
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(16)) as store:
        agent = store.agent("a")
        years = [2001, 2010, 2019, 2021]
        agent.retain_many(
            [f"In that year {n} birds came." for n in years],
            id=[str(year) for year in years],
            event_at=[datetime(year, 7, 1, tzinfo=UTC) for year in years],
            embedding=np.tile(vector, (4, 1)),
        )
        dated = replace(presets.default, arms=tuple(ARMS))
        recall = agent.recall(
            "Which birds came before 2020?", query_embedding=vector, preset=dated, explain=True
        )
        ranks = {memory.id: memory.ranks.get("temporal") for memory in recall}
        assert not recall.trace.errors
        assert ranks["2010"] == 1 and ranks["2021"] is None
        assert {ranks["2001"], ranks["2019"]} == {2, 3}


def test_few_rows_are_ranked_alike_with_their_codes_and_without(tmp_path):
    count = CODED_FROM - 1
    random = np.random.default_rng(4)
    vectors = random.standard_normal((count, 16))[random.integers(0, count // 2, count)]  # ties
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(16, links=False)) as store:
        agent = store.agent("a")
        agent.retain_many([f"memory {n}" for n in range(count)], embedding=vectors)
        replica = agent.engine.replica()
        plain = replica.view()
        assert not plain.is_coded
        replica.columns.code_rows(replica.rows_of_file, needed=True)
        coded = View(replica.columns, plain.op, plain.indexes, plain.vectors, plain.timeline)
        assert coded.is_coded
        for floor, budget, share in ((-1.0, 300, 1.0), (0.2, 20, 0.5), (0.9, 3, 0.9), (0.0, 5, 0)):
            query = random.standard_normal(16).astype(np.float32)
            query = read_only(query / np.linalg.norm(query))
            allowed = (random.random(count) < share).astype(np.uint8)
            asked = (20, count - 7, query, allowed, floor, budget)
            one, other = scan(plain, *asked), scan(coded, *asked)
            assert len(one.memories) == len(other.memories)
            for name in ("memories", "rows", "scores"):
                assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
        agent.retain("one more", embedding=vectors[0])
        assert replica.view().is_coded
        assert store.agent("a").verify().ok
