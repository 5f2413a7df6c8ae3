"""What of a retain call is recorded already, and what if another thread records meanwhile?"""

import numpy as np
import pytest

import recollex
from recollex_engine.domain.turn import passages_to_embed
from recollex_engine.models.description import PAPER_THRESHOLDS

DIMENSION = 16


class Hooked:
    """An embedder that calls ``meanwhile`` once while it embeds passages."""

    dimension = DIMENSION
    fingerprint = "hooked-1"
    thresholds = PAPER_THRESHOLDS

    def __init__(self):
        self.meanwhile = None
        self.texts = 0

    def embed(self, texts, threads=1, progress=None):
        self.texts += len(texts)
        call, self.meanwhile = self.meanwhile, None
        if call is not None:
            call()
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text):
        vector = np.random.default_rng(list(text.encode())).standard_normal(DIMENSION)
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    def count_tokens(self, text):
        return len(text.split())


@pytest.fixture
def model():
    return Hooked()


@pytest.fixture
def agent(tmp_path, model):
    with recollex.open(tmp_path / "store", embedder=model, durability="off") as store:
        yield store.agent("a")


def texts(agent):
    return [memory.text for memory in agent.list(limit=1000)]


def check_vectors(agent, model):
    """Every memory has the vector of its text."""
    view = agent.engine.view()
    for memory in np.flatnonzero(view.open):
        text = view.columns.text(memory)
        speaker = view.columns.label(int(view.buffer("speaker")[memory]))
        (read,) = passages_to_embed(text, [(0, len(text))], speaker)
        expected = model.embed_query(read).astype(np.float16)
        row = int(view.buffer("first_row")[memory])
        assert view.vectors[row].view(np.float16).tolist() == expected.tolist()
    assert agent.verify().problems == ()


def turn(text, id=None, speaker="Ann"):
    return {"speaker": speaker, "text": text, "id": id, "at": "2024-05-01T00:00:00Z"}


def test_what_is_recorded_is_not_embedded_again(agent, model):
    agent.retain_many(["one", "two"], id=["1", "2"])
    agent.retain_many(["two", "three", "one"], id=["2", "3", "1"])
    assert model.texts == 3
    check_vectors(agent, model)


def test_an_id_that_comes_back_in_one_call_as_it_was_before_the_call_has_its_vector(agent, model):
    agent.retain("one", id="1")
    agent.retain_many(["changed", "one", "one"], id=["1", "1", "1"])
    assert texts(agent) == ["one"]
    assert agent.stats().forgotten == 2
    check_vectors(agent, model)


def test_a_turn_without_id_is_not_matched_with_one_that_has(agent, model):
    agent.retain_dialogue([turn("hello", "t1"), turn("bye")], document_id="d")
    ids = agent.retain_dialogue(
        [turn("hello"), turn("bye"), turn("hello again", "t1")], document_id="d", replace=True
    )
    assert sorted(texts(agent)) == ["Ann: bye", "Ann: hello", "Ann: hello again"]
    assert [agent.get(id).text for id in ids] == ["Ann: hello", "Ann: bye", "Ann: hello again"]
    check_vectors(agent, model)


def test_a_repeated_turn_is_held_as_often_as_it_is_said(agent):
    turns = [turn("yes"), turn("no"), turn("yes")]
    first = agent.retain_dialogue(turns, document_id="d")
    assert agent.retain_dialogue(turns, document_id="d", replace=True) == first
    second = agent.retain_dialogue([*turns, turn("yes")], document_id="d", replace=True)
    assert second[:3] == first
    assert agent.retain_dialogue(turns[:2], document_id="d", replace=True) == first[:2]
    assert agent.retain_dialogue([], document_id="d", replace=True) == []
    assert texts(agent) == []


def test_a_known_memory_that_changes_meanwhile_is_embedded_after_all(agent, model):
    agent.retain("one", id="1")
    model.meanwhile = lambda: agent.retain("other", id="1")
    agent.retain_many(["one", "new"], id=["1", "2"])
    assert texts(agent) == ["one", "new"]
    check_vectors(agent, model)


def test_a_document_replaced_twice_at_once_is_one_of_the_two(agent, model):
    agent.retain_dialogue([turn("a"), turn("b")], document_id="d")
    model.meanwhile = lambda: agent.retain_dialogue(
        [turn("c"), turn("d")], document_id="d", replace=True
    )
    agent.retain_dialogue([turn("b"), turn("e")], document_id="d", replace=True)
    assert texts(agent) == ["Ann: b", "Ann: e"]
    check_vectors(agent, model)


def test_a_memory_is_closed_once(agent, model):
    ids = agent.retain_dialogue([turn("a"), turn("b")], document_id="d")
    model.meanwhile = lambda: agent.forget(ids[0])
    agent.retain_dialogue([turn("c")], document_id="d", replace=True)
    closed = agent.engine.view().of_memories("closed_by").tolist()
    assert closed[0] == 4  # created, retained a and b, forgot a
    assert closed[1] > 4
    assert texts(agent) == ["Ann: c"]


def test_two_first_writes_at_once_are_both_kept(agent, model):
    model.meanwhile = lambda: agent.retain_dialogue([turn("a")], document_id="d", replace=True)
    agent.retain_dialogue([turn("b")], document_id="d", replace=True)
    assert texts(agent) == ["Ann: b"]
    check_vectors(agent, model)
