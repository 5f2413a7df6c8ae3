"""Killed at any moment of thinking, consolidating or resolving: nothing is half there or twice."""

import os
import re
import shutil
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import recollex
from tests.bindings.word_vectors import WordVectors
from tests.forked import is_killed
from tests.scripted_llm import Step, scripted

START = datetime(2024, 5, 1, tzinfo=UTC)


def opened(folder: Path, **options: Any) -> recollex.Store:
    return recollex.open(folder, embedder=WordVectors(), **options)


def fill(folder: Path) -> None:
    with opened(folder) as store:
        ann = store.agent("ann")
        for number in range(12):
            when = START + timedelta(days=number)
            ann.retain(f"Alice Chen met Caro{number}line.", id=f"a{number}", event_at=when)
            ann.retain(f"Then Alice saw Caro{number}.", id=f"b{number}", event_at=when)
            ann.events.add(f"It rained {number}.", span=(when, when + timedelta(hours=1)))


def killed_in(work: Callable[[], object], seconds: float) -> bool:
    """Do some work in a child, and kill it after so many seconds; return whether it was killed."""
    timers: list[threading.Timer] = []

    def noted(child: int) -> None:
        timers.append(threading.Timer(seconds, kill, (child,)))
        timers[0].start()

    killed = is_killed(work, noted)
    timers[0].cancel()
    return killed


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def consolidate(folder: Path) -> None:
    with opened(folder) as store:
        store.agent("ann").events.consolidate(age=timedelta(0), threshold=1.0)


def resolve(folder: Path) -> None:
    with opened(folder) as store:
        store.agent("ann").facts.resolve_entities()


def state(folder: Path) -> tuple[Sequence[str], Sequence[str], Sequence[str], int]:
    with opened(folder) as store:
        ann = store.agent("ann")
        assert ann.verify().ok
        return (
            sorted(event.summary for event in ann.events.find()),
            sorted(episode.title for episode in ann.events.episodes()),
            sorted(each.name for each in ann.facts.entities(mentioned=True)),
            ann.count(),
        )


@pytest.mark.parametrize("work", [consolidate, resolve])
def test_a_job_that_is_killed_is_done_or_not_and_goes_on(
    tmp_path: Path, work: Callable[[Path], None]
) -> None:
    fill(tmp_path / "filled")
    before = state(tmp_path / "filled")
    shutil.copytree(tmp_path / "filled", tmp_path / "whole")
    began = time.monotonic()
    work(tmp_path / "whole")
    lasts = time.monotonic() - began
    after = state(tmp_path / "whole")
    assert after[:3] != before[:3]
    kills = 0
    for part in (0.0, 0.2, 0.4, 0.7, 1.0):
        folder = tmp_path / f"killed-{part}"
        shutil.copytree(tmp_path / "filled", folder)
        kills += killed_in(lambda folder=folder: work(folder), lasts * part)
        assert state(folder) in (before, after)
        work(folder)
        assert state(folder) == after
    assert kills


KILLS = 8


@pytest.mark.skipif(
    find_spec("openai") is None or find_spec("pydantic") is None,
    reason="needs the extra: recollex[llm]",
)
def test_opinions_of_a_process_that_was_killed_are_formed_by_the_next(tmp_path: Path) -> None:
    """No opinion is there twice, and none of an answer that was returned is lost."""
    child, number, killing, ended = [0], [0], ["answer"], threading.Event()

    def script(sent: Any) -> Step:
        asked = "opinions" if "response_format" in sent else "answer"
        if child[0] and asked == killing[0]:
            delay = (0.0, 0.002, 0.005, 0.015)[number[0] % 4]
            threading.Timer(delay, kill, (child[0],)).start()
        elif number[0] == 1:
            ended.wait(60)  # the first child is killed before it has opinions
        if asked == "answer":
            return Step("Rain is good [m1].")
        (about,) = set(re.findall(r"Is rain good on day (\d+)", str(sent["messages"])))
        texts = [f"On day {about} rain is {word}." for word in ("good", "wet")]
        return Step({"opinions": [opinion(text) for text in texts]})

    def think(url: str) -> None:
        with recollex.llm("m", base_url=url, attempts=1) as llm, opened(folder, llm=llm) as store:
            asked = f"Is rain good on day {number[0]}?"
            thought = store.agent("ada").think(asked, min_confidence=0.0)
            with (tmp_path / "answered").open("a") as file:
                file.write(f"{thought.id} {number[0]}\n")

    folder = tmp_path / "memory"
    with opened(folder) as store:
        store.agent("ada").retain("Rain fills the wells.", id="well")
    with scripted(script) as served:
        think(served.url)  # so that no child loads the client
        kills = 0
        for number[0] in range(1, KILLS + 1):
            killing[0] = "answer" if number[0] % 2 else "opinions"
            kills += is_killed(lambda: think(served.url), partial(child.__setitem__, 0))
            child[0] = 0
            ended.set()
            with opened(folder) as store:
                ada = store.agent("ada")
                held = [each.text for each in ada.opinions.find()]
                assert len(held) == len(set(held)) and len(held) % 2 == 0
                assert ada.verify().ok
        assert kills
        with (
            recollex.llm("m", base_url=served.url, attempts=1) as llm,
            opened(folder, llm=llm) as store,
        ):
            assert store.agent("ada").jobs.wait(20)
    with opened(folder) as store:
        ada = store.agent("ada")
        thoughts = {job.id: job for job in ada.jobs.find(status=["waiting", "running", "done"])}
        answered = dict(line.split() for line in (tmp_path / "answered").read_text().splitlines())
        assert set(answered) <= {id for id, job in thoughts.items() if job.status == "done"}
        held = sorted(each.text for each in ada.opinions.find())
        assert (
            len(held)
            == len(set(held))
            == 2 * sum(job.prompt == "opinions-1" for job in thoughts.values())
        )
        for id, about in answered.items():
            texts = [ada.opinions.get(each).text for each in thoughts[id].facts]
            assert texts == [f"On day {about} rain is {word}." for word in ("good", "wet")]


def opinion(text: str) -> dict[str, Any]:
    return {"text": text, "confidence": 0.7, "reasons": [], "evidence": ["m1"], "supersedes": None}
