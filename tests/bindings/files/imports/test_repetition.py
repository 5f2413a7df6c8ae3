"""Entries of a calendar that repeat, were moved or were cancelled."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

import recollex
from recollex.files.imports import repetition
from recollex_engine.clock import to_micros
from tests.bindings.files.imports.conftest import Ingest
from tests.bindings.word_vectors import WordVectors

HEAD = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//recollex//test//EN\n"


def calendar(*entries: str, head: str = HEAD) -> str:
    """Return a calendar of entries, each given as its lines."""
    return (
        head
        + "".join(f"BEGIN:VEVENT\n{each}\nEND:VEVENT\n" for each in entries)
        + "END:VCALENDAR\n"
    )


WEEKLY = (
    "UID:w\nSUMMARY:Choir practice\nDTSTART;TZID=Europe/Oslo:20260317T190000\n"
    "DTEND;TZID=Europe/Oslo:20260317T210000\nLOCATION:Town hall\nDESCRIPTION:Bring the scores.\n"
    "RRULE:FREQ=WEEKLY;BYDAY=TU;UNTIL=20260630T170000Z\nEXDATE;TZID=Europe/Oslo:20260512T190000"
)
MOVED = (
    "UID:w\nSUMMARY:Choir practice\nDTSTART;TZID=Europe/Oslo:20260416T180000\n"
    "DTEND;TZID=Europe/Oslo:20260416T200000\nRECURRENCE-ID;TZID=Europe/Oslo:20260414T190000"
)
CANCELLED = (
    "UID:w\nSTATUS:CANCELLED\nDTSTART;TZID=Europe/Oslo:20260505T190000\n"
    "RECURRENCE-ID;TZID=Europe/Oslo:20260505T190000"
)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


def texts_of(agent: recollex.Agent, day: datetime) -> list[str]:
    """Return the texts of the memories of one day, in UTC."""
    return [each.text for each in agent.list(since=day, until=day + timedelta(days=1))]


def test_a_weekly_entry_is_there_on_each_of_its_days(agent: recollex.Agent, ingest: Ingest) -> None:
    done = ingest(calendar(WEEKLY, MOVED, CANCELLED), "choir.ics")
    assert (done.read, done.stored, done.events) == (16, 16, 16)
    assert done.left_out == {}
    rule = "It repeats every week on Tuesday until 2026-06-30."
    winter = texts_of(agent, utc(2026, 3, 24))
    assert winter == [
        f"Choir practice: 2026-03-24, 19:00 to 21:00 (+01:00). {rule}\nPlace: Town hall."
    ]
    (summer,) = texts_of(agent, utc(2026, 3, 31))  # the same hour in Oslo
    assert summer.startswith("Choir practice: 2026-03-31, 19:00 to 21:00 (+02:00).")
    assert {each.entities for each in agent.list(limit=100)} == {("Choir",)}  # not "It repeats"
    (first,) = texts_of(agent, utc(2026, 3, 17))
    assert first.endswith("Bring the scores.")
    (last,) = texts_of(agent, utc(2026, 6, 30))
    assert rule in last
    assert texts_of(agent, utc(2026, 7, 7)) == []
    assert texts_of(agent, utc(2026, 3, 25)) == []
    spans = [event.span for event in agent.events.find()]
    assert (utc(2026, 3, 31, 17), utc(2026, 3, 31, 19)) in spans
    memory = next(each for each in agent.list(limit=100) if each.event_at == utc(2026, 3, 31, 17))
    assert memory.event == (utc(2026, 3, 31, 17), utc(2026, 3, 31, 19))


def test_what_was_moved_is_there_once(agent: recollex.Agent, ingest: Ingest) -> None:
    ingest(calendar(MOVED, WEEKLY), "choir.ics")  # in any order
    assert texts_of(agent, utc(2026, 4, 14)) == []
    (moved,) = texts_of(agent, utc(2026, 4, 16))
    assert "2026-04-16, 18:00 to 20:00 (+02:00)" in moved
    assert "It was moved from 2026-04-14, 19:00 (+02:00)." in moved
    assert "It repeats every week on Tuesday" in moved


@pytest.mark.parametrize("day", [utc(2026, 5, 5), utc(2026, 5, 12)])
def test_what_was_cancelled_says_so(agent: recollex.Agent, ingest: Ingest, day: datetime) -> None:
    ingest(calendar(WEEKLY, CANCELLED), "choir.ics")
    (text,) = texts_of(agent, day)
    assert text.startswith(f"Choir practice: {day:%Y-%m-%d}, 19:00")
    assert " Cancelled. " in text
    found = [event for event in agent.events.find() if event.status == "cancelled"]
    assert day in {event.span[0].replace(hour=0) for event in found}
    (fact,) = next(event for event in found if event.span[0] > day).evidence
    assert fact.predicate == "is cancelled"


def test_an_invitation_that_was_taken_back_is_cancelled(
    agent: recollex.Agent, ingest: Ingest
) -> None:
    entry = "UID:a\nSUMMARY:Lunch\nDTSTART:20260317T120000Z"
    ingest(calendar(entry, head=HEAD + "METHOD:CANCEL\n"), "a.ics")
    assert texts_of(agent, utc(2026, 3, 17)) == ["Lunch: 2026-03-17, 12:00. Cancelled."]


@pytest.mark.parametrize(
    ("rule", "said", "days"),
    [
        ("FREQ=DAILY;COUNT=3", "every day 3 times", ["03-17", "03-18", "03-19"]),
        (
            "FREQ=WEEKLY;INTERVAL=2;COUNT=3;BYDAY=TU,FR",
            "every 2 weeks on Tuesday and Friday 3 times",
            ["03-17", "03-20", "03-31"],
        ),
        (
            "FREQ=MONTHLY;BYDAY=-1TU;UNTIL=20260531",
            "every month on the last Tuesday until 2026-05-31",
            ["03-17", "03-31", "04-28", "05-26"],
        ),
        (
            "FREQ=YEARLY;BYMONTH=3,4;BYMONTHDAY=17;COUNT=2",
            "every year on day 17 in March and April 2 times",
            ["03-17", "04-17"],
        ),
    ],
)
def test_a_rule_is_said_and_followed(
    agent: recollex.Agent, ingest: Ingest, rule: str, said: str, days: list[str]
) -> None:
    ingest(calendar(f"UID:a\nSUMMARY:Bins\nDTSTART;VALUE=DATE:20260317\nRRULE:{rule}"), "a.ics")
    assert sorted(each.text for each in agent.list()) == [
        f"Bins: 2026-{day}. It repeats {said}." for day in days
    ]


def test_days_are_whole_days(agent: recollex.Agent, ingest: Ingest) -> None:
    trip = "UID:a\nSUMMARY:Trip\nDTSTART;VALUE=DATE:20260701\nDTEND;VALUE=DATE:20260715"
    ingest(calendar(trip + "\nRDATE;VALUE=DATE:20260901"), "a.ics")
    first, again = agent.list()
    assert first.text == "Trip: 2026-07-01 to 2026-07-14. It repeats on other days."
    assert first.event == (utc(2026, 7, 1), utc(2026, 7, 15))
    assert again.event == (utc(2026, 9, 1), utc(2026, 9, 15))


def test_a_day_is_one_of_its_zone(agent: recollex.Agent, ingest: Ingest) -> None:
    entry = "UID:a\nSUMMARY:Fast\nDTSTART;VALUE=DATE:20260329\nRRULE:FREQ=DAILY;COUNT=2"
    ingest(calendar(entry), "a.ics", zone=ZoneInfo("Europe/Oslo"))
    starts = [utc(2026, 3, 28, 23), utc(2026, 3, 29, 22)]
    ends = [*starts[1:], utc(2026, 3, 30, 22)]  # the first has 23 hours
    assert [event.span for event in agent.events.find()] == list(zip(starts, ends, strict=True))
    assert {each.text[:16] for each in agent.list()} == {f"Fast: 2026-03-{d}" for d in (29, 30)}


def test_an_entry_without_an_end_is_read_for_a_year(
    agent: recollex.Agent, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = to_micros(utc(2026, 6, 1), "now")
    monkeypatch.setattr(repetition, "system_clock", lambda: now)
    entry = "UID:a\nSUMMARY:Bins\nDTSTART:20260317T080000Z\nRRULE:FREQ=WEEKLY"
    done = ingest(calendar(entry), "a.ics")
    assert done.left_out == {"repetition after a year": 1}
    assert len(texts_of(agent, utc(2027, 6, 1))) == 1
    assert texts_of(agent, utc(2027, 6, 8)) == []
    assert done.read == 64


def test_the_last_times_of_a_long_series_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    from icalendar import Event

    monkeypatch.setattr(repetition, "MOST", 5)
    monkeypatch.setattr(repetition, "system_clock", lambda: to_micros(utc(2026, 6, 1), "now"))
    part = Event.from_ical(
        "BEGIN:VEVENT\nDTSTART:20200101T080000Z\nRRULE:FREQ=YEARLY;COUNT=90\nEND:VEVENT"
    )
    found = repetition.find_repetition(part, utc(2020, 1, 1, 8))
    assert [each.year for each in found.starts] == [2023, 2024, 2025, 2026, 2027]
    assert found.skipped == {"repetition before others": 3, "repetition after a year": 1}


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=SECONDLY",
        "FREQ=NONSENSE",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=WEEKLY;BYDAY=XX",
        "FREQ=DAILY;BYMONTH=13;COUNT=2",
    ],
)
def test_a_rule_that_is_not_followed_is_counted(
    agent: recollex.Agent, ingest: Ingest, rule: str
) -> None:
    entry = f"UID:a\nSUMMARY:Bins\nDTSTART:20260317T080000Z\nRRULE:{rule}"
    done = ingest(calendar(entry), "a.ics")
    assert (done.read, done.left_out) == (1, {"repetition of an entry": 1})
    (memory,) = agent.list()
    assert "It repeats" in memory.text


@pytest.mark.parametrize(
    ("lines", "left_out"),
    [
        ("DTSTART:soon", "entry without a title or a time"),
        ("DTSTART;VALUE=DATE:99991231", "entry beyond the year 9999"),
        ("DTSTART:99990101T000000Z\nRRULE:FREQ=DAILY", "repetition of an entry"),
        ("DTSTART:20260317T080000Z\nDURATION:soon", None),
        ("DTSTART:20260317T080000Z\nEXDATE:soon", None),
    ],
)
def test_what_is_broken_is_counted_and_stops_nothing(
    agent: recollex.Agent, ingest: Ingest, lines: str, left_out: str | None
) -> None:
    good = "UID:b\nSUMMARY:Yoga\nDTSTART:20260317T080000Z"
    done = ingest(calendar(f"UID:a\nSUMMARY:Bins\n{lines}", good), "a.ics")
    assert done.left_out == ({left_out: 1} if left_out else {})
    assert agent.get("a/b").text == "Yoga: 2026-03-17, 08:00."


TIMES = [
    # DTSTART, of the calendar, said, zone, day in the prompt
    (
        ";TZID=America/Los_Angeles:20260504T210000",
        "",
        "05-04, 21:00 (-07:00)",
        "America/Los_Angeles",
        4,
    ),
    (":20260505T040000Z", "America/Los_Angeles", "05-04, 21:00 (-07:00)", "America/Los_Angeles", 4),
    (":20260505T040000Z", "", "05-05, 04:00", "UTC", 5),
    (":20260505T040000Z", "Nowhere/Else", "05-05, 04:00", "UTC", 5),
    (":20260505T070000", "Asia/Tokyo", "05-05, 07:00 (+09:00)", "Asia/Tokyo", 5),
    (";VALUE=DATE:20260505", "Asia/Tokyo", "05-05", "Asia/Tokyo", 5),
    (
        ";TZID=Asia/Tokyo:20260505T070000",
        "America/Los_Angeles",
        "05-05, 07:00 (+09:00)",
        "Asia/Tokyo",
        5,
    ),
]


@pytest.mark.parametrize(("start", "own", "said", "zone", "day"), TIMES)
def test_an_entry_keeps_its_zone(
    tmp_path: Path, start: str, own: str, said: str, zone: str, day: int
) -> None:
    head = HEAD + (f"X-WR-TIMEZONE:{own}\n" if own else "")
    (tmp_path / "a.ics").write_text(calendar(f"UID:a\nSUMMARY:Yoga\nDTSTART{start}", head=head))
    with recollex.open(tmp_path / "s", embedder=WordVectors(), zone="Europe/Rome") as store:
        agent = store.agent("a")
        recollex.ingest(agent, tmp_path / "a.ics")
        (memory,) = agent.list()
        assert (memory.text, memory.zone) == (f"Yoga: 2026-{said}.", zone)
        (event,) = agent.events.find()
        held = memory.event
        assert held is not None
        assert held[0] <= event.span[0] < event.span[1] <= held[1]
        assert event.span[0] - held[0] < timedelta(hours=1)
        prompt = agent.recall("Yoga", now=utc(2026, 6, 1)).to_prompt()
        assert prompt.startswith(f"[May {day:02}, 2026]")
