"""A text typed on a Mac and one typed elsewhere are one text: NFC, wherever a text comes in."""

import unicodedata
from datetime import UTC, datetime

import pytest

import recollex
from recollex_engine.errors import UnknownIdError

VECTOR = [1.0] + [0.0] * 7
NAME = "Jos\u00e9"
TEXTS = (
    "Jos\u00e9 likes th\u00e9.",
    "na\u00efve caf\u00e9",
    "\u1e69 dot",
    "\uac00\ub098",
    "M\u00fcnchen",
)


def apart(text):
    """A text as a Mac's file names spell it."""
    return unicodedata.normalize("NFD", text)


@pytest.fixture
def store(tmp_path):
    with recollex.open(
        tmp_path, embedder=recollex.GivenVectors(8), clock=lambda: datetime(2026, 6, 1, tzinfo=UTC)
    ) as opened:
        yield opened


def test_an_agent_is_one_however_it_is_spelled(store):
    store.agent(NAME).retain("Tea.", embedding=VECTOR)
    assert store.agent(apart(NAME)).count() == 1 and store.agents() == [NAME]
    assert store.agent(apart(NAME)).engine is store.agent(NAME).engine
    store.delete_agent(apart(NAME))
    assert store.agents() == []


@pytest.mark.parametrize("text", TEXTS)
def test_a_note_is_one_note(store, text):
    agent = store.agent("a")
    fields = {"tags": [text], "document_id": text, "context": text}
    split = {name: [apart(text)] if name == "tags" else apart(text) for name in fields}
    assert apart(text) != text
    agent.retain(text, id=text, embedding=VECTOR, **fields)
    operations = agent.stats().operations
    agent.retain(apart(text), id=apart(text), embedding=VECTOR, **split)
    assert agent.stats().operations == operations and agent.count() == 1
    memory = agent.get(apart(text))
    assert (memory.text, memory.id, memory.tags, memory.document_id) == (text, text, (text,), text)
    for spelled in (text, apart(text)):
        assert agent.count(tags=[spelled]) == agent.count(document_id=spelled) == 1
        assert agent.recall(spelled, query_embedding=VECTOR).ids == [text]
    agent.forget(apart(text))
    assert agent.count() == 0


def test_letters_that_only_look_alike_stay_apart(store):
    agent = store.agent("a")
    for id in ("a", "\u0430", "\uff41", "\u2460", "1"):  # Cyrillic, full width, in a circle
        agent.retain("Tea.", id=id, embedding=VECTOR)
    assert agent.count() == 5
    with pytest.raises(UnknownIdError):
        agent.get("A")


def test_the_words_of_the_text_are_those_of_the_question(store):
    agent = store.agent("a")
    agent.retain_many(["It rains.", apart("Zo\u00eb met Ren\u00e9e.")], embedding=[VECTOR, VECTOR])
    assert agent.recall("Zo\u00eb", query_embedding=VECTOR)[0].text == "Zo\u00eb met Ren\u00e9e."
