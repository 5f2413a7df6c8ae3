"""Turns that are ingested with the facts that they tell."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex_engine.errors import InputError
from tests.bindings.command_line import command_line
from tests.bindings.imports.conftest import Ingest

TEXTS = [
    "The meeting is on Monday.",
    "I visited the Louvre on 3 May.",
    "No, it is Tuesday.",
    "Nice!",
]


def turns(first: int = 0) -> list[dict[str, Any]]:
    return [
        {"speaker": "Ann", "text": text, "at": f"2024-05-04T10:0{place}:00Z", "id": f"t{place}"}
        for place, text in enumerate(TEXTS[first:], first)
    ]


def test_new_turns_tell_facts(agent: recollex.Agent, ingest: Ingest) -> None:
    done = ingest(turns(), "talk.json", facts=True)
    assert (done.stored, done.facts) == (4, 2)
    louvre, meeting = agent.facts.find()
    assert (meeting.subject, meeting.object, meeting.evidence) == (
        "meeting",
        "Tuesday",
        ("t0", "t2"),
    )
    day = datetime(2024, 5, 3, tzinfo=UTC), datetime(2024, 5, 4, tzinfo=UTC)
    assert (louvre.predicate, louvre.object, louvre.valid) == ("visited", "Louvre", day)
    assert louvre.by == "facts of turns"
    assert agent.verify().ok


def test_turns_that_are_there_already_correct_nothing(
    agent: recollex.Agent, ingest: Ingest
) -> None:
    ingest(turns(), "talk.json", facts=True)
    id = agent.facts.find(subject="meeting")[0].id
    agent.facts.correct(id, object=recollex.Text("Friday"))
    ingest(turns(), "talk.json", facts=True)
    assert agent.facts.get(id).object == "Friday"


def test_batches_of_one_talk_belong_together(agent: recollex.Agent, ingest: Ingest) -> None:
    ingest(turns(), "talk.json", facts=True, batch=1)
    assert agent.facts.find(subject="meeting")[0].object == "Tuesday"


def test_a_time_is_as_precise_as_it_was_said(agent: recollex.Agent, ingest: Ingest) -> None:
    said = {
        "I took a trip to Rome in May 2022.": ("took a trip to", "to the month"),
        "I married Dora in June 2015.": ("married to", "start to the month"),
        "I joined Intel in 2019.": ("works at", "start to the year"),
        "I have lived in Oslo since May 2018.": ("lives in", "parsed: since May 2018"),
    }
    at = "2024-05-04T10:00:00Z"
    told = [{"speaker": "Ann", "text": text, "at": at, "id": text[-9:]} for text in said]
    ingest(told, "talk.json", facts=True)
    found = {fact.predicate: fact.uncertainty for fact in agent.facts.find()}
    assert {predicate: found[predicate] for predicate, _ in said.values()} == dict(said.values())
    (home,) = agent.facts.find(predicate="lives in")
    assert home.valid == (datetime(2018, 5, 1, tzinfo=UTC), None)


def test_without_it_no_facts_are_made(agent: recollex.Agent, ingest: Ingest) -> None:
    assert ingest(turns(), "talk.json").facts == 0
    assert len(agent.facts.find()) == 0
    with pytest.raises(InputError, match="facts must be True or False"):
        ingest(turns(), "talk.json", facts=1)


def test_the_command_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = command_line(tmp_path, monkeypatch, capsys)
    line = '{"speaker": "Ann", "text": "I moved to Rome.", "at": "2024-05-04T10:00:00Z", "id": "t"}'
    words = ("ingest", "memory", "-", "--document", "d", "--facts")
    assert run(*words, stdin=line)[1] == "1 memory stored for default, 1 fact\n"
    assert run(*words, stdin=line)[1] == "0 memories stored for default, 1 there already\n"
