"""What an erased memory caused goes with it, and what was before holds again."""

from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex_engine.writing.taking_away import names_one_of
from tests.bindings.extraction_script import extracting, fact, related
from tests.bindings.test_episodic_extraction import answer, triple
from tests.bindings.test_fact_comparison import OSLO, read_two, texts, told
from tests.bindings.thinking_agent import formed, thinking
from tests.bindings.word_vectors import WordVectors
from tests.engine.erasure.secret import BY
from tests.engine.erasure.traces import assert_gone
from tests.scripted_llm import Step

needs_llm = pytest.mark.skipif(
    find_spec("openai") is None or find_spec("pydantic") is None,
    reason="needs the extra: recollex[llm]",
)
LATER = "Ben lives in Zanzibar with his sister."


@needs_llm
@pytest.mark.parametrize("relation", ["same", "refines", "supersedes", "contradicts"])
@pytest.mark.parametrize("undone", [False, True])
def test_a_known_fact_is_as_before_the_erased_one(
    tmp_path: Path, relation: str, undone: bool
) -> None:
    script = told(fact(OSLO), fact(LATER), compares=related((0, 0, relation)))
    with extracting(tmp_path, script) as (ada, _):
        known, new, _ = read_two(ada)
        if undone and relation != "contradicts":
            ada.undo_comparison(new)
        if ada.get(known).closed is None:
            ada.amend(known, tags=["checked"])
        ada.erase(new, **BY)
        kept = ada.get(known)
        assert (kept.text, kept.valid_until, kept.closed) == (OSLO, None, None)
        assert texts(ada) == [OSLO] and ada.verify().ok
        assert not [entry for entry in ada.log() if entry.why and new in entry.why]
    assert_gone(tmp_path, ["zanzibar", new])


@needs_llm
@pytest.mark.parametrize("relation", ["same", "refines", "supersedes", "contradicts"])
def test_what_a_model_said_of_an_erased_fact_goes_with_it(tmp_path: Path, relation: str) -> None:
    script = told(fact(LATER), fact(OSLO), compares=related((0, 0, relation)))
    with extracting(tmp_path, script) as (ada, _):
        known, new, _ = read_two(ada)
        ada.erase(known, **BY)
        assert texts(ada) == [OSLO] and ada.verify().ok
        assert "relations" not in ada.get(new).metadata
    assert_gone(tmp_path, ["zanzibar", "they say so", known])


def test_an_opinion_holds_again_when_the_one_after_it_is_erased(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        ada = store.agent("ada")
        told_of = ada.retain("It rains in Zanzibar.")
        first = ada.opinions.form("Travel is good.", confidence=0.5)
        later = ada.opinions.form(
            "Zanzibar is wet.", confidence=0.5, evidence=[told_of], supersedes=first, by="ann"
        )
        ada.archive(told_of, why=f"superseded by {later}")  # a caller's, which stays
        assert [each.id for each in ada.opinions.find()] == [later]
        ada.retain("More.", id="more")
        ada.archive("more", by="ann", why=f"superseded by {told_of}")
        ada.erase(told_of, **BY)
        assert [each.id for each in ada.opinions.find()] == [first]
        assert ada.get("more").closed is not None
        assert ada.verify().ok
    assert_gone(tmp_path, ["zanzibar"])


def turn(text: str, minute: int, speaker: str = "Bob") -> dict[str, str]:
    return {"speaker": speaker, "text": text, "at": f"2024-05-04T10:{minute:02}:00Z"}


@pytest.mark.parametrize(
    ("by", "why", "named"),
    [
        ("extraction", "same as m 1", True),
        ("extraction", "same as m 12", False),
        ("extraction", "narrative-1: refines m 1", True),
        ("extraction", "narrative-1", False),
        ("ann", "same as m 1", False),  # a caller's
        ("extraction", None, False),
    ],
)
def test_a_note_of_the_engine_names_a_memory(by: str, why: str | None, named: bool) -> None:
    assert names_one_of({"by": by, "why": why}, {"m 1"}) is named


@needs_llm
def test_a_fact_of_the_graph_goes_with_any_turn_that_it_was_drawn_from(tmp_path: Path) -> None:
    drawn = triple("Ben", "left", "Zanzibar", "m1", "m2")
    script = [answer([], [drawn, triple("Ann", "likes", "tea", "m2")]), answer([], [])]
    with extracting(tmp_path, script) as (ada, _):
        turns = [turn("I left Zanzibar.", 0), turn("So did I. I like tea.", 1, "Ann")]
        first, _ = ada.retain_dialogue(turns, document_id="d")
        ada.extract(mode="episodic")
        assert [fact.object for fact in ada.facts.find()] == ["Zanzibar", "tea"]
        ada.erase(first, **BY)
        assert [fact.object for fact in ada.facts.find()] == ["tea"]
        assert ada.verify().ok
    assert_gone(tmp_path, ["zanzibar"])


def test_the_likeness_to_an_erased_name_is_erased(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        ann = store.agent("ann")
        ann.retain("Ann saw a house.", id="m1")
        ann.facts.add(
            "Ann", "saw", "very old and small red brick house near the lane", evidence="m1"
        )
        ann.facts.add("Ben", "saw", "very old and small red brick house near the road")
        [(name, _)] = ann.facts.synonyms("very old and small red brick house near the road")
        assert name == "very old and small red brick house near the lane"
        ann.erase("m1", **BY)
        assert ann.facts.synonyms("very old and small red brick house near the road") == []
        assert ann.verify().ok
    assert_gone(tmp_path, ["synonyms"])


@needs_llm
def test_no_opinion_is_formed_of_what_is_erased_meanwhile(tmp_path: Path) -> None:
    def script(sent: Any) -> Step:
        if "response_format" not in sent:
            return Step("It is good [m1].")
        ada.erase(ids["m2"], **BY)
        opinion = formed("Zanzibar is good.", evidence=["m1"])
        return Step({"opinions": [opinion]})

    with thinking(tmp_path, script) as (ada, _, ids):
        shown = ada.think("Is remote work in Zanzibar good?").shown
        assert ids["m2"] in {memory.id for memory in shown.values()}
        ada.opinions.wait()
        assert [each.text for each in ada.opinions.find()] == ["Remote work is good."]
        assert not ada.log(op="form")
    assert_gone(tmp_path, ["zanzibar"])


def test_the_title_of_an_episode_forgets_who_took_part_in_an_erased_event(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        ann = store.agent("ann")
        for name, day in (("Zanzibarina", 1), ("Ben", 2), ("Eve", 3)):
            evidence = ann.retain(f"{name} came.", id=f"id-of-{name}")
            fact = ann.facts.add(name, "came", "home", evidence=evidence)
            span = (f"2024-05-0{day}T00:00Z", f"2024-05-0{day}T01:00Z")
            ann.events.add(
                f"{name} came.", id=f"{evidence}/event", facts=fact, participants=name, span=span
            )
        [made] = ann.events.consolidate(age=timedelta(0), threshold=1.0).episodes
        assert made.title == "May 2024: 3 events, with Ben (1), Eve (1), Zanzibarina (1)"
        ann.erase("id-of-Zanzibarina", **BY)
        assert [(each.title, len(each.events)) for each in ann.events.episodes()] == [
            ("May 2024", 2)
        ]
        assert ann.verify().ok
    assert_gone(tmp_path, ["zanzibar"])
