"""Days begin where they are said: statements, questions and prompts in the speaker's zone."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

import recollex
from recollex_engine.clock import zone_of
from recollex_engine.domain.turn import read_turn
from recollex_engine.errors import InputError
from tests.bindings.command_line import command_line

LA, TOKYO, KOLKATA = (
    ZoneInfo(name) for name in ("America/Los_Angeles", "Asia/Tokyo", "Asia/Kolkata")
)
BERLIN, APIA = ZoneInfo("Europe/Berlin"), ZoneInfo("Pacific/Apia")
VECTOR = [1.0] + [0.0] * 7


def at(zone, *moment):
    return datetime(2026, *moment, tzinfo=zone)


SAID = [  # said at, words, the local days [first, end) that they name
    (at(LA, 5, 4, 21), "I met Bob yesterday.", at(LA, 5, 3), at(LA, 5, 4)),
    (at(LA, 5, 4, 21), "I met Bob today.", at(LA, 5, 4), at(LA, 5, 5)),
    (at(LA, 5, 4, 21), "I leave tomorrow.", at(LA, 5, 5), at(LA, 5, 6)),
    (at(LA, 5, 3, 21), "We saw a film last Sunday.", at(LA, 4, 26), at(LA, 4, 27)),
    (at(LA, 5, 31, 20), "I paid the rent this month.", at(LA, 5, 1), at(LA, 6, 1)),
    (at(LA, 12, 31, 20), "We moved this year.", at(LA, 1, 1), datetime(2027, 1, 1, tzinfo=LA)),
    (at(LA, 3, 8, 20), "It was long today.", at(LA, 3, 8), at(LA, 3, 9)),  # 23 hours
    (at(LA, 11, 1, 20), "It was long today.", at(LA, 11, 1), at(LA, 11, 2)),  # 25 hours
    (at(LA, 3, 9, 1), "We talked yesterday.", at(LA, 3, 8), at(LA, 3, 9)),
    (at(TOKYO, 5, 5, 7), "I met Bob yesterday.", at(TOKYO, 5, 4), at(TOKYO, 5, 5)),
    (at(TOKYO, 5, 5, 7), "It rained today.", at(TOKYO, 5, 5), at(TOKYO, 5, 6)),
    (at(TOKYO, 6, 1, 8), "Sales rose last month.", at(TOKYO, 5, 1), at(TOKYO, 6, 1)),
    (at(TOKYO, 1, 1, 8), "Sales rose last year.", at(TOKYO, 1, 1), None),
    (at(KOLKATA, 5, 5, 3), "We ate yesterday.", at(KOLKATA, 5, 4), at(KOLKATA, 5, 5)),
    (at(APIA, 5, 5, 1), "We swam yesterday.", at(APIA, 5, 4), at(APIA, 5, 5)),
    (at(BERLIN, 3, 29, 23), "We walked on Sunday.", at(BERLIN, 3, 29), at(BERLIN, 3, 30)),
    (at(UTC, 5, 4, 21), "I met Bob yesterday.", at(UTC, 5, 3), at(UTC, 5, 4)),
    (
        at(timezone(timedelta(hours=-7)), 5, 4, 21),
        "I met Bob yesterday.",
        at(LA, 5, 3),
        at(LA, 5, 4),
    ),
]


@pytest.fixture
def alice(tmp_path):
    with recollex.open(
        tmp_path, embedder=recollex.GivenVectors(8), clock=lambda: at(UTC, 6, 1)
    ) as store:
        yield store.agent("alice")


@pytest.mark.parametrize(("said", "words", "first", "end"), SAID)
@pytest.mark.parametrize("how", ["datetime", "iso", "turn", "zone"])
def test_a_statement_is_read_where_it_was_said(alice, said, words, first, end, how):
    if how == "turn":
        turn = {"speaker": "Ann", "text": words, "at": said}
        assert read_turn(turn, 0, "talk").zone == zone_of(said)
        return
    given = {"event_at": said}
    if how == "iso":
        if len({moment.utcoffset() for moment in (said, first, end or first)}) > 1:
            return  # an offset alone does not know when clocks change
        given = {"event_at": said.isoformat()}
    elif how == "zone" and zone_of(said) is not None:
        given = {"event_at": said.astimezone(UTC), "zone": zone_of(said)}
    memory = alice.get(alice.retain(words, embedding=VECTOR, **given))
    if end is None:
        first, end = first.replace(year=2025), first
    assert memory.event == (first, end)
    assert memory.event_at == said
    prompt = alice.recall(words, query_embedding=VECTOR).to_prompt()
    assert prompt.startswith(f"[{said:%B %d, %Y}] ")


@pytest.mark.parametrize(
    ("now", "found"),
    [
        (at(LA, 5, 4, 21), True),  # yesterday is the third there
        (at(UTC, 5, 5, 4), False),  # the same moment, where yesterday is the fourth
        (at(TOKYO, 5, 4, 9), True),
        (at(LA, 5, 5, 1), False),
    ],
)
def test_a_question_is_read_where_it_is_asked(alice, now, found):
    alice.retain("Tea.", embedding=VECTOR)
    recall = alice.recall("What did I do yesterday?", now=now, query_embedding=VECTOR)
    start, end = recall.time_range
    assert end - start == timedelta(days=1)
    midday = at(now.tzinfo, 5, 3, 12)
    assert (start <= midday < end) is found


def test_an_agent_has_a_zone_for_what_names_none(tmp_path):
    now = at(UTC, 6, 1, 2)  # 11 in the morning in Tokyo
    with recollex.open(tmp_path, zone="Asia/Tokyo", clock=lambda: now) as store:
        alice = store.agent("alice")
        memory = alice.get(alice.retain("I met Bob yesterday.", id="b"))
        assert memory.event == (at(TOKYO, 5, 31), at(TOKYO, 6, 1)) and memory.zone == "Asia/Tokyo"
        operations = alice.stats().operations
        assert alice.retain("I met Bob yesterday.", id="b") == "b"  # which is held already
        assert alice.stats().operations == operations
        with alice.transaction() as change:
            id = change.retain("I met Eve today.")
        assert alice.get(id).event == (at(TOKYO, 6, 1), at(TOKYO, 6, 2))
        elsewhere = alice.retain("I met Tom today.", event_at=at(LA, 5, 31, 19))
        assert alice.get(elsewhere).event == (at(LA, 5, 31), at(LA, 6, 1))
        asked = alice.recall("Whom did I meet yesterday?")
        assert asked.time_range == (at(TOKYO, 5, 31), at(TOKYO, 6, 1))
        asked = alice.recall("Whom did I meet yesterday?", now=at(LA, 5, 31, 19))
        assert asked.time_range == (at(LA, 5, 30), at(LA, 5, 31))
        assert alice.stats().zone == "Asia/Tokyo"
    with recollex.open(tmp_path, clock=lambda: now) as store:
        asked = store.agent("alice").recall("Whom did I meet yesterday?")
        assert asked.time_range == (at(TOKYO, 5, 31), at(TOKYO, 6, 1))
    with pytest.raises(InputError, match="zone"):
        recollex.open(tmp_path, zone="Mars/Base")


def test_a_zone_is_kept_and_one_that_is_none_is_refused(alice):
    id = alice.retain("Tea.", zone="Asia/Tokyo", embedding=VECTOR)
    assert alice.get(id).zone == "Asia/Tokyo"
    assert alice.get(alice.retain("Rain.", embedding=VECTOR)).zone is None
    for wrong in ("Mars/Base", "+99:00", ""):
        with pytest.raises(InputError, match="zone"):
            alice.retain("Tea.", zone=wrong, embedding=VECTOR)


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "-07:00"])
def test_the_command_line_takes_a_zone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], zone: str
) -> None:
    run = command_line(tmp_path, monkeypatch, capsys)
    at = ("--at", "2026-05-04T21:00")
    code, out, _ = run("retain", "memory", "I met Bob yesterday.", *at, f"--zone={zone}")
    assert code == 0
    with recollex.open(tmp_path / "memory") as store:
        memory = store.agent("default").get(out.strip())
    assert (memory.zone, memory.event_at) == (zone, datetime(2026, 5, 5, 4, tzinfo=UTC))
    assert memory.event[0] == datetime(2026, 5, 3, 7, tzinfo=UTC)


def test_dates_of_old_memories_are_read_again_where_they_were_said(alice, tmp_path):
    monday = at(UTC, 5, 5, 4)  # 21:00 of the fourth in Los Angeles
    for id in ("bob", "eve"):
        alice.retain(f"I met {id} yesterday.", id=id, event_at=monday, embedding=VECTOR)
    before = alice.get("bob")
    assert before.event == (at(UTC, 5, 4), at(UTC, 5, 5))
    alice.amend("bob", zone="America/Los_Angeles", by="ann")
    with alice.transaction() as change:
        change.amend("eve", zone="-07:00")
    for id in ("bob", "eve"):
        assert alice.get(id).event == (at(LA, 5, 3), at(LA, 5, 4))
    assert alice.get("bob").event_at == monday
    assert [each.zone for each in alice.history("bob")] == [None, "America/Los_Angeles"]
    assert alice.at(before.recorded_at).get("bob").event == before.event
    assert [entry.by for entry in alice.log(op="amend")] == ["ann", None]
    alice.amend("bob", zone="UTC")
    assert alice.get("bob").event == before.event
    with pytest.raises(InputError, match="zone"):
        alice.amend("bob", zone="Mars/Base")
    with pytest.raises(InputError, match="nothing to amend"):
        alice.amend("bob", zone="UTC")
    recollex.replay(tmp_path / "agents" / "alice", tmp_path / "again", agent_id="alice")
    with recollex.open(tmp_path / "again", embedder=recollex.GivenVectors(8)) as store:
        replayed = store.agent("alice")
        for id in ("bob", "eve"):
            versions = [each.event for each in alice.history(id)]
            assert [each.event for each in replayed.history(id)] == versions


def test_the_command_line_reads_dates_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = command_line(tmp_path, monkeypatch, capsys)
    run("retain", "memory", "I met Bob yesterday.", "--at", "2026-05-05T04:00", "--id", "bob")
    code, _, _ = run("amend", "memory", "bob", "--zone", "America/Los_Angeles")
    assert code == 0
    with recollex.open(tmp_path / "memory") as store:
        assert store.agent("default").get("bob").event == (at(LA, 5, 3), at(LA, 5, 4))
