"""Which rule finds an agent's names, and that agents of earlier versions keep theirs."""

import pytest

import recollex
from recollex_engine.agents import agent as agents
from recollex_engine.text.name_rules import name_rule
from recollex_engine.text.names import find_names
from tests.bindings.word_vectors import WordVectors

GERMAN = "Gestern war die Wartung der Maschine bei Jana in Weimar."
MIXED = "Bart去动物园看到了大象，与好友Jimmy和小王分享。"


def test_each_language_has_its_rule():
    assert name_rule("german", 2)(GERMAN, "Anna") == ["Anna", "Jana", "Weimar"]
    assert "Wartung" in name_rule("english", 2)(GERMAN, None)
    assert name_rule("english", 2)(MIXED, None) == ["Bart", "Jimmy", "小王"]
    assert name_rule("german", 2)("小王 wohnt in Jena.", " Anna  K ") == ["Anna K", "Jena", "小王"]


@pytest.mark.parametrize(
    "text", ["Wow, thanks Mel! Bob Chen's in Oslo.", "Élodie and Zoë met Ann."]
)
def test_texts_with_capitals_are_read_as_before(text):
    assert name_rule("english", 2)(text, "Al") == name_rule("french", 2)(text, "Al")
    assert name_rule("english", 2)(text, "Al") == find_names(text, "Al")


def entities(agent):
    return [memory.entities for memory in agent.list()]


def opened(path):
    return recollex.open(path, embedder=WordVectors(), language="german")


def test_an_agent_keeps_the_rule_it_was_created_with(tmp_path, monkeypatch):
    with monkeypatch.context() as before:
        before.setattr(agents, "ANALYZER_VERSION", 1)
        with opened(tmp_path) as store:
            store.agent("old").retain(GERMAN)
    with opened(tmp_path) as store:
        for name in ("old", "new"):
            store.agent(name).retain(GERMAN + " Und.", id="second", entities=["Otto"])
            store.agent(name).amend("second", tags=["t"])  # given entities stay, found ones too
        old, new = store.agent("old"), store.agent("new")
        assert entities(old)[0] == ("Gestern", "Wartung", "Maschine", "Jana", "Weimar")
        assert sorted(entities(old)[1]) == [
            "Gestern",
            "Jana",
            "Maschine",
            "Otto",
            "Und",
            "Wartung",
            "Weimar",
        ]
        assert [sorted(each) for each in entities(new)] == [["Jana", "Otto", "Weimar"]]
