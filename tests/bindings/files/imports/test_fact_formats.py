"""Files of facts: dated triples and calendars; the fixture reads each twice."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollex
from recollex_engine.errors import InputError
from tests.bindings.command_line import command_line
from tests.bindings.files.imports.conftest import Ingest
from tests.bindings.word_vectors import WordVectors

TRIPLES = [
    {"subject": "Ann", "predicate": "lives_in", "object": "Oslo", "start_time": "2001",
     "end_time": "2003-05", "text": "Ann lived in Oslo."},
    {"subject": "Ann", "predicate": "met", "object": "Ben", "point_in_time": "2002-02"},
    {"subject": "Ann", "predicate": "age", "object": 41, "confidence": 0.5, "mood": "good"},
    {"subject": "Ann", "predicate": "colour", "object": {"text": "blue"}},
]  # fmt: skip


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


def test_triples_keep_their_precision(agent: recollex.Agent, ingest: Ingest) -> None:
    done = ingest("\n".join(map(json.dumps, TRIPLES)), "facts.jsonl")
    assert (done.format, done.read, done.facts, done.stored) == ("triples", 4, 4, 1)
    assert done.left_out == {"field 'mood'": 1}
    home, met, age, colour = agent.facts.find(subject="Ann")
    assert home.valid == (utc(2001, 1, 1), utc(2003, 6, 1))
    assert home.uncertainty == "start to the year, end to the month"
    (gist,) = agent.list()
    assert home.evidence == (gist.id,)
    assert (gist.text, gist.event_at, gist.metadata) == (
        "Ann lived in Oslo.",
        utc(2001, 1, 1),
        {"kind": "gist"},
    )
    assert (met.valid, met.uncertainty) == ((utc(2002, 2, 1), utc(2002, 3, 1)), "to the month")
    assert (age.object, age.confidence, age.by) == (41, 0.5, "ingest triples")
    assert (colour.object, colour.kind) == ("blue", "text")


def test_a_table_of_triples(agent: recollex.Agent, ingest: Ingest) -> None:
    table = (
        "subject;predicate;object;start;end;mood\nAnn;lives_in;Oslo;2001;;good\nBen;met;Ann;;;\n"
    )
    done = ingest(table, "facts.csv")
    assert (done.format, done.read, done.facts) == ("triples", 2, 2)
    assert done.columns["start"] == "start"
    assert done.columns["mood"] == "left out"
    assert [fact.valid[0] for fact in agent.facts.find()] == [utc(2001, 1, 1), None]


def test_a_file_that_is_read_again_takes_no_correction_back(
    agent: recollex.Agent, tmp_path: Path
) -> None:
    file = tmp_path / "facts.jsonl"
    file.write_text("\n".join(map(json.dumps, TRIPLES)), "utf-8")
    recollex.ingest(agent, file)
    home, met = agent.facts.find(subject="Ann")[:2]
    agent.facts.correct(home.id, object="Bergen")
    agent.facts.archive(met.id)
    again = recollex.ingest(agent, file)
    assert (again.facts, again.stored, again.read) == (0, 0, 4)
    assert agent.facts.get(home.id).object == "Bergen"
    assert met.id not in agent.facts.find().ids


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '{"subject": "Ann", "predicate": "met", "object": "Ben", "time": "soon"}',
            "line 2: 'soon'",
        ),
        ('{"subject": "Ann", "predicate": "met"}', "line 2: a triple needs .*object is missing"),
        ("Ann met Ben", "line 2 is not JSON"),
    ],
)
def test_a_wrong_triple_is_named(
    agent: recollex.Agent, tmp_path: Path, line: str, message: str
) -> None:
    file = tmp_path / "facts.jsonl"
    file.write_text(json.dumps(TRIPLES[1]) + "\n" + line, "utf-8")
    with pytest.raises(InputError, match=message):
        recollex.ingest(agent, file)
    assert len(agent.facts.find()) == 0  # all or none of a batch


CALENDAR = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//recollex//test//EN
BEGIN:VEVENT
UID:e1
SUMMARY:Board meeting
DTSTART;TZID=Europe/Oslo:20240504T100000
DTEND;TZID=Europe/Oslo:20240504T113000
LOCATION:Room 5
ORGANIZER;CN=Ann Berg:mailto:ann@example.org
ATTENDEE;CN=Ben Dahl:mailto:ben@example.org
ATTENDEE:mailto:eve@example.org
DESCRIPTION:Bring the figures.
END:VEVENT
BEGIN:VEVENT
UID:e2
SUMMARY:Holiday
DTSTART;VALUE=DATE:20240701
DTEND;VALUE=DATE:20240715
STATUS:CANCELLED
RRULE:FREQ=YEARLY;COUNT=2
END:VEVENT
BEGIN:VTODO
SUMMARY:Pay rent
END:VTODO
END:VCALENDAR
"""


