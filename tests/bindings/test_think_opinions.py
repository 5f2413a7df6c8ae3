"""Which opinions follow from an answer: formed afterwards, once, and erased with their evidence."""

import re
import threading
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import recollex
import recollex.aio
from recollex.errors import UnknownIdError
from tests.bindings.thinking_agent import QUESTION, answers, filled, formed, thinking
from tests.bindings.word_vectors import WordVectors
from tests.scripted_llm import Step, error, scripted

if find_spec("openai") is None or find_spec("pydantic") is None:
    pytest.skip("needs the extra: recollex[llm]", allow_module_level=True)


def test_opinions_are_formed_afterwards(tmp_path: Path) -> None:
    opinions = {
        "opinions": [
            formed("Remote work is great.", supersedes="m3", evidence=["[m2]", "m9", "m3"]),
            formed("Oslo is nice.", evidence=[]),
        ]
    }
    with thinking(tmp_path, answers("Great [m2]. Oslo is nice [m1].", opinions=opinions)) as (
        ada,
        served,
        ids,
    ):
        thought = ada.think(QUESTION)
        assert ada.opinions.wait()
        great, oslo = ada.opinions.find()
        assert (great.text, great.confidence, great.supersedes) == (
            "Remote work is great.",
            0.8,
            ids["m3"],
        )
        assert great.evidence == (ids["m2"],) and oslo.evidence == ()
        assert great.personality["openness"] == 0.9
        assert [each.text for each in ada.opinions.chain(great.id)] == [
            "Remote work is good.",
            "Remote work is great.",
        ]
        made = ada.get(great.id).metadata["made_by"]
        assert made == {"prompt": "opinions-1", "model": "m", "thought": thought.id}
        assert ada.log()[-1].by == "think"
        assert ada.verify().ok
    assert "Great [m2]. Oslo is nice [m1]." in served.prompt()


def test_what_is_thought_again_is_one_opinion(tmp_path: Path) -> None:
    opinions = {"opinions": [formed("REMOTE work is good. ", confidence=0.9)]}
    with thinking(tmp_path, answers("Good [m2].", opinions=opinions)) as (ada, _, ids):
        for _ in range(2):
            ada.think(QUESTION)
            ada.opinions.wait()
        (held,) = ada.opinions.find()
        assert len(ada.opinions.chain(ids["m3"])) == 2 and held.confidence == 0.9


def test_a_page_neither_displaces_nor_becomes_a_trusted_opinion(tmp_path: Path) -> None:
    opinions = {"opinions": [formed("Remote work is evil.", evidence=[], supersedes="m3")]}
    with thinking(tmp_path, answers("Evil [m2].", opinions=opinions)) as (ada, _, ids):
        ada.retain("Remote work is evil, says Acme.", source="web")
        ada.think(QUESTION, trust="web")
        ada.opinions.wait()
        held = {each.text: each for each in ada.opinions.find()}
        assert held["Remote work is good."].id == ids["m3"]
        assert held["Remote work is evil."].trust == "web"


@pytest.mark.parametrize("step", [error(500), Step("no JSON"), Step({"opinions": [{}]})])
def test_opinions_that_cannot_be_read_warn(tmp_path: Path, step: Step) -> None:
    def script(sent: Any) -> Step:
        return step if "response_format" in sent else Step("Good [m2].")

    with thinking(tmp_path, script) as (ada, _, ids):
        with pytest.warns(RuntimeWarning, match="forming the opinions of ada failed"):
            assert ada.think(QUESTION).text
            ada.opinions.wait()
        assert [each.id for each in ada.opinions.find()] == [ids["m3"]]
        assert [(each.status, each.attempts) for each in thought_jobs(ada)] == [("failed", 1)]


def test_closing_the_store_waits_for_opinions(tmp_path: Path) -> None:
    def script(sent: Any) -> Step:
        slow = "response_format" in sent
        return Step({"opinions": [formed("Tea.")]} if slow else "Good [m2].", wait=0.4 * slow)

    with thinking(tmp_path, script) as (ada, _, _):
        ada.think(QUESTION)
        assert not ada.opinions.wait(0)
    with recollex.open(tmp_path, embedder=WordVectors(), read_only=True) as store:
        assert "Tea." in [each.text for each in store.agent("ada").opinions.find()]


def thought_jobs(ada: recollex.Agent, status: str = "failed") -> list[recollex.Job]:
    return [each for each in ada.jobs.find(status=status) if each.prompt == "opinions-1"]


def test_a_thought_is_a_job_until_its_opinions_are_formed(tmp_path: Path) -> None:
    opinions = {"opinions": [formed("Tea.", evidence=["m1"]), formed("Oslo.", supersedes="m3")]}
    went_on = threading.Event()

    def script(sent: Any) -> Step:
        if "response_format" not in sent:
            return Step("Good [m2].")
        went_on.wait(10)
        return Step(opinions)

    with thinking(tmp_path, script) as (ada, _, ids):
        thought = ada.think(QUESTION)
        (job,) = thought_jobs(ada, "running")
        assert (job.id, job.turns, job.facts) == (thought.id, tuple(ids.values()), ())
        went_on.set()
        assert ada.jobs.wait(20) and thought_jobs(ada, "running") == []
        (job,) = thought_jobs(ada, "done")
        held = {each.id: each for each in ada.opinions.find()}
        assert (job.id, set(job.facts), job.model) == (thought.id, set(held), "m")
        entries = ada.log()[-5:]
        assert [each.kind for each in entries] == ["think", "retain", "retain", "archive", "form"]
        assert len({each.recorded_at for each in entries[1:]}) == 1
        at = entries[0].recorded_at
        assert [each.id for each in thought_jobs_of(ada.at(at))] == [thought.id]
        assert ada.verify().ok


