"""Surfaces are found by words alone: without vectors, and by posting lists as by chains."""

import random

import pytest

import recollex
from recollex_engine.facts import surface_arms
from recollex_engine.facts.surface_search import search_surfaces
from recollex_engine.models.description import PAPER_THRESHOLDS
from recollex_engine.state import postings, surfaces
from tests.bindings.word_vectors import WordVectors


@pytest.fixture
def alice(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        yield store.agent("alice")


def test_a_fact_that_is_not_embedded_is_found_by_its_words(alice):
    told = [(f"E{number}", f"R{number % 7}", f"E{number + 1}") for number in range(40)]
    for place, triple in enumerate(told):
        alice.facts.add(*triple, id=str(place), embed=place % 3 == 0)
    surfaces = alice.engine.facts().columns.surfaces
    kinds, versions = surfaces.array("kind"), surfaces.array("version")
    held = surfaces.with_vectors(surfaces.rows)
    assert versions[held[kinds[held] == 0]].tolist() == list(range(0, 40, 3))
    assert alice.facts.search("E12 R5 E13", limit=1)[0].item.id == "12"
    hit = alice.facts.search("E10 R3 E11", limit=1)[0]
    assert hit.item.id == "10" and list(hit.ranks) == ["keyword"]
    near = alice.tools.semantic_retrieve("E12 R5 E13", limit=40)
    assert near.facts[0].id == "12"
    assert {int(fact.id) % 3 for fact in near.facts} == {0}
    alice.checkpoint()
    assert alice.verify().ok


def test_a_store_of_facts_without_vectors_holds_no_vector(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        for name, embed in (("with", True), ("without", False)):
            agent = store.agent(name)
            with agent.transaction() as tx:
                for number in range(200):
                    tx.facts.add(f"E{number}", "knows", f"E{number + 1}", embed=embed)
            agent.checkpoint()
        sizes = [store.agent(name).stats().bytes_on_disk for name in ("with", "without")]
        vectors = store.agent("without").engine.facts().columns.column["surface_vector"]
        assert vectors.count == 0 and sizes[0] - sizes[1] > 200 * 64 * 3  # column, codes, log
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        assert store.agent("without").facts.search("E0 knows", limit=1)[0].item.object == "E1"


def test_posting_lists_find_what_chains_find(tmp_path, monkeypatch):
    rng = random.Random(5)
    told = [(f"E{rng.randrange(9)}", f"R{rng.randrange(4)}", f"E{rng.randrange(9)}")
            for _ in range(150)]  # fmt: skip
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        listed, chained = store.agent("listed"), store.agent("chained")
        for place, triple in enumerate(told):
            for agent in (listed, chained):
                agent.facts.add(*triple, id=str(place), embed=place % 2 == 0)
                if place % 5 == 4:
                    agent.facts.archive(str(place - 3))
            if place % 10 < 9:
                continue
            for query in ("E1 R2 E3", "R0", "E8 unheard", "E4 E5 R1 R3"):
                expected = chained.facts.search(query, limit=7)
                words = chained.tools.lexical_retrieve(query, limit=7)
                with monkeypatch.context() as patch:
                    patch.setattr(surfaces, "UNLISTED", 12)
                    patch.setattr(surfaces, "SEGMENT", 32)
                    found = listed.facts.search(query, limit=7)
                    lists = listed.tools.lexical_retrieve(query, limit=7)
                assert [(hit.item.id, hit.ranks) for hit in found] == [
                    (hit.item.id, hit.ranks) for hit in expected
                ]
                scores = [hit.score for hit in expected]  # they were recorded at other times
                assert [hit.score for hit in found] == pytest.approx(scores, abs=1e-6)
                assert [fact.id for fact in lists.facts] == [fact.id for fact in words.facts]
        index = listed.engine.facts().columns.surfaces.words(0)
        assert len(index.segments) == 5 and index.listed > 128
        assert not chained.engine.facts().columns.surfaces.words(0).segments


def test_the_words_of_a_view_are_indexed_once_until_surfaces_are_added(alice, monkeypatch):
    made = []
    monkeypatch.setattr(
        postings,
        "places",
        lambda texts, places=postings.places: made.append(places(texts)) or made[-1],
    )
    for drink in ("tea", "milk"):
        alice.facts.add("Ann", "likes", drink)
    view = alice.engine.facts()
    asked = surface_arms.SurfaceQuestion(
        alice.engine.context.analyzer("english"), "Who likes tea?", None, PAPER_THRESHOLDS
    )
    found = [search_surfaces(view, asked, ("fact",), 5) for _ in range(2)]
    assert [len(each) for each in found] == [2, 2] and len(made) == 1
    for number in range(300):
        alice.facts.add("Bob", "likes", f"tea {number}")
    assert [search_surfaces(view, asked, ("fact",), 5) for _ in range(2)] == found
    assert len(made) == 2
