"""Extreme and odd values that are allowed."""

import unicodedata
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

import recollex
from recollex_engine.errors import InputError
from tests.bindings.bad_input.bad_values import AT, D, V, refuses

EAST, WEST = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))


@pytest.mark.parametrize(
    "text", ["Last Friday.", "Next year we met in May, two weeks ago.", "In 9999, in 1."]
)
@pytest.mark.parametrize(
    ("moment", "zone"),
    [
        *((datetime.min, zone) for zone in (UTC, WEST)),
        *((datetime.max, zone) for zone in (UTC, EAST)),
    ],
)
def test_the_ends_of_time_are_times(tmp_path, moment, zone, text):
    moment = moment.replace(tzinfo=zone)
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(D), durability="off") as store:
        agent = store.agent("a")
        agent.retain(text, event_at=moment, id="1", embedding=V)
        agent.retain_dialogue(
            [{"text": text, "at": moment.isoformat(), "id": "2"}], document_id="d"
        ) if 0 else None
        found = agent.recall(text, query_embedding=V, now=moment)
        assert [each.id for each in found] == ["1"] and not found.trace.errors
        assert found[0].event_at.year in (1, 9999)
        assert found.to_prompt()
        assert found.to_dict()["memories"][0]["event_at"]
        after = agent.recall("text", query_embedding=V, since=AT)
        assert len(after) == (moment.year == 9999)
        assert agent.verify().ok


@pytest.mark.parametrize(("moment", "zone"), [(datetime.min, EAST), (datetime.max, WEST)])
def test_a_time_that_its_zone_takes_beyond_the_calendar_is_refused(tmp_path, moment, zone):
    moment = moment.replace(tzinfo=zone)
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(D), durability="off") as store:
        agent = store.agent("a")
        for call in (
            lambda: agent.retain("Tea.", event_at=moment, embedding=V),
            lambda: agent.recall("Tea?", query_embedding=V, now=moment),
            lambda: agent.at(moment),
            lambda: agent.facts.add("Ann", "likes", "tea", valid=(moment, None)),
            lambda: agent.retain_dialogue(
                [{"text": "Tea.", "speaker": "Ann", "at": moment.isoformat()}], document_id="d"
            ),
        ):
            refuses(call, InputError, "must lie between 0001-01-01.*beyond the calendar")


def test_recorded_at_the_ends_of_time(tmp_path):
    moment, last = (each.replace(tzinfo=UTC) for each in (datetime.min, datetime.max))
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(D), durability="off") as store:
        agent = store.agent("a")
        agent.retain("Said.", recorded_at=moment, id="1", embedding=V)
        assert agent.get("1").recorded_at == moment
        refuses(lambda: agent.retain("x", recorded_at=last, embedding=V), InputError, "the clock")
        agent.retain("Said after.", id="2", embedding=V)
        assert [each.id for each in agent.list()] == ["1", "2"]
        assert agent.verify().ok
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(D)) as store:
        assert len(store.agent("a").list()) == 2


def test_what_looks_odd_and_is_allowed(tmp_path):
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(D), durability="off") as store:
        agent = store.agent("a")
        for text in (
            "\0",
            "\u202e",
            "e\u0301" * 1000,
            "\U0001f600",
            "<|endoftext|>",
            '"' * 99,
            "x" * 10**6,
        ):
            id = agent.retain(text, embedding=V.astype(int))
            assert agent.get(id).text == unicodedata.normalize("NFC", text)
            agent.recall(text[:20_000], query_embedding=V.tolist())
        agent.retain("x", metadata={"a": [2**63, -(2**63), None, True, {"": ""}]}, embedding=V)
        agent.retain("x", tags=None, entities=None, metadata=None, id=[None], embedding=V)
        agent.retain_many(
            iter(["x", "y"]), embedding=(V, V), tags=("a", "b"), network=["world", "agent"]
        )
        assert agent.recall("x", where={"b": {"exists": True}}, query_embedding=V).ids == []
        agent.recall("x", thinking_budget=np.int64(5), max_tokens=2**31, query_embedding=V)
        assert agent.verify().ok
