"""The temporal arm, where a range has no beginning."""

from datetime import UTC, datetime

import numpy as np

import recollex


def test_before_a_year_ranks_by_the_middle_of_what_the_agent_knows(tmp_path):
    """With the middle of year 1 to 2020 the oldest memory came first, whatever else there was."""
    vector = np.ones(16)
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(16)) as store:
        agent = store.agent("a")
        years = [2001, 2010, 2019, 2021]
        agent.retain(
            [f"In that year {n} birds came." for n in years],
            id=[str(year) for year in years],
            event_at=[datetime(year, 7, 1, tzinfo=UTC) for year in years],
            embedding=np.tile(vector, (4, 1)),
        )
        recall = agent.recall("Which birds came before 2020?", query_embedding=vector, explain=True)
        ranks = {memory.id: memory.ranks.get("temporal") for memory in recall}
        assert not recall.trace.errors
        assert ranks["2010"] == 1 and ranks["2021"] is None
        assert {ranks["2001"], ranks["2019"]} == {2, 3}
