"""Where a graph serves: exact recalls to the bit, the others nearly the same memories."""

import shutil
from datetime import UTC, datetime

import numpy as np
import pytest

import recollex
from recollex_engine.models.embedder import GivenVectors
from recollex_engine.ranking import arms
from recollex_engine.state.hnsw import Hnsw
from recollex_engine.writing import checkpoint
from recollex_engine.writing import checkpoint as graphs

DIMENSION = 32
CLUSTERS = 80
NOW = datetime(2024, 5, 1, tzinfo=UTC)


def clustered(random, count, centres):
    """Vectors around ``centres``, every seventh one said before."""
    vectors = centres[random.integers(0, len(centres), count)]
    vectors = vectors + 0.6 * random.standard_normal((count, DIMENSION)) / np.sqrt(DIMENSION)
    vectors[6::7] = vectors[: len(vectors[6::7])]
    return vectors


@pytest.fixture
def open_store(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SEGMENT_ROWS", 1024)
    monkeypatch.setattr(graphs, "GRAPH_ROWS", 300)
    monkeypatch.setattr(graphs, "GRAPH_MOST", 1024)
    monkeypatch.setattr(graphs, "GRAPH_STEP", 200)
    monkeypatch.setattr(arms, "COMPARED", 1)
    opened = []
    search = Hnsw.search

    def counted(self, *arguments, **options):
        open_store.searches += 1
        return search(self, *arguments, **options)

    monkeypatch.setattr(Hnsw, "search", counted)

    def open_store(folder, **options):
        store = recollex.open(
            folder, embedder=GivenVectors(DIMENSION), clock=lambda: NOW, **options
        )
        opened.append(store)
        return store

    open_store.searches = 0
    yield open_store
    for store in opened:
        store.close()


def asked(agent, queries, exact, **options):
    return [
        agent.recall(
            f"memory {place} of Ann", query_embedding=vector, exact=exact, explain=True, **options
        )
        for place, vector in enumerate(queries)
    ]


def said(recalls):
    assert all(not recall.trace.errors for recall in recalls)
    return [(recall.op, recall.tokens, list(recall)) for recall in recalls]


def overlap(recalls, expected):
    """The share of the expected memories that were found, over all recalls."""
    found = sum(len(set(a.ids) & set(b.ids)) for a, b in zip(recalls, expected, strict=True))
    return found / sum(len(recall) for recall in expected)


def test_graphs_change_nothing_of_exact_recalls_and_little_of_others(tmp_path, open_store):
    random = np.random.default_rng(7)
    centres = random.standard_normal((CLUSTERS, DIMENSION))
    centres /= np.linalg.norm(centres, axis=1)[:, None]
    folder = tmp_path / "store"
    store = open_store(folder, durability="off")
    agent = store.agent("a")
    queries = clustered(random, 40, centres)
    for step in range(10):
        vectors = clustered(random, 300, centres)
        texts = [f"memory {n} of {('Ann', 'Ben', 'Oslo')[n % 3]}" for n in range(300)]
        ids = agent.retain_many(texts, embedding=vectors, tags=["odd" if step % 2 else "even"])
        agent.forget(ids[int(random.integers(300))])
        if step % 2:
            agent.checkpoint()
        if step == 5:
            moment = agent.log()[-1].recorded_at
            known = said(asked(agent, queries, True, now=moment))
        if step == 6:
            reader = open_store(folder, read_only=True).agent("a")  # has graphs of fewer rows
            reader.recall("memory", query_embedding=queries[0])
    graph_ends = [graph.end_row for graph in agent.engine.view().indexes.graphs]
    assert len(graph_ends) == 3
    agent.retain_many(["a tail of Ann"] * 60, embedding=clustered(random, 60, centres))

    # Another folder with the same log and vectors, whose rows no index covers.
    bare = tmp_path / "bare" / "agents" / "a"
    shutil.copytree(
        folder / "agents" / "a",
        bare,
        ignore=shutil.ignore_patterns("columns", "segment-*", "graphs", "MANIFEST", "LOCK"),
    )
    shutil.copy(folder / "store.json", tmp_path / "bare")
    scanned = open_store(tmp_path / "bare", read_only=True).agent("a")
    assert not scanned.engine.view().segments

    for other in (agent, reader, scanned):  # the past is scanned, whatever graphs there are
        open_store.searches = 0
        assert said(asked(other, queries, False, as_recorded=moment)) == known
        assert not open_store.searches

    for options in ({}, {"tags": ["odd"]}, {"thinking_budget": 10}):
        expected = asked(scanned, queries, True, **options)
        assert sum(len(recall) for recall in expected) > 1000 / (1 + 3 * len(options))
        assert said(asked(scanned, queries, False, **options)) == said(expected)
        for other in (agent, reader):
            open_store.searches = 0
            assert said(asked(other, queries, True, **options)) == said(expected)
            assert not open_store.searches
            assert overlap(asked(other, queries, False, **options), expected) >= 0.98

        assert open_store.searches == len(queries) * len(other.engine.view().indexes.graphs)

    expected = asked(scanned, queries, True)
    store.close()
    store = open_store(folder)
    assert said(asked(store.agent("a"), queries, True)) == said(expected)
    assert overlap(asked(store.agent("a"), queries, False), expected) >= 0.98
    assert store.agent("a").verify().problems == ()
    store.close()

    for derived in ("columns", "graphs", "segment-0000", "segment-0001", "segment-0002"):
        shutil.rmtree(folder / "agents" / "a" / derived)
    with pytest.warns(RuntimeWarning, match="rebuilding"):
        store = open_store(folder)
        assert said(asked(store.agent("a"), queries, True)) == said(expected)
    store.agent("a").checkpoint()  # in one go, so with other graphs
    assert len(store.agent("a").engine.view().indexes.graphs) == 3
    assert said(asked(store.agent("a"), queries, True)) == said(expected)
    assert overlap(asked(store.agent("a"), queries, False), expected) >= 0.98
    assert said(asked(reader, queries, True)) == said(expected)


def test_a_checkpoint_keeps_a_graph_that_is_being_written(tmp_path):
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
        alice = store.agent("alice")
        alice.retain("Ann moved to Rome.", embedding=np.eye(8)[0])
        graphs = tmp_path / "agents" / "alice" / "graphs"
        graphs.mkdir()
        old = graphs / "hnsw-0-1"
        written = [graphs / "hnsw-0-2.building", graphs / "hnsw-0-2.building.tmp"]
        for path in (old, *written):
            path.touch()
        alice.checkpoint()
        assert sorted(graphs.iterdir()) == written