def test_a_calendar_becomes_events(agent: recollex.Agent, ingest: Ingest) -> None:
    done = ingest(CALENDAR, "work.ics")
    assert (done.format, done.read, done.stored, done.facts, done.events) == ("ics", 3, 3, 7, 3)
    assert done.left_out == {"vtodo": 1}
    meeting, holiday, next_year = agent.events.find()
    span = (utc(2024, 5, 4, 8), utc(2024, 5, 4, 9, 30))
    assert (meeting.summary, meeting.span) == ("Board meeting", span)
    assert {each.name: each.role for each in meeting.participants} == {
        "Ann Berg": "organizer",
        "Ben Dahl": "attendee",
        "eve": "attendee",
    }
    said = {(fact.subject, fact.predicate, fact.object) for fact in meeting.evidence}
    assert {
        ("Ben Dahl", "attends", "Board meeting"),
        ("Board meeting", "takes place at", "Room 5"),
    } <= said
    assert {fact.valid for fact in meeting.evidence} == {span}
    assert (holiday.status, holiday.span) == ("cancelled", (utc(2024, 7, 1), utc(2024, 7, 15)))
    assert next_year.span == (utc(2025, 7, 1), utc(2025, 7, 15))
    assert "Bring the figures." in agent.get("work/e1").text


def test_a_calendar_without_icalendar_says_what_to_install(
    agent: recollex.Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work.ics").write_text(CALENDAR, "utf-8")
    monkeypatch.setattr("recollex.files.imports.calendar_file.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'recollex\[calendar\]'"):
        recollex.ingest(agent, tmp_path / "work.ics")


def test_the_command_says_how_many_facts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "facts.jsonl").write_text("\n".join(map(json.dumps, TRIPLES[1:])), "utf-8")
    run = command_line(tmp_path, monkeypatch, capsys)
    code, out, _ = run("ingest", "memory", "facts.jsonl", "--agent", "ann")
    assert (code, out) == (0, "0 memories stored for ann, 3 facts and 0 events of 3 entries\n")
    said = json.loads(run("ingest", "memory", "facts.jsonl", "--agent", "ann", "--json")[1])
    assert (said["facts"], said["read"], said["format"]) == (0, 3, "triples")


def test_facts_may_be_kept_as_words_alone(tmp_path: Path) -> None:
    lines = [{"subject": "Ann", "predicate": "met", "object": name, "point_in_time": "2002-02"}
             for name in ("Ben", "Eve")]  # fmt: skip
    (tmp_path / "facts.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        for name, embed in (("a", True), ("b", False)):
            agent = store.agent(name)
            recollex.ingest(agent, tmp_path / "facts.jsonl", embed_facts=embed)
            surfaces = agent.engine.facts().columns.surfaces
            assert len(surfaces.with_vectors(2)) == (2 if embed else 0)
            assert agent.facts.search("Eve", limit=1)[0].item.object == "Eve"
