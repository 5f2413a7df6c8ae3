"""Gists and triples are drawn from talks by a language model, and the tools find them."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.bindings.extraction_script import TALK, extracting
from tests.scripted_llm import Step

if find_spec("openai") is None or find_spec("pydantic") is None:
    pytest.skip("needs the extra: recollex[llm]", allow_module_level=True)


def gist(text: str, *evidence: str, when: str | None = None) -> dict[str, Any]:
    return {"text": text, "when": when, "evidence": list(evidence)}


def triple(subject: str, predicate: str, object_: str, *evidence: str, **more: Any) -> Any:
    times = dict.fromkeys(("point_in_time", "start_time", "end_time"))
    said = {"subject": subject, "predicate": predicate, "object": object_}
    return said | times | {"evidence": list(evidence)} | more


def answer(gists: list[Any], facts: list[Any]) -> Step:
    return Step({"gists": gists, "facts": facts})


ANSWER = answer(
    [
        gist("Ann met Carol last Friday (3 May 2024).", "m1", when="2024-05-03"),
        gist("Ben moved to Rome for its food.", "m2", "m4"),
        gist("He likes it.", "m4"),
        gist("Dan knows it.", "m9"),
    ],
    [
        triple("Ann", "met", "Carol", "m1", point_in_time="2024-05-03"),
        triple("Carol", "runs", "maps team", "m1", start_time="2024-05"),
        triple("Ben", "moved to", "Rome", "m2", point_in_time="1999-01"),
        triple("ben", "moved to", "rome", "m2", point_in_time="1999-01"),
        triple("Ben's sister", "lives in", "Rome", "m4"),
    ],
)


def test_gists_and_facts_form_the_graph(tmp_path: Path) -> None:
    with extracting(tmp_path, [ANSWER]) as (ada, served):
        turns = ada.retain_dialogue(TALK, document_id="call")
        done = ada.extract(mode="episodic")
        assert len(served.asked) == 1 and done.chunks == 1
        assert done.left_out == {
            "not self-contained": 1,
            "no evidence": 1,
            "unsupported date": 2,
            "said twice": 1,
        }
        met, moved = ada.list(where={"kind": "gist"})
        assert (met.text, moved.text) == (
            "Ann met Carol last Friday (3 May 2024).",
            "Ben moved to Rome for its food.",
        )
        assert met.event_at.isoformat() == "2024-05-03T00:00:00+00:00"
        assert moved.metadata["evidence"] == [turns[1], turns[3]]
        assert met.metadata["chunk"] == moved.metadata["chunk"]
        assert met.metadata["extraction"] == "episodic-1"
        told = {fact.object: fact for fact in ada.facts.find()}
        assert [fact.subject for fact in ada.facts.find()] == [
            "Ann",
            "Carol",
            "Ben",
            "Ben's sister",
        ]
        assert told["Carol"].evidence == (turns[0], met.id)
        assert told["Carol"].uncertainty == "to the day"
        assert told["maps team"].uncertainty == "start to the month"
        assert ada.facts.find(subject="Ben")[0].valid == (None, None)  # nobody said 1999
        assert ada.verify().ok

        found = ada.tools.lexical_retrieve("Who met Carol?")
        assert found.gists[0].id == met.id and turns[0] not in [each.id for each in found.gists]
        assert found.facts[0].object == "Carol"
        around = ada.tools.find_gist_contexts(met.id)
        assert [each.id for each in around.gists] == [moved.id]  # of the same chunk
        assert [fact.subject for fact in around.facts][:2] == ["Ann", "Carol"]  # its own first
        assert {fact.subject for fact in around.facts} == {"Ann", "Carol", "Ben", "Ben's sister"}
        entity = ada.tools.find_entity_contexts("Carol", start_time="2024-05")
        assert [each.id for each in entity.gists] == [met.id]
        assert entity.to_dict()["facts"][0]["qualifiers"]["start_time"] == "2024-05"
        assert ada.extract(mode="episodic").chunks == 0  # it was read
    prompt = served.prompt()
    assert "[m1] (Saturday, May 04, 2024) Ann: Hi! I met Carol last Friday" in prompt


def test_one_more_episode_is_one_more_answer(tmp_path: Path) -> None:
    again = answer([gist("Eve sold a boat.", "m1")], [triple("Eve", "sold", "boat", "m1")])
    with extracting(tmp_path, [ANSWER, again]) as (ada, served):
        ada.retain_dialogue(TALK, document_id="call")
        ada.extract(mode="episodic")
        more = {"speaker": "Eve", "text": "I sold my boat.", "at": "2024-06-01T10:00:00Z"}
        ada.retain_dialogue([more], document_id="call-2")
        ada.extract(mode="episodic")
        assert len(served.asked) == 2 and "Carol" not in served.asked[1]["messages"][-1]["content"]
        assert ada.facts.count() == 5
        assert ada.tools.find_entity_contexts("Eve").gists[0].text == "Eve sold a boat."


def test_erasing_a_turn_takes_what_was_drawn_from_it(tmp_path: Path) -> None:
    with extracting(tmp_path, [ANSWER, answer([], [])]) as (ada, _):
        turns = ada.retain_dialogue(TALK, document_id="call")
        ada.extract(mode="episodic")
        ada.erase(turns[0], by="ann", why="asked")
        assert [each.text for each in ada.list(where={"kind": "gist"})] == [
            "Ben moved to Rome for its food."
        ]
        assert ada.tools.lexical_retrieve("Carol").gists == ()
        assert [fact.object for fact in ada.facts.find()] == ["Rome", "Rome"]
        assert ada.verify().ok
