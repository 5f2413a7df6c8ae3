"""Several agents answer a question in one order, and none loses or gains by the company."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import recollex
from recollex_engine.errors import InputError
from tests.bindings.word_vectors import WordVectors

WORK = [
    "The offsite of the team is in Lisbon in March.",
    "Deploys are frozen on Fridays.",
    "The kitchen is on the second floor.",
    "Every invoice goes to accounts at noon.",
]
HOME = [
    "My sister Ines lives in Porto.",
    "I am allergic to peanuts.",
    "My dentist has moved to Baker Street.",
    "The cat is called Pixel.",
]
QUESTIONS = {
    "Where is the offsite of the team?": ("work", 0),
    "When are deploys frozen?": ("work", 1),
    "On which floor is the kitchen?": ("work", 2),
    "Where does my sister Ines live?": ("home", 0),
    "What am I allergic to?": ("home", 1),
    "What is the cat called?": ("home", 3),
}


@pytest.fixture
def store(tmp_path: Path):
    with recollex.open(tmp_path, embedder=WordVectors(), durability="off") as store:
        for name, texts in (("work", WORK), ("home", HOME)):
            store.agent(name).retain_many(texts, id=[f"{n}" for n in range(4)])
        yield store


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("agents", [["work", "home"], ["home", "work"]])
def test_what_answers_outranks_what_the_other_agent_holds(store, question, agents):
    found = store.recall(question, agents=agents)
    assert (found[0].agent, found[0].id) == (QUESTIONS[question][0], f"{QUESTIONS[question][1]}")


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_list_is_that_of_each_agent_merged(store, question):
    found = store.recall(question, agents=["work", "home"], explain=True)
    for name in ("work", "home"):
        alone = store.agent(name).recall(question, explain=True)
        own = [memory for memory in found if memory.agent == name]
        assert [memory.id for memory in own] == alone.ids
        assert [memory.score for memory in own] == [memory.score for memory in alone]
        assert [memory.to_dict() for memory in own] == [memory.to_dict() for memory in alone]
        assert found.recalls[name].ids == alone.ids
        assert all(memory.agent is None for memory in alone)
    assert [memory.score for memory in found] == sorted((m.score for m in found), reverse=True)


def test_one_agent_alone_gives_its_own_recall(store):
    for options in ({}, {"limit": 2}, {"max_tokens": 30}, {"max_tokens": None}):
        alone = store.agent("work").recall("Where is the kitchen?", **options)
        found = store.recall("Where is the kitchen?", agents=["work"], **options)
        assert [memory.id for memory in found] == alone.ids
        assert (found.tokens, found.confidence) == (alone.tokens, alone.confidence)
        assert found.to_prompt() == alone.to_prompt()


def test_the_budget_is_of_all_together(store):
    every = store.recall("Where is it?", agents=["work", "home"])
    assert len(every) > 4
    for limit in (1, 3):
        found = store.recall("Where is it?", agents=["work", "home"], limit=limit)
        assert list(found) == list(every)[:limit]
    counter = store.agent("work").engine.counter()
    for most in (20, 40, 60):
        found = store.recall("Where is it?", agents=["work", "home"], max_tokens=most)
        assert counter.count(found.to_prompt()) <= found.tokens <= most
        assert 0 < len(found) < len(every)


def test_sources_are_marked_within_the_budget(store):
    store.agent("home").retain("The web says tea is cheap.", source="web", trust="web")
    counter = store.agent("home").engine.counter()
    for most in (40, 80, 4096):
        found = store.recall("Is tea cheap?", agents=["work", "home"], max_tokens=most)
        assert "source: web] The web says tea is cheap." in found.to_prompt()
        assert counter.count(found.to_prompt()) <= found.tokens <= most


def test_weak_evidence_of_all_returns_nothing(store):
    found = store.recall("Which whale sings?", agents=["work", "home"])
    told = [store.agent(name).recall("Which whale sings?").confidence for name in ("work", "home")]
    assert found.confidence == max(told)
    most = found.confidence
    again = store.recall("Which whale sings?", agents=["work", "home"], min_confidence=most)
    assert len(again) == len(found)
    none = store.recall("Which whale sings?", agents=["work", "home"], min_confidence=most + 0.01)
    assert len(none) == 0 and none.confidence == most and none.tokens == 0


def test_an_empty_query_lists_the_newest_of_all(store):
    for name in ("work", "home", "work"):
        store.agent(name).retain(f"A note of {name}.", tags=["note"])
    found = store.recall("", agents=["home", "work"], tags=["note"])
    assert [memory.agent for memory in found] == ["work", "home", "work"]
    times = [memory.recorded_at for memory in found]
    assert times == sorted(times, reverse=True)
    with pytest.raises(InputError, match="takes no min_confidence"):
        store.recall("", agents=["home"], tags=["note"], min_confidence=0.5)


def test_a_past_of_all_agents(store):
    then = store.agent("home").list()[-1].recorded_at
    store.agent("work").retain("The kitchen is on the ninth floor.", id="later")
    asked = {"agents": ["work", "home"], "limit": 1}
    assert store.recall("Where is the kitchen floor?", **asked, as_recorded=then)[0].id == "2"


def test_the_question_is_embedded_once(tmp_path):
    asked = []

    class Counting(WordVectors):
        def embed_query(self, text: str):
            asked.append(text)
            return super().embed_query(text)

    with recollex.open(tmp_path, embedder=Counting(), durability="off") as store:
        for name in "abc":
            store.agent(name).retain(f"{name} likes tea.")
        asked.clear()
        found = store.recall("Who likes tea?", agents=["a", "b", "c"])
        assert len(found) == 3 and asked == ["Who likes tea?"]
        store.agent("a").recall("Who likes tea?")
        assert len(asked) == 2


def test_an_empty_agent_adds_nothing(store):
    assert list(store.recall("tea", agents=["new"])) == []
    found = store.recall("Where is the kitchen?", agents=["new", "work"])
    alone = store.agent("work").recall("Where is the kitchen?")
    assert [memory.id for memory in found] == alone.ids
    assert found.token_counter == alone.token_counter
    assert store.agents() == ["home", "work"]


def test_ranks_are_interleaved_where_scores_say_nothing(store):
    question = "Where is the kitchen of the cat?"
    found = store.recall(question, agents=["work", "home"], preset="tempr")
    for name in ("work", "home"):
        own = [memory.id for memory in found if memory.agent == name]
        assert own == store.agent(name).recall(question, preset="tempr").ids
    assert {found[0].agent, found[1].agent} == {"work", "home"}


def test_it_pickles_and_prints(store):
    found = store.recall("Where is the kitchen?", agents=["work", "home"])
    again = pickle.loads(pickle.dumps(found))
    assert [(m.agent, m.id, m.tags) for m in again] == [(m.agent, m.id, m.tags) for m in found]
    assert "JointRecall of 'Where is the kitchen?' from work, home" in repr(found)
    assert found[:1] == [found[0]] and found[-1] in found
    assert np.isfinite([memory.score for memory in found]).all()