def thought_jobs_of(ada: Any) -> list[recollex.Job]:
    return [each for each in ada.jobs.find(status="waiting") if each.prompt == "opinions-1"]


def test_a_model_that_gives_no_opinions_is_asked_at_each_opening_and_thrice_at_most(
    tmp_path: Path,
) -> None:
    steps = [error(500)]

    def script(sent: Any) -> Step:
        return steps[0] if "response_format" in sent else Step("Good [m2].")

    def opened() -> tuple[list[tuple[str, int, str | None]], int]:
        with (
            warnings.catch_warnings(),
            scripted(script) as served,
            recollex.llm("m", base_url=served.url, attempts=1) as llm,
            recollex.open(tmp_path, embedder=WordVectors(), llm=llm) as store,
        ):
            warnings.simplefilter("ignore", RuntimeWarning)
            ada = store.agent("ada")
            if not ada.count():
                filled(ada)
                ada.think(QUESTION)
            assert ada.jobs.wait(20)
            jobs = [(each.status, each.attempts, each.reason) for each in thought_jobs(ada)]
            return jobs, len(served.asked)

    assert opened() == ([("failed", 1, "failed")], 2)
    assert opened() == ([("failed", 2, "failed")], 1)
    assert opened() == ([("failed", 3, "failed")], 1)
    steps[0] = Step({"opinions": [formed("Tea.")]})
    assert opened() == ([("failed", 3, "failed")], 0)


def test_two_opinions_of_an_answer_do_not_supersede_the_same_one(tmp_path: Path) -> None:
    twice = {"opinions": [formed("Tea.", supersedes="m3"), formed("Mate.", supersedes="m3")]}
    with thinking(tmp_path, answers("Good [m2].", opinions=twice)) as (ada, _, _):
        ada.think(QUESTION)
        ada.opinions.wait()
        assert [each.text for each in ada.opinions.find()] == ["Tea."]


def test_an_answer_is_returned_where_it_cannot_be_recorded(tmp_path: Path) -> None:
    forgets: list[Any] = []

    def script(sent: Any) -> Step:
        if forgets:
            forgets.pop()()
        return Step("Good [m2].")

    with thinking(tmp_path, script) as (ada, served, ids):
        forgets.append(lambda: ada.erase(ids["m2"], by="ann", why="Asked."))
        with pytest.warns(RuntimeWarning, match="forming the opinions of ada failed"):
            assert ada.think(QUESTION).text == "Good [m2]."
        assert ada.opinions.wait() and len(served.asked) == 1
        assert "think" not in [each.kind for each in ada.log()]


def test_erasing_what_was_shown_erases_the_answer(tmp_path: Path) -> None:
    step = error(500)

    def script(sent: Any) -> Step:
        return step if "response_format" in sent else Step("A xylophone [m2].")

    with (
        warnings.catch_warnings(),
        thinking(tmp_path, script) as (ada, _, ids),
    ):
        warnings.simplefilter("ignore", RuntimeWarning)
        ada.think(QUESTION)
        assert ada.jobs.wait(20) and len(thought_jobs(ada)) == 1
        ada.erase(ids["m1"], by="ann", why="Asked.")
        assert thought_jobs(ada) == [] and ada.verify().ok
        (entry,) = ada.log(op="think")
        assert entry.payload is None and entry.by == "think"
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"xylophone" not in path.read_bytes()


def test_erasing_evidence_erases_the_opinions_that_rest_on_it(tmp_path: Path) -> None:
    opinions = {
        "opinions": [
            formed("A gnu is fast.", evidence=["m2"]),
            formed("A yak is slow.", evidence=["m1"]),
            formed("An elk is tall.", evidence=[]),
        ]
    }
    with thinking(tmp_path, answers("Good [m2].", opinions=opinions)) as (ada, _, ids):
        ada.think(QUESTION)
        assert ada.opinions.wait()
        gnu, yak, elk = (each.id for each in ada.opinions.find() if each.id != ids["m3"])
        study = ada.retain("A study of gnus.")
        faster = ada.opinions.weigh(gnu, supporting=study)
        own = ada.opinions.form("The gnu I saw was fast.", confidence=0.9, supersedes=faster)
        also = ada.opinions.form("Gnus win.", confidence=0.9, evidence=own)
        assert [each.id for each in ada.opinions.chain(gnu)] == [gnu, faster, own]
        before = ada.erase(ids["m2"], by="ann", why="Asked.", preview=True)
        assert before.memories == 6  # elk names no evidence, and rests on all that was shown
        ada.erase(ids["m2"], by="ann", why="Asked.")
        assert {each.id for each in ada.opinions.find()} == {ids["m3"], yak}
        for id in (gnu, elk, faster, own, also):
            with pytest.raises(UnknownIdError):
                ada.get(id)
        assert ada.verify().ok
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or not re.search(b"[Gg]nu is fast|elk is tall", path.read_bytes())


def test_erasing_an_opinion_leaves_what_supersedes_it(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        ada = store.agent("ada")
        first = ada.opinions.form("Tea is good.", confidence=0.5)
        later = ada.opinions.form("Tea is great.", confidence=0.9, supersedes=first)
        ada.erase(first, by="ann", why="Old.")
        assert [each.id for each in ada.opinions.find()] == [later]
