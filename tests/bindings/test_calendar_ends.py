"""The first and the last moment of the calendar are times like others, whatever reads them."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollex
from recollex.remote.http import schema
from recollex_engine.clock import to_micros
from recollex_engine.errors import InputError
from tests.bindings.word_vectors import WordVectors

FIRST = datetime.min.replace(tzinfo=UTC)
LAST = datetime.max.replace(tzinfo=UTC)


@pytest.fixture
def alice(tmp_path: Path) -> Iterator[recollex.Agent]:
    with recollex.open(tmp_path / "memory", embedder=WordVectors(), durability="off") as store:
        yield store.agent("alice")


def test_tools_write_them(alice: recollex.Agent) -> None:
    alice.facts.add("Ann", "ruled", "Oslo", valid=(None, FIRST))
    alice.facts.add("Ann", "ruled", "Rome", valid=(LAST, None), uncertainty="start to the year")
    found = alice.tools.find_entity_contexts("Ann")
    assert found.to_prompt().splitlines() == [
        "Facts:",
        '1. (Ann, ruled, Oslo) {"end_time":"0001-01-01"}',
        '2. (Ann, ruled, Rome) {"start_time":"9999"}',
    ]
    written = [each["qualifiers"] for each in found.to_dict()["facts"]]
    assert [each.get("end_time") for each in written] == ["0001-01-01", None]
    assert found.tokens > 0
    both = alice.tools.lexical_retrieve("Ann ruled Oslo")
    less = alice.tools.lexical_retrieve("Ann ruled Oslo", max_tokens=both.tokens - 1)
    assert (len(both.facts), len(less.facts)) == (2, 1)


def test_events_of_the_last_month_become_an_episode(alice: recollex.Agent) -> None:
    for name in ("Ann", "Ben"):
        alice.events.add(f"{name} saw the end.", span=(LAST - timedelta(days=1), None))
    (episode,) = alice.events.consolidate(age=timedelta(0), threshold=1.0).episodes
    assert episode.window == (datetime(9999, 12, 1, tzinfo=UTC), LAST)
    assert alice.events.get_episode(episode.id).window == episode.window


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Asia/Tokyo"])
def test_a_request_over_http_may_hold_them_in_each_zone(
    zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        for moment in (FIRST, LAST):
            assert schema.read(moment.isoformat(), schema.moment(), "event_at") == moment
        before = schema.read("0001-01-01T00:00:00+01:00", schema.moment(), "event_at")
        with pytest.raises(InputError, match="event_at must lie between"):
            to_micros(before, "event_at")
    time.tzset()
