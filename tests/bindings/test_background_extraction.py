"""Facts follow in the background, once, whatever happens to the process or to the model."""

import os
import random
import signal
import threading
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex_mind import extraction
from tests.bindings.extraction_script import TALK, Sent, echo, extracting, schema_of, turn
from tests.bindings.word_vectors import WordVectors
from tests.forked import is_killed
from tests.scripted_llm import Step, error, scripted
from tests.waiting import until

if find_spec("openai") is None or find_spec("pydantic") is None:
    pytest.skip("needs the extra: recollex[llm]", allow_module_level=True)

FULL = [turn(f"Number {n} is said by Ann.", n) for n in range(20)]
MARKED = {"extraction": {"exists": True}}


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2024, 5, 4, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def test_retaining_does_not_wait_and_facts_follow(tmp_path: Path) -> None:
    go_on = threading.Event()

    def script(sent: Sent) -> Step:
        go_on.wait(20)
        return echo(sent)

    with extracting(tmp_path, script, extraction="narrative") as (ada, served):
        ada.retain("Warm.")  # the first retain makes the agent
        ada.retain_dialogue(FULL, document_id="call")
        jobs = ada.jobs.find()
        assert jobs and {job.status for job in jobs} <= {"running", "waiting"}
        go_on.set()
        assert ada.jobs.wait(20)
        assert ada.count(where=MARKED) == 5
        assert [job.turns for job in ada.jobs.find()] == [(ada.list(limit=1)[0].id,)]
    assert len([each for each in served.asked if schema_of(each) == "ExtractedFacts"]) == 1


def test_a_talk_that_goes_on_is_read_once_it_has_rested(tmp_path: Path) -> None:
    clock = Clock()
    with extracting(tmp_path, echo, extraction="atomic", clock=clock) as (ada, _):
        ada.retain_dialogue(TALK, document_id="call")
        assert ada.jobs.wait(20) and ada.count(where=MARKED) == 0
        clock.now += timedelta(minutes=6)
        ada.retain("Something else.", document_id="other")
        assert ada.jobs.wait(20) and ada.count(where=MARKED) == 4
        assert {each.metadata["extraction"] for each in ada.list(where=MARKED)} == {"atomic-1"}
        assert [job.document_id for job in ada.jobs.find()] == ["other"]
        assert len(ada.extract().facts) == 1  # what has not rested, too


def test_what_has_rested_is_read_without_another_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extraction, "_WAIT", 0.2)
    clock = Clock()
    with extracting(tmp_path, echo, extraction="narrative", clock=clock) as (ada, _):
        ada.retain_dialogue(TALK, document_id="call")
        assert ada.jobs.wait(20)
        clock.now += timedelta(minutes=6)
        until(lambda: ada.count(where=MARKED) == 4)


def test_closing_ends_after_a_chunk_and_the_next_opening_goes_on(tmp_path: Path) -> None:
    def script(sent: Sent) -> Step:
        until(lambda: ada.engine.context.work.closing)
        return echo(sent)

    with extracting(tmp_path, script, extraction="narrative") as (ada, _):
        for number in range(4):
            ada.retain_dialogue(FULL, document_id=f"call-{number}")
    with recollex.open(tmp_path, embedder=WordVectors(), read_only=True) as store:
        left = len(store.agent("ada").jobs.find())
    assert left == 3
    with extracting(tmp_path, echo, extraction="narrative") as (ada, _):
        assert ada.jobs.wait(20)  # nothing was written: opening is enough
        assert ada.jobs.find() == [] and ada.count(where=MARKED) == 20


