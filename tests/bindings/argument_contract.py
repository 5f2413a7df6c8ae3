"""Which arguments an agent accepts, and in which words it refuses the others."""

import inspect
import pydoc
from collections import UserDict
from datetime import datetime
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import recollex
from recollex.api.events import Events
from recollex.api.facts import Facts
from recollex.api.sessions import Sessions
from recollex_engine import errors
from tests.bindings.days_of_may import day
from tests.bindings.word_vectors import WordVectors


class ArgumentContract:
    def test_vectors_of_every_kind(self, alice: Any) -> None:
        words = WordVectors()
        texts = ["Bob likes tea.", "Ann plays the cello."]
        for number, given in enumerate(
            (
                words.embed(texts),
                words.embed(texts).astype(np.float16),
                words.embed(texts).astype(np.float64)[:, :],
                list(words.embed(texts)),
                words.embed(texts).tolist(),
                np.asfortranarray(words.embed(texts)),
            )
        ):
            ids = alice.retain_many(texts, embedding=given, document_id=f"d{number}")
            found = alice.recall(
                "?", query_embedding=words.embed_query(texts[1]), document_id=f"d{number}"
            )
            assert found[0].id == ids[1]
        for wrong in (np.zeros(3), np.full(64, np.nan), "no vector", object(), [1, 2, 3]):
            with pytest.raises(errors.InputError):
                alice.retain("Bob likes tea.", embedding=wrong)

    def test_iterables_and_mappings_of_every_kind(self, alice: Any) -> None:
        ids = alice.retain_many(
            (f"Text {n}." for n in range(3)),
            id=iter(["a", "b", "c"]),
            tags=[(f"t{n}" for n in range(2)), [], ("x",)],
            metadata=[MappingProxyType({"n": 1}), UserDict({"n": 2}), {}],
            entities=np.array(["Ann", "Bob"]),
        )
        assert ids == ["a", "b", "c"]
        assert alice.get("a").tags == ("t0", "t1") and alice.get("c").tags == ("x",)
        assert [alice.get(id).metadata for id in ids] == [{"n": 1}, {"n": 2}, {}]
        assert alice.get("b").entities == ("Ann", "Bob")
        alice.forget(id for id in ids[:2])
        assert alice.stats().memories == 1

    @pytest.mark.parametrize(
        ("method", "args", "options"),
        [
            ("retain", ("",), {}),
            ("retain", (7,), {}),
            ("retain_many", (["a", "b"],), {"id": ["one"]}),
            ("retain", ("a",), {"tags": {"a", "b"}}),
            ("retain", ("a",), {"tags": "a"}),
            ("retain", ("a",), {"event_at": datetime(2024, 5, 1)}),
            ("retain", ("a",), {"event_at": "yesterday"}),
            ("retain", ("a",), {"metadata": {"at": day(1)}}),
            ("retain", ("a",), {"metadata": {"x": float("nan")}}),
            ("retain", ("a",), {"metadata": {1: 2}}),
            ("retain", ("a",), {"metadata": {"x": object()}}),
            ("retain", ("a",), {"metadata": {"x": 2**80}}),
            ("retain", ("a",), {"network": "dream"}),
            ("retain", ("lone \ud800 surrogate",), {}),
            ("retain", ("a",), {"embedding": object()}),
            ("retain_dialogue", ([{"speaker": "A"}],), {"document_id": "d"}),
            ("retain_dialogue", ("turns",), {"document_id": "d"}),
            ("retain_dialogue", ([],), {"document_id": ""}),
            ("retain_dialogue", ([],), {"document_id": "d", "policy": 3}),
            ("recall", ("",), {}),
            ("recall", (object(),), {}),
            ("recall", ("q",), {"thinking_budget": 0}),
            ("recall", ("q",), {"thinking_budget": 2**70}),
            ("recall", ("q",), {"preset": "best"}),
            ("recall", ("q",), {"preset": object()}),
            ("recall", ("q",), {"pack": 3}),
            ("recall", ("q",), {"tags": {"a"}}),
            ("recall", ("q",), {"where": 3}),
            ("recall", ("q",), {"as_recorded": day(1).replace(tzinfo=None)}),
            ("recall", ("q",), {"explain": 1}),
            ("recall_many", ("q",), {}),
            ("recall_many", (["q"],), {"query_embedding": []}),
            ("get", ("nothing",), {}),
            ("get", (b"bytes",), {}),
            ("list", (), {"limit": 0}),
            ("forget", (["nothing"],), {}),
            ("forget", ({"a"},), {}),
            ("correct", ("nothing", "text"), {}),
            ("log", (), {"since": day(2), "until": day(1)}),
            ("diff", (day(2), day(1)), {}),
            ("apply", ([{"op": "FLY"}],), {}),
            ("facts.get", ("nothing",), {}),
            ("facts.add", ("a", "b", object()), {}),
            ("facts.add", ("a", "b", "c"), {"confidence": "high"}),
            ("facts.add", ("a", "b", "c"), {"valid": (day(2), day(1))}),
            ("facts.find", (), {"relation": "before"}),
            ("facts.find", (), {"evidence": "nothing"}),
            ("events.add", ("",), {}),
            ("events.add", ("a",), {"participants": [1]}),
            ("events.get_episode", ("nothing",), {}),
            ("sessions.backfill", (3,), {"document_id": "d"}),
        ],
    )
    def test_what_is_refused_is_refused_in_the_same_words(
        self, alice: Any, reference: Any, method: str, args: Any, options: Any
    ) -> None:
        raised = []
        for agent in (reference, alice):
            called = agent
            for name in method.split("."):
                called = getattr(called, name)
            with pytest.raises(Exception) as caught:
                called(*args, **options)
            raised.append(caught.value)
        expected, found = raised
        assert type(found) is type(expected)
        assert _without_addresses(str(found)) == _without_addresses(str(expected))
        assert set(vars(found)) >= set(vars(expected))

    @pytest.mark.parametrize(
        ("method", "args", "options"),
        [
            ("recall", ("q",), {"max_token": 3}),
            ("recall", (), {}),
            ("recall", ("q", 3), {}),
            ("recall", ("q",), {"query": "q"}),
            ("recall_many", (["q"],), {"max_token": 3}),
            ("facts.add", ("a", "b"), {}),
            ("facts.find", ("a",), {}),
            ("facts.find", (), {"subjct": "a"}),
            ("facts.count", (), {"start_time": "2024"}),
            ("facts.value_counts", ("subject",), {"objct": "a"}),
            ("facts.search", ("q",), {"predicat": "a"}),
            ("list", (), {"tgas": ["a"]}),
            ("forget", (), {"document": "a"}),
            ("erase", (), {"by": "a", "why": "b", "tgas": ["a"]}),
            ("events.get", (), {"id": "a", "name": "b"}),
            ("sessions.end", (), {}),
            ("stats", (1,), {}),
            ("at", (), {}),
            ("transaction", (), {"wy": "typo"}),
        ],
    )
    def test_a_mistyped_argument_says_so_in_the_same_words(
        self, alice: Any, reference: Any, method: str, args: Any, options: Any
    ) -> None:
        messages = []
        for agent in (reference, alice):
            called = agent
            for name in method.split("."):
                called = getattr(called, name)
            with pytest.raises(TypeError) as caught:
                called(*args, **options)
            messages.append(str(caught.value))
        assert messages[0] == messages[1]

    def test_a_mistyped_method_says_so(self, store: Any, alice: Any) -> None:
        for owner, name in (
            (store, "agnet"),
            (alice, "recal"),
            (alice.facts, "hstory"),
            (alice.events, "fnd"),
        ):
            with pytest.raises(AttributeError, match=f"object has no attribute '{name}'"):
                getattr(owner, name)

    def test_help_shows_what_may_be_given(self, alice: Any) -> None:
        for owner, home in (
            (alice, recollex.Agent),
            (alice.facts, Facts),
            (alice.events, Events),
            (alice.sessions, Sessions),
        ):
            for name, method in inspect.getmembers(home, inspect.isfunction):
                if not name.startswith("_") and hasattr(owner, name):
                    offered = getattr(owner, name)
                    expected = list(inspect.signature(method).parameters.values())[1:]
                    assert list(inspect.signature(offered).parameters.values()) == expected, name
                    assert inspect.getdoc(offered) == inspect.getdoc(method)
        assert "thinking_budget: int = 100" in pydoc.render_doc(alice.recall)

    def test_times_are_datetimes_or_iso_8601(self, alice: Any) -> None:
        for id, at in ("a", day(1)), ("b", "2024-05-01T00:00:00Z"), ("c", "2024-05-01T02:00+02:00"):
            alice.retain(f"Text of {id}.", id=id, event_at=at, valid_until=day(9).isoformat())
            assert (alice.get(id).event_at, alice.get(id).valid_until) == (day(1), day(9))
        before = alice.get("c").recorded_at
        alice.retain_many(
            ["Text of d.", "Text of e."], id=["d", "e"], event_at=[str(day(2)), day(3)]
        )
        found = alice.recall("Text", since="2024-05-01T12:00:00Z", until=day(3).isoformat())
        assert found.ids == ["d"]
        assert len(alice.recall("Text", as_recorded=before.isoformat())) == 3
        assert len(alice.at(before.isoformat()).list()) == 3
        assert len(alice.log(since=before.isoformat())) == 3
        assert len(alice.diff(str(before)).added) == 2
        alice.facts.add("Ann", "likes", "tea", valid=("2024-05-01T00:00:00Z", None))
        assert alice.facts.snapshot(as_world="2024-05-02T00:00:00Z")[0].valid[0] == day(1)


def _without_addresses(message: str) -> str:
    return message.split(" at 0x")[0]
