"""How many processors build a graph: all while a caller waits for it, else all but one."""

import numpy as np

import recollex
from recollex_engine.writing import checkpoint as graphs
from recollex_engine.writing import maintenance


def test_all_processors_build_the_graph_that_a_caller_waits_for(tmp_path, monkeypatch):
    monkeypatch.setattr(graphs, "GRAPH_ROWS", 300)
    monkeypatch.setattr(graphs, "GRAPH_STEP", 200)
    monkeypatch.setattr(maintenance, "processors", lambda: 4)
    allowed = []
    extend = graphs.extend_graph

    def recorded(path, before, codes, first_row, threads):
        allowed.append(threads())
        return extend(path, before, codes, first_row, threads)

    monkeypatch.setattr(graphs, "extend_graph", recorded)
    vectors = np.random.default_rng(1).normal(size=(800, 32)).astype(np.float32)
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(32, links=False)) as store:
        agent = store.agent("a")
        for first in (0, 400):
            agent.retain_many(
                [f"m{first + n}" for n in range(400)], embedding=vectors[first : first + 400]
            )
            agent.checkpoint()
        assert allowed == [4, 4]
        building = agent.engine.files.maintenance
        assert building._threads() == 3
        with building.paused():
            assert building._threads() == 0