def test_a_model_that_is_away_is_asked_at_each_opening_and_thrice_at_most(tmp_path: Path) -> None:
    answered = [error(500)]

    def script(sent: Sent) -> Step:
        return answered[0] if answered else echo(sent)

    def opened() -> tuple[list[tuple[str, int]], int]:
        with (
            warnings.catch_warnings(),
            extracting(tmp_path, script, extraction="narrative") as (ada, served),
        ):
            warnings.simplefilter("ignore", RuntimeWarning)
            if not ada.count():
                ada.retain_dialogue(FULL[:-1], document_id="call")
                ada.retain_dialogue([turn("I moved to Rome.", 30)], document_id="call")
            assert ada.jobs.wait(20)
            jobs = [(job.status, job.attempts) for job in ada.jobs.find()]
            return jobs, len(served.asked)

    assert opened() == ([("failed", 1)], 2)
    assert opened() == ([("failed", 2)], 2)
    assert opened() == ([("failed", 3)], 2)
    answered.clear()
    assert opened() == ([("failed", 3)], 0)
    with extracting(tmp_path, echo) as (ada, _):
        assert len(ada.extract().facts) == 5 and ada.jobs.find() == []


def test_deleting_or_closing_the_agent_meanwhile_is_no_failure(tmp_path: Path) -> None:
    with (
        scripted(lambda sent: replace(echo(sent), wait=0.2)) as served,
        recollex.llm("m", base_url=served.url) as llm,
        recollex.open(tmp_path, embedder=WordVectors(), llm=llm, extraction="narrative") as store,
    ):
        for name in ("ada", "bob"):
            store.agent(name).retain_dialogue(FULL, document_id="call")
        store.delete_agent("ada")
        store.close_agent("bob")
        bob = store.agent("bob")
        assert bob.jobs.wait(20)
        assert bob.count(where=MARKED) == 5 and store.agents() == ["bob"]


DOCUMENTS = 8


class Killing:
    """A model during whose third answer to a child, or soon after it, the child is killed.

    A child that asks for a fifth one is killed before it gets it.
    """

    def __init__(self, seed: int, delays: Sequence[float]) -> None:
        self._chance, self._delays = random.Random(seed), delays
        self._child, self._asked = 0, 0
        self._has_ended = threading.Event()

    def ends(self, work: Callable[[], object]) -> bool:
        """Return whether a child that does the work was killed."""
        self._asked = 0
        self._has_ended.clear()
        killed = is_killed(work, partial(setattr, self, "_child"))
        self._child = 0
        self._has_ended.set()
        return killed

    def script(self, sent: Sent) -> Step:
        if self._child:
            self._asked += 1
            if self._asked == 3:  # an extraction, a comparison or the next one
                delay = self._chance.choice(self._delays)
                threading.Timer(delay, kill, (self._child,)).start()
            elif self._asked > 4:
                self._has_ended.wait(60)
        return echo(sent)


def kill(process: int) -> None:
    with suppress(ProcessLookupError):  # it had ended
        os.kill(process, signal.SIGKILL)


def told(folder: Path, url: str) -> None:
    """Draw facts in a child, until it is killed."""
    with (
        recollex.llm("m", base_url=url, attempts=1) as llm,
        recollex.open(folder, embedder=WordVectors(), llm=llm) as store,
    ):
        store.agent("ada").extract()


def test_killed_at_any_moment_no_fact_is_there_twice_and_none_is_lost(tmp_path: Path) -> None:
    def fill(ada: recollex.Agent) -> None:
        for number in range(DOCUMENTS):
            talk = [
                turn(f"I saw {number} {thing} in town {number}.", n, id=f"{number}-{n}")
                for n, thing in enumerate(("dogs", "cats", "owls"))
            ]
            ada.retain_dialogue(talk, document_id=f"call-{number}")

    def held(ada: recollex.Agent) -> list[tuple[str, str]]:
        return sorted((each.id, each.text) for each in ada.list(where=MARKED))

    with extracting(tmp_path / "whole", echo) as (ada, _):
        fill(ada)
        assert len(ada.extract().facts) == 3 * DOCUMENTS
        expected = held(ada)

    with extracting(tmp_path / "killed", echo) as (ada, _):
        fill(ada)
    killing, kills = Killing(7, (0.0, 0.002, 0.004, 0.008, 0.016, 0.03)), 0
    with scripted(killing.script) as served:
        for _ in range(6):
            kills += killing.ends(lambda: told(tmp_path / "killed", served.url))
            with recollex.open(tmp_path / "killed", embedder=WordVectors()) as store:
                ada = store.agent("ada")
                found = held(ada)
                assert set(found) <= set(expected) and len(found) == len(set(found))
                done = [turn for job in ada.jobs.find(status="done") for turn in job.turns]
                assert len(found) == len(done) == len(set(done))  # a turn gives a fact here
                assert ada.count() == 3 * DOCUMENTS + len(found)
                assert ada.verify().ok
    assert kills >= 3
    with extracting(tmp_path / "killed", echo) as (ada, _):
        ada.extract()
        assert held(ada) == expected and ada.jobs.find() == []


