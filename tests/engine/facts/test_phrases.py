"""The names of entities are found as facts are, and similar ones are linked."""

from datetime import UTC, datetime, timedelta

import pytest

import recollex
from recollex_engine.errors import UnknownIdError
from recollex_engine.facts.surface_vectors import SurfaceVectors
from recollex_engine.writing import phrase_making
from tests.bindings.word_vectors import WordVectors

START = datetime(2024, 5, 1, tzinfo=UTC)


def day(number):
    return START + timedelta(days=number)


@pytest.fixture
def alice(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        yield store.agent("alice")


def names(hits):
    return [hit.item.name for hit in hits]


def test_a_phrase_is_found_while_a_fact_names_it(alice):
    alice.facts.add("Ann Berg", "sold", "old boat", id="f", recorded_at=day(1))
    alice.retain("Ann met Carol Dean.", recorded_at=day(2))
    assert names(alice.facts.search_entities("boat")) == ["old boat", "Ann Berg"]
    (hit,) = alice.facts.search_entities("berg", limit=1)
    assert (hit.kind, hit.text, hit.to_dict()["entity"]["name"]) == ("entity",) + ("Ann Berg",) * 2
    assert "Carol Dean" not in names(alice.facts.search_entities("Carol Dean"))  # no fact does
    alice.facts.archive("f", recorded_at=day(3))
    assert alice.facts.search_entities("boat") == []
    assert names(alice.facts.search_entities("boat", as_recorded=day(2)))[0] == "old boat"
    assert alice.facts.search_entities("boat", as_recorded=START) == []


def test_merged_names_are_one_entity(alice):
    alice.facts.add("Bob", "likes", "tea")
    alice.facts.add("Robert Chen", "likes", "ink")
    alice.facts.merge("Bob", "Robert Chen")
    assert names(alice.facts.search_entities("Bob", limit=4)).count("Robert Chen") == 1


def test_similar_names_are_linked_in_both_directions(alice):
    for place, thing in enumerate(("the maps team", "the maps team here", "a boat", "maps")):
        alice.facts.add("Ann", "leads", thing, id=str(place), recorded_at=day(place))
    (near,) = alice.facts.synonyms("the maps team")
    assert near[0] == "the maps team here" and 0.8 <= near[1] < 1
    assert alice.facts.synonyms("the maps team here") == [("the maps team", near[1])]
    assert alice.facts.synonyms("a boat") == []
    assert alice.facts.synonyms("the maps team", as_recorded=day(0)) == []
    alice.facts.archive("1", recorded_at=day(9))
    assert alice.facts.synonyms("the maps team") == []
    with pytest.raises(UnknownIdError):
        alice.facts.synonyms("Nobody")


@pytest.mark.parametrize("together", [1, 3, 50])
def test_synonyms_are_those_of_a_plain_comparison(tmp_path, monkeypatch, together):
    monkeypatch.setattr(phrase_making, "_TOGETHER", 4)
    said = [f"w{n % 3} w{n % 4} w{n % 5} w{n % 2} same same" for n in range(60)]
    said = list(dict.fromkeys(said))
    embedder = WordVectors()
    vectors = embedder.embed(said).astype("<f2").astype("f4")
    near = vectors @ vectors.T
    with recollex.open(tmp_path / "s", embedder=embedder) as store:
        agent = store.agent("a")
        for first in range(0, len(said), together):
            with agent.transaction() as tx:
                for name in said[first : first + together]:
                    tx.facts.add(name, "is", recollex.Text("so"))
        links = set()
        for place, name in enumerate(said):
            earlier = [(-round(float(near[place, other]), 4), other) for other in range(place)
                       if near[place, other] >= 0.8]  # fmt: skip
            links |= {frozenset((name, said[other])) for _, other in sorted(earlier)[:5]}
        found = {
            frozenset((name, other)) for name in said for other, _ in agent.facts.synonyms(name)
        }
        assert found == links and len(links) > 20
        assert agent.verify().ok


def test_they_are_there_after_a_rebuild_and_a_checkpoint(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        alice = store.agent("alice")
        alice.facts.add("the maps team", "meets", "the maps team here", id="f")
        before = names(alice.facts.search_entities("maps")), alice.facts.synonyms("the maps team")
        alice.checkpoint()
    for _ in range(2):
        with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
            alice = store.agent("alice")
            found = (
                names(alice.facts.search_entities("maps")),
                alice.facts.synonyms("the maps team"),
            )
            assert found == before and found[1]
        for path in (tmp_path / "s" / "agents" / "alice" / "columns").glob("*"):
            path.unlink()
        (tmp_path / "s" / "agents" / "alice" / "MANIFEST").unlink(missing_ok=True)


def test_an_erased_name_leaves_no_surface(alice):
    note = alice.retain("Zorbla Quux sold a boat.", id="m")
    alice.facts.add("Zorbla Quux", "sold", "boat", evidence=note)
    alice.facts.add("Ann", "bought", "boat")
    alice.erase("m", by="ann", why="asked")
    assert names(alice.facts.search_entities("Zorbla Quux boat")) == ["Ann"]
    alice.facts.add("Ann", "likes", "boats")  # what lost its surface gets it again
    assert "boat" in names(alice.facts.search_entities("boat"))
    assert alice.verify().ok
    folder = alice.engine.folder
    assert not any(b"orbla" in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_without_a_model_they_have_words_alone(tmp_path):
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(8)) as store:
        alice = store.agent("alice")
        alice.facts.add("the maps team", "meets", "the maps team here")
        assert names(alice.facts.search_entities("team"))[0] == "the maps team"
        assert alice.facts.synonyms("the maps team") == []


def test_phrases_are_compared_by_the_search_that_recalls_compile(alice, monkeypatch):
    search, writable = SurfaceVectors.nearest, set()

    def nearest(vectors, query, *limits, **options):
        writable.add(query.flags.writeable)
        return search(vectors, query, *limits, **options)

    monkeypatch.setattr(SurfaceVectors, "nearest", nearest)
    alice.facts.add("Ann", "leads", "the maps team")
    alice.facts.add("Ann", "leads", "the maps team here")
    assert writable == {False}
