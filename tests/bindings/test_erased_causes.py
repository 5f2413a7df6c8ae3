"""What an erased memory caused goes with it, and what was before holds again."""

from importlib.util import find_spec
from pathlib import Path

import pytest

import recollex
from recollex_engine.writing.engine_notes import names_one_of
from tests.bindings.extraction_script import extracting, fact, related
from tests.bindings.test_fact_comparison import OSLO, read_two, texts, told
from tests.bindings.word_vectors import WordVectors
from tests.engine.erasure.secret import BY
from tests.engine.erasure.traces import assert_gone

needs_llm = pytest.mark.skipif(
    find_spec("openai") is None or find_spec("pydantic") is None,
    reason="needs the extra: recollex[llm]",
)
NO_CAPS = recollex.WritePolicy(event_cap=None, cooldown=0, write_tokens=10_000)
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


def test_the_facts_and_events_of_a_turn_go_with_it(tmp_path: Path) -> None:
    """Also a fact that it corrected, or said never to have been."""
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        ann = store.agent("ann")
        talk = [
            turn("I live in Oslo.", 0),
            turn("I work at Acme.", 1),
            turn("I moved to Zanzibar in March.", 2),
            turn("I no longer work at Acme.", 3),
        ]
        ids = []
        for each in talk:
            ids += ann.retain_dialogue([each], document_id="d", policy=NO_CAPS)
        assert all(ids)
        ended = {fact.object for fact in ann.facts.find() if fact.valid[1] is not None}
        assert ended == {"Oslo", "Acme"}
        ann.erase(ids[2:], **BY)
        found = {(fact.predicate, fact.object, fact.valid[1]) for fact in ann.facts.find()}
        assert {("lives in", "Oslo", None), ("works at", "Acme", None)} <= found
        assert ann.verify().ok
    assert_gone(tmp_path, ["zanzibar", "longer", *map(str, ids[2:])])


@pytest.mark.parametrize(
    ("by", "why", "named"),
    [
        ("write policy", "event trigger, m 1", True),
        ("write policy", "event trigger, m 1: Ann: I moved.", True),  # as once written
        ("write policy", "event trigger, m 12", False),
        ("facts of turns", "deed, m 1", True),
        ("extraction", "same as m 1", True),
        ("extraction", "narrative-1: refines m 1", True),
        ("extraction", "narrative-1", False),
        ("ann", "same as m 1", False),  # a caller's
        ("extraction", None, False),
    ],
)
def test_a_note_of_the_engine_names_a_memory(by: str, why: str | None, named: bool) -> None:
    assert names_one_of({"by": by, "why": why}, {"m 1"}) is named