def talk(number: int) -> list[dict[str, Any]]:
    """Return a talk of twenty turns, which is a full chunk."""
    return [turn(f"I saw {n} owls in town {number}.", n, id=f"{number}-{n}") for n in range(20)]


def in_background(folder: Path, url: str, retains: bool, told: Path) -> None:
    """Let facts follow in a child, until it is killed; say which talks were retained."""
    with (
        recollex.llm("m", base_url=url, attempts=1) as llm,
        recollex.open(folder, embedder=WordVectors(), llm=llm, extraction="narrative") as store,
    ):
        ada = store.agent("ada")
        for number in range(DOCUMENTS if retains else 0):
            if ada.count(document_id=f"call-{number}") == 0:
                ada.retain_dialogue(talk(number), document_id=f"call-{number}")
                with told.open("a") as file:
                    file.write(f"{number}\n")
        ada.jobs.wait(20)


@pytest.mark.parametrize("retains", [False, True], ids=["reading", "writing as well"])
def test_killed_in_the_background_it_goes_on(tmp_path: Path, retains: bool) -> None:
    def held(ada: recollex.Agent) -> list[tuple[str, str]]:
        """Return the facts; their ids depend on what was recorded before them."""
        facts = ada.list(where=MARKED, limit=1000)
        return sorted(("" if retains else each.id, each.text) for each in facts)

    def fill(folder: Path, **options: Any) -> None:
        with extracting(folder, echo, **options) as (ada, _):
            for number in range(DOCUMENTS):
                ada.retain_dialogue(talk(number), document_id=f"call-{number}")

    fill(tmp_path / "whole")
    with extracting(tmp_path / "whole", echo, extraction="narrative") as (ada, _):
        assert ada.jobs.wait(20)
        expected = held(ada)
        assert len(expected) == 5 * DOCUMENTS

    folder, told = tmp_path / "killed", tmp_path / "told"
    told.touch()
    if not retains:
        fill(folder)
    killing, kills = Killing(3, (0.0, 0.002, 0.004, 0.008, 0.016)), 0
    with scripted(killing.script) as served:
        for _ in range(5):
            kills += killing.ends(lambda: in_background(folder, served.url, retains, told))
            with recollex.open(folder, embedder=WordVectors()) as store:
                ada = store.agent("ada")
                found = held(ada)
                assert set(found) <= set(expected) and len(found) == len(set(found))
                done = [turn for job in ada.jobs.find(status="done") for turn in job.turns]
                assert len(done) == len(set(done)) == 4 * len(found)  # twenty turns give five
                kept = ada.count() - len(found)
                assert kept % 20 == 0 and kept >= 20 * (
                    len(told.read_text().split()) if retains else DOCUMENTS
                )
                assert ada.verify().ok
        assert kills >= 3
        in_background(folder, served.url, retains, told)
    with recollex.open(folder, embedder=WordVectors()) as store:
        ada = store.agent("ada")
        assert held(ada) == expected and ada.jobs.find() == []
        assert ada.count() == 25 * DOCUMENTS and ada.verify().ok
