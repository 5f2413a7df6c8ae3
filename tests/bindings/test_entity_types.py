"""What is an entity? Its type is recorded with the first memory or fact that shows it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

import recollex
from recollex.errors import InputError
from tests.bindings.word_vectors import WordVectors

AT = datetime(2024, 3, 1, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[recollex.Store]:
    with recollex.open(tmp_path, embedder=WordVectors()) as opened:
        yield opened


@pytest.fixture
def ann(store: recollex.Store) -> recollex.Agent:
    return store.agent("ann")


def types(agent: Any, **options: Any) -> dict[str, str]:
    return {each.name: each.type for each in agent.facts.entities(mentioned=True, **options)}


def log_of(folder: Path) -> list[dict[str, Any]]:
    path = sorted((folder / "agents" / "ann" / "log").iterdir())[0]
    return [orjson.loads(line) for line in path.read_bytes().splitlines()[1:]]


def tell(ann: recollex.Agent) -> None:
    ann.retain_dialogue(
        [
            {"speaker": "Zorba", "text": "I moved to Quexford with Bob Chen.", "at": AT},
            {"speaker": "Zorba", "text": "Nobody knows Plim.", "at": AT},
        ],
        document_id="talk",
    )
    ann.facts.add("Zorba", "works_at", "Acme Ltd")


TOLD = {
    "Zorba": "PERSON",
    "Quexford": "LOCATION",
    "Bob Chen": "PERSON",
    "Plim": "OTHER",
    "Acme Ltd": "ORGANIZATION",
}


def test_entities_have_the_types_that_memories_and_facts_show(ann: recollex.Agent) -> None:
    tell(ann)
    assert types(ann) == TOLD
    assert types(ann, type="person") == {"Zorba": "PERSON", "Bob Chen": "PERSON"}
    assert {each.name: each.type for each in ann.facts.entities()} == {
        "Zorba": "PERSON",
        "Acme Ltd": "ORGANIZATION",
    }
    assert ann.facts.entity("acme ltd").to_dict()["type"] == "ORGANIZATION"


def test_the_log_has_them_so_a_replay_repeats_them(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        tell(store.agent("ann"))
        store.agent("ann").checkpoint()
    told = [line["payload"].get("typed") for line in log_of(tmp_path) if line["kind"] != "create"]
    assert told == [[[0, "PERSON"], [1, "LOCATION"], [2, "PERSON"]], None, [[4, "ORGANIZATION"]]]
    with recollex.open(tmp_path, read_only=True, embedder=WordVectors()) as store:
        assert types(store.agent("ann")) == TOLD
    agent = tmp_path / "agents" / "ann"
    for name in ("MANIFEST", "COMMIT", "HEAD"):
        (agent / name).unlink(missing_ok=True)
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        assert types(store.agent("ann")) == TOLD
        assert store.agent("ann").verify().ok


def test_a_type_that_is_shown_later_holds_from_then_on(ann: recollex.Agent) -> None:
    ann.retain("Nobody knows Plim.", id="first")
    ann.retain("Then we moved to Plim.")
    assert types(ann) == {"Plim": "LOCATION"}
    assert types(ann.at(ann.get("first").recorded_at)) == {"Plim": "OTHER"}
    ann.retain("Thanks Plim!")  # the first that showed one holds
    assert types(ann) == {"Plim": "LOCATION"}


def test_what_the_caller_says_holds(ann: recollex.Agent) -> None:
    ann.retain("We moved to Plim.")
    ann.retain("Plim is a friend.", entities={"Plim": "PERSON", "Quex": None, "Ulm": "LOCATION"})
    assert types(ann) == {"Plim": "PERSON", "Ulm": "LOCATION", "Quex": "OTHER"}
    ann.retain("We moved to Plim again.")
    assert types(ann)["Plim"] == "PERSON"
    ann.facts.add_entity("Plim", types=["poet", "org"])
    assert (types(ann)["Plim"], ann.facts.entity("Plim").types) == ("ORGANIZATION", ("poet", "org"))


def test_many_texts_have_a_dict_each(ann: recollex.Agent) -> None:
    ann.retain_many(["One.", "Two."], entities=[{"Ek": "PERSON"}, ["Do"]])
    ann.apply([{"op": "RETAIN", "text": "Three.", "entities": {"Tin": "CONCEPT"}}])
    with ann.transaction() as tx:
        tx.retain("Four.", entities={"Char": "PRODUCT"})
    assert types(ann) == {"Ek": "PERSON", "Do": "OTHER", "Tin": "CONCEPT", "Char": "PRODUCT"}


@pytest.mark.parametrize(
    ("entities", "message"),
    [
        ({"Plim": "poet"}, "the type of 'Plim' must be one of PERSON, .*, got 'poet'"),
        ("Plim", r"entities must be a list of str, got a str: entities=\['Plim'\]"),
        ([{"Plim": "PERSON"}, {"Plim": "PERSON"}], "entities must have one list a text: 1 texts"),
    ],
)
def test_what_is_no_type_is_refused(ann: recollex.Agent, entities: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ann.retain("Plim.", entities=entities)
    with pytest.raises(InputError, match="type must be one of PERSON"):
        ann.facts.entities(type="poet")
    assert ann.count() == 0


def test_merged_entities_have_the_type_of_their_root_or_of_another(ann: recollex.Agent) -> None:
    ann.retain("Nobody knows Plim.")
    ann.retain("We moved to Plimton.")
    ann.facts.merge("Plimton", "Plim")
    assert types(ann) == {"Plim": "LOCATION"}


def test_forgotten_and_erased_memories_show_no_entities(ann: recollex.Agent) -> None:
    ann.retain("We moved to Plim.", id="one")
    ann.retain("My friend Quex said no.", id="two")
    ann.forget("one")
    assert types(ann) == {"Quex": "PERSON"}
    ann.erase("two", by="ann", why="asked")
    assert types(ann) == {}
    assert ann.verify().ok
    assert types(ann.at(ann.log()[-1].recorded_at)) == {}
