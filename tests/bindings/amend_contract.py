"""Tags, metadata and the end of validity change without the text: recorded, cut and undone."""

from typing import Any

import numpy as np
import pytest

import recollex
from recollex_engine import errors
from tests.bindings.days_of_may import day


class AmendContract:
    @pytest.fixture
    def todo(self, alice: Any) -> Any:
        alice.retain(
            "Ann calls Bob in Oslo.",
            id="todo",
            tags=["open"],
            metadata={"n": 1},
            event_at=day(1),
            recorded_at=day(1),
            entities=["Eve"],
            source="user",
            document_id="list",
        )
        return alice

    def test_what_is_not_given_stays(self, todo: Any) -> None:
        before = todo.get("todo")
        todo.amend("todo", tags=["done"], by="ann", why="called", recorded_at=day(2))
        after = todo.get("todo")
        changed = {"tags", "recorded_at", "replaces"}
        same = before.to_dict().keys() - changed
        assert {name: before.to_dict()[name] for name in same} == {
            name: after.to_dict()[name] for name in same
        }
        assert (after.tags, after.replaces.text, after.trust) == (("done",), before.text, "user")
        todo.amend("todo", metadata={"n": 2, "m": [1]}, valid_until=day(9), recorded_at=day(3))
        last = todo.get("todo")
        assert (last.tags, last.metadata, last.valid_until) == (
            ("done",),
            {"n": 2, "m": [1]},
            day(9),
        )
        todo.amend("todo", tags=[], metadata={}, valid_until=None, recorded_at=day(4))
        assert (todo.get("todo").tags, todo.get("todo").metadata) == ((), {})
        assert todo.get("todo").valid_until is None

    def test_the_past_the_log_and_the_difference_show_it(self, todo: Any) -> None:
        todo.amend("todo", tags=["done"], by="ann", why="called", recorded_at=day(2))
        versions = todo.history("todo")
        assert [(each.tags, each.closed and each.closed.how) for each in versions] == [
            (("open",), "amended"),
            (("done",), None),
        ]
        assert (versions[0].closed.by, versions[0].closed.why) == ("ann", "called")
        assert todo.at(day(1, 12)).get("todo").tags == ("open",)
        assert todo.at(day(1, 12)).list(tags=["open"])[0].closed is None
        assert todo.recall("Who calls Bob?", tags=["open"]).ids == []
        assert todo.recall("Who calls Bob?", tags=["done"]).ids == ["todo"]
        asked = {"tags": ["open"], "as_recorded": day(1, 12)}
        assert todo.recall("Who calls Bob?", **asked).ids == ["todo"]
        (entry,) = todo.log(op="amend")
        assert (entry.kind, entry.ids, entry.by, entry.why) == ("amend", ("todo",), "ann", "called")
        assert todo.log(op="correct") == []
        change = todo.diff(day(1, 12), day(3))
        assert [memory.tags for memory in change.added] == [("done",)]
        assert [memory.closed.how for memory in change.closed] == ["amended"]
        assert todo.verify().ok

    def test_it_is_undone_by_amending_back_and_erased_with_its_memory(self, todo: Any) -> None:
        first = todo.get("todo")
        todo.amend("todo", tags=["done"], valid_until=day(9))
        todo.amend("todo", tags=["open"], valid_until=None)
        back = todo.get("todo")
        assert (back.tags, back.valid_until, back.metadata) == (first.tags, None, first.metadata)
        assert todo.count(tags=["done"]) == 0
        assert todo.erase("todo", by="ann", why="asked").memories == 3
        assert todo.log(op="amend") == [] and todo.verify().ok

    @pytest.mark.parametrize("together", [False, True])
    def test_the_vector_of_the_text_stays(self, todo: Any, reference: Any, together: bool) -> None:
        vector = np.eye(64, dtype=np.float32)[3]
        todo.retain("A text of its own.", id="own", embedding=vector)
        if together:
            with todo.transaction() as tx:
                tx.retain("Bob called back.")
                tx.amend("own", tags=["t"])
        else:
            todo.amend("own", tags=["t"])
        found = todo.recall("?", query_embedding=vector, explain=True, preset="satf")
        assert found[0].id == "own" and found[0].scores["semantic"] == pytest.approx(1, abs=1e-3)

    def test_transactions_amend(self, todo: Any) -> None:
        with todo.transaction(by="ann") as tx:
            tx.retain("Bob called back.")
            tx.amend("todo", tags=["done"])
        assert todo.get("todo").tags == ("done",) and todo.log(op="amend")[0].by == "ann"

    def test_what_cannot_be_amended_is_refused(self, todo: Any) -> None:
        for options, message in (
            ({}, "say what to amend"),
            ({"tags": ["open"]}, "nothing to amend"),
            ({"tags": "open"}, "tags must be a list"),
            ({"metadata": {"n": object()}}, "."),
            ({"valid_until": day(1)}, "valid_until must be later"),
        ):
            with pytest.raises(errors.InputError, match=message):
                todo.amend("todo", **options)
        with pytest.raises(errors.UnknownIdError):
            todo.amend("nothing", tags=["x"])
        with pytest.raises(errors.ReadOnlyError):
            todo.at(day(2)).amend("todo", tags=["x"])
        assert isinstance(todo.get("todo"), recollex.Memory) and len(todo.history("todo")) == 1
