"""One filter for every method that takes one, wherever the agent runs."""

from typing import Any

import pytest

import recollex
from recollex_engine import errors
from tests.bindings.days_of_may import day
from tests.bindings.line_tokens import line_tokens

SOME: list[tuple[dict[str, Any], list[str]]] = [
    ({"tags": ["red"]}, ["a", "c"]),
    ({"any_tags": ["red", "blue"], "no_tags": ["old"]}, ["a", "b"]),
    ({"document_id": ["call", "mail"]}, ["b", "d"]),
    ({"network": ["opinion", "agent"]}, ["c"]),
    ({"speakers": "eve"}, ["d"]),
    ({"source": ["web", "user"], "trust": "tool"}, ["a"]),
    ({"entities": ["oslo"]}, ["a"]),
    ({"since": day(2).isoformat(), "until": day(4)}, ["b", "c"]),
    ({"recorded_since": day(2), "recorded_until": day(4)}, ["b", "c"]),
    ({"ends_after": day(9), "document_id": "mail"}, ["b"]),
    ({"ends_by": day(9).isoformat()}, ["a"]),
    ({"as_world": day(10).isoformat(), "tags": ["red"]}, ["c"]),
    ({"as_world": day(2)}, ["a", "b"]),
    ({"where": {"n": {"gt": 1}, "kind": {"in": ["x", "y"]}}}, ["b", "c"]),
    ({"where": {"kind": {"not": {"contains": "x"}}, "n": {"exists": True}}}, ["a", "b", "c"]),
]


class FilterContract:
    @pytest.fixture
    def filled(self, alice: Any) -> Any:
        for number, (id, text, options) in enumerate(
            (
                (
                    "a",
                    "Bob flew to Oslo.",
                    {"tags": ["red"], "source": "user", "valid_until": day(9)},
                ),
                ("b", "Bob likes tea.", {"tags": ["blue"], "document_id": "mail"}),
                ("c", "Bob is kind.", {"tags": ["red", "old"], "network": "opinion"}),
            ),
            1,
        ):
            alice.retain(
                text,
                id=id,
                metadata={"n": number, "kind": "xxy"[number - 1]},
                event_at=day(number),
                recorded_at=day(number),
                **options,
            )
        turn = {"speaker": "Eve", "text": "Bob has ink.", "id": "d", "at": day(5)}
        alice.retain_dialogue([turn], document_id="call", source="web", recorded_at=day(5))
        return alice

    @pytest.mark.parametrize(("filters", "ids"), SOME)
    def test_every_method_understands_it(self, filled: Any, filters: Any, ids: Any) -> None:
        assert [memory.id for memory in filled.list(**filters)] == ids
        assert [memory.id for memory in filled.list(newest=True, **filters)] == ids[::-1]
        assert filled.count(**filters) == len(ids)
        assert filled.recall("", **filters).ids == ids[::-1]
        assert set(filled.recall("What of Bob?", **filters).ids) == set(ids)
        assert set(filled.recall_many(["What of Bob?"], **filters)[0].ids) == set(ids)
        seen = filled.erase(by="ann", why="asked", preview=True, **filters)
        assert seen.memories == len(ids)
        assert filled.forget(by="ann", why="asked", **filters) == len(ids)
        assert filled.count() == 4 - len(ids) and filled.count(**filters) == 0
        assert filled.at(day(6)).count(**filters) == len(ids)

    @pytest.mark.parametrize(("filters", "ids"), SOME)
    def test_every_method_takes_it_as_one_value(self, filled: Any, filters: Any, ids: Any) -> None:
        one = recollex.Filter(**filters)
        assert [memory.id for memory in filled.list(filter=one)] == ids
        assert filled.count(filter=one) == len(ids)
        assert sum(filled.value_counts("network", filter=one).values()) == len(ids)
        assert filled.recall("", filter=one).ids == ids[::-1]
        assert filled.recall_many(["What of Bob?"], filter=one)[0].ids
        assert filled.erase(by="ann", why="asked", preview=True, filter=one).memories == len(ids)
        assert filled.forget(by="ann", why="asked", filter=one) == len(ids)

    def test_a_talk_in_view_is_left_out_and_is_no_filter_of_what_goes(self, filled: Any) -> None:
        assert [memory.id for memory in filled.list(talk=["call", "unheard"])] == ["a", "b", "c"]
        assert filled.count(talk="mail") == 3
        assert set(filled.recall("What of Bob?", talk="call").ids) == {"a", "b", "c"}
        for remove in (filled.forget, filled.erase):
            with pytest.raises(errors.InputError, match="document_id='call'"):
                remove(by="ann", why="asked", talk="call")
        assert filled.count() == 4

    def test_one_value_stands_alone(self, filled: Any) -> None:
        red = recollex.Filter(tags=["red"])
        with pytest.raises(errors.InputError, match="not both"):
            filled.count(filter=red, tags=["blue"])
        with pytest.raises(errors.InputError, match=r"must be a recollex\.Filter"):
            filled.count(filter={"kind": "x"})

    def test_an_empty_question_lists_the_newest_of_a_filter(self, filled: Any) -> None:
        found = filled.recall("", tags=["red"], limit=1)
        assert (found.ids, found.confidence, found.signs) == (["c"], None, None)
        assert found.tokens == line_tokens(found) > 0
        assert found.to_prompt().endswith("Bob is kind.")
        assert filled.recall("", tags=["red"], as_recorded=day(2)).ids == ["a"]
        for wrong in ({}, {"tags": ["red"], "min_confidence": 0.5}):
            with pytest.raises(errors.InputError, match="empty"):
                filled.recall("", **wrong)

    def test_lists_and_counts_what_was_so_at_a_time_of_the_world(self, filled: Any) -> None:
        times = {"a": (1, 9), "b": (2, 99), "c": (3, 99), "d": (5, 99)}
        for n in range(1, 12):
            so = [id for id, (start, end) in times.items() if start <= n < end]
            assert [memory.id for memory in filled.list(as_world=day(n))] == so
            assert filled.count(as_world=day(n).isoformat()) == len(so)
            red = [id for id in so if id in "ac"]
            found = filled.list(as_world=day(n), tags=["red"], newest=True)
            assert [memory.id for memory in found] == red[::-1]
            assert filled.count(as_world=day(n), tags=["red"]) == len(red)
            past = filled.at(day(4)).list(as_world=day(n))
            assert [memory.id for memory in past] == [id for id in so if id != "d"]
        with pytest.raises(errors.InputError, match="as_world has no time zone"):
            filled.list(as_world="2024-05-01")

    def test_what_is_not_understood_is_refused(self, filled: Any) -> None:
        for where, message in (
            ({"n": {"$gt": 2}}, r"where\['n'\] has no operator '\$gt', did you mean 'gt'"),
            ({"kindd": "x"}, "where names 'kindd', .* nearest: 'kind'"),
        ):
            for method in (filled.list, filled.count, filled.forget):
                with pytest.raises(errors.InputError, match=message):
                    method(where=where)
            with pytest.raises(errors.InputError, match=message):
                filled.recall("Bob", where=where)
        assert filled.count() == 4
