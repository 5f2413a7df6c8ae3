"""What a caller may do with a result: index, copy, pickle and keep it where the store is not."""

import copy
import pickle
from typing import Any

import pytest

import recollex
from recollex_engine import errors
from tests.bindings.line_tokens import line_tokens


class ResultContract:
    @pytest.fixture
    def asked(self, alice: Any) -> Any:
        alice.retain("Bob lives in Oslo.", id="home", tags=["home"], metadata={"n": [1, {"a": 2}]})
        alice.correct("home", "Bob lives in Rome.", by="ann", why="He said so.")
        alice.facts.add("Bob", "lives_in", "Rome", evidence="home")
        alice.events.add("Bob moved.", participants=["Bob"], id="move")
        return alice.recall("Where does Bob live?", pack="subgraph", explain=True)

    def test_results_pickle_and_copy(self, alice: Any, asked: Any) -> None:
        for same in (pickle.loads(pickle.dumps(asked)), copy.copy(asked), copy.deepcopy(asked)):
            assert isinstance(same, recollex.Recall)
            assert list(same) == list(asked) and same.to_dict() == asked.to_dict()
            assert (same.ids, same.op, same.signs) == (asked.ids, asked.op, asked.signs)
            assert same.trace == asked.trace and same.time_range == asked.time_range
            assert same.subgraph.to_prompt() == asked.subgraph.to_prompt()
            assert pickle.loads(pickle.dumps(same)).to_dict() == asked.to_dict()
        for value in (asked[0], alice.get("home"), *alice.history("home"), *alice.events.find()):
            assert pickle.loads(pickle.dumps(value)) == value == copy.deepcopy(value)
        (fact,) = facts = alice.facts.find(subject="Bob")
        again = pickle.loads(pickle.dumps(facts))
        assert [each.to_dict() for each in again] == [fact.to_dict()]
        assert pickle.loads(pickle.dumps(fact)).to_dict() == fact.to_dict()

    def test_a_slice_of_a_recall_is_a_list_of_memories(self, alice: Any) -> None:
        alice.retain("Bob lives in Oslo.")
        asked = alice.recall("Where does Bob live?")
        assert asked[:1] == [asked[0]] == list(asked) and asked[1:] == []
        with pytest.raises(IndexError):
            asked[1]

    def test_get_returns_the_default_for_an_unknown_id(self, alice: Any) -> None:
        alice.retain("Bob lives in Oslo.", id="home")
        assert alice.get("away", None) is None and alice.get("away", "none") == "none"
        assert alice.get("home", None) == alice.get("home", default=3) == alice.get("home")
        alice.forget("home")
        assert alice.get("home", None) is None
        with pytest.raises(errors.UnknownIdError):
            alice.get("away")
        with pytest.raises(errors.InputError):
            alice.get("", None)

    def test_signs_are_told_wherever_a_confidence_is(self, alice: Any) -> None:
        empty = alice.recall("Where does Bob live?")
        alice.retain("Bob lives in Oslo.", tags=["home"])
        found = alice.recall("Where does Bob live?")
        filtered = alice.recall("Where does Bob live?", tags=["away"])
        assert found.signs.confidence == found.confidence > 0
        for nothing in (empty, filtered):
            assert nothing.confidence == 0
            assert (nothing.signs.likeness, nothing.signs.memories) == (0, 0)

    def test_a_limit_and_no_token_budget(self, alice: Any) -> None:
        alice.retain_many([f"Bob {'drinks tea ' * n} in Oslo on day {n}." for n in range(1, 90)])
        asked, query = {"thinking_budget": 1000}, "Where does Bob drink tea?"
        within, every = alice.recall(query, **asked), alice.recall(query, max_tokens=None, **asked)
        assert len(within) < len(every) == 89 and every.tokens > 4096 >= within.tokens
        for limit in (1, 5, 89, 1000):
            found = alice.recall(query, limit=limit, max_tokens=None, **asked)
            assert list(found) == list(every)[:limit]
            assert found.tokens == line_tokens(found)
            bounded = alice.recall(query, limit=limit, max_tokens=300, **asked)
            assert list(bounded) == list(alice.recall(query, max_tokens=300, **asked))[:limit]
        for wrong in (0, -1, 1.5, "3"):
            with pytest.raises(errors.InputError, match="limit must"):
                alice.recall(query, limit=wrong)
