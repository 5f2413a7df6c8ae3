"""What was drawn from turns goes with them: erased with any, forgotten with all."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from recollex.errors import UnknownIdError
from tests.bindings.extraction_script import (
    COMPARES,
    FACTS,
    TALK,
    Sent,
    drawn,
    echo,
    extracting,
    fact,
    facts,
    schema_of,
    shown_turns,
    turn,
)
from tests.bindings.test_episodic_extraction import answer, triple
from tests.scripted_llm import Step

if find_spec("openai") is None or find_spec("pydantic") is None:
    pytest.skip("needs the extra: recollex[llm]", allow_module_level=True)


def test_erasing_a_turn_erases_what_was_drawn_from_it(tmp_path: Path) -> None:
    with extracting(tmp_path, echo) as (ada, served):
        ids = ada.retain_dialogue(TALK, document_id="call")
        ada.extract()
        ada.amend(drawn(ada)[1].id, tags=["seen"])  # both versions go
        assert ada.erase(ids[1], by="ann", why="Ben asked.", preview=True).memories == 3
        ada.erase(ids[1], by="ann", why="Ben asked.")
        assert all("moved to Rome" not in memory.text for memory in ada.list())
        log = b"".join(path.read_bytes() for path in (tmp_path / "agents/ada/log").iterdir())
        assert b"moved to Rome" not in log and ada.verify().ok
        assert (len(drawn(ada)), ada.count()) == (3, 6)
        (job,) = ada.jobs.find()  # the other turns are read again
        assert job.turns == (ids[0], *ids[2:])
        assert ada.extract().turns == 3 and ada.jobs.find() == []
        assert "Rome" not in served.prompt() and ada.verify().ok
        ada.forget(where={"evidence": {"contains": ids[0]}})
        assert all(ids[0] not in memory.metadata["evidence"] for memory in drawn(ada))


def test_forgetting_all_turns_of_a_fact_forgets_it_until_they_are_retained_again(
    tmp_path: Path,
) -> None:
    def script(sent: Sent) -> Step:
        if schema_of(sent) == COMPARES:
            return Step({"relations": []})
        told = [fact(f"Ben knows {text}", f"m{n}") for n, text in enumerate(shown_turns(sent), 1)]
        return facts(*told, fact("Friends talked of towns.", "m1", f"m{len(told)}"))

    with extracting(tmp_path, script) as (ada, _):
        texts = ("Anna lives in Rome.", "Bert lives in Oslo.", "Carl lives in Bonn.")
        first, second, third = ids = ada.retain_many(texts, document_id="call")
        ada.extract()
        own = ada.opinions.form("Rome is far.", confidence=0.6, evidence=drawn(ada)[0].id)
        before = ada.get(first).recorded_at
        all_of = {memory.text for memory in drawn(ada)}
        assert len(all_of) == 4
        then = drawn(ada)[-1].recorded_at
        assert ada.forget(first, by="ann", why="Asked.") == 1
        assert {memory.text for memory in drawn(ada)} == all_of - {"Ben knows Anna lives in Rome."}
        with pytest.raises(UnknownIdError):
            ada.opinions.get(own)  # it rested on the fact alone
        told, rest = ada.log(op="forget")
        assert (rest.recorded_at, rest.by) == (told.recorded_at, "ann")
        assert rest.why == "what it rests on was forgotten" and len(rest.ids) == 2
        assert {memory.text for memory in ada.at(then).list(where=FACTS)} == all_of
        assert not ada.at(before).list(where=FACTS)
        with ada.transaction(by="ben") as transaction:
            transaction.forget(second)
            transaction.forget(third)
        assert drawn(ada) == [] and ada.log(op="forget")[-1].by == "ben"
        assert ada.jobs.find() == [] and ada.verify().ok
        ada.retain_many(texts, document_id="call", id=ids)
        (job,) = ada.jobs.find()
        assert job.turns == tuple(ids)
        ada.extract()
        assert {memory.text for memory in drawn(ada)} == all_of
        ada.archive(ids)  # they can still be read
        assert {memory.text for memory in drawn(ada)} == all_of and ada.verify().ok


def test_forgetting_turns_closes_the_facts_of_the_graph_that_were_drawn_from_them(
    tmp_path: Path,
) -> None:
    turns = [
        turn("I moved to Rome.", 0, "Ben", id="moved"),
        turn("I bought a car yesterday.", 1, "Ann", id="bought"),
        turn("My name is Ben Quinn.", 2, "Ben", id="named"),
    ]

    def held(ada: Any) -> set[tuple[Any, Any]]:
        return {(fact.subject, fact.object) for fact in ada.facts.find()}

    told = [
        triple("Ben", "moved to", "Rome", "m1"),
        triple("Ann", "bought", "car", "m2"),
        triple("Ben", "is called", "Ben Quinn", "m3"),
    ]
    script = [answer([], told), answer([], told[:2])]
    with extracting(tmp_path, script) as (ada, _):
        ada.retain_dialogue(turns, document_id="call")
        ada.extract(mode="episodic")
        drawn = {("Ben", "Rome"), ("Ann", "car"), ("Ben", "Ben Quinn")}
        assert held(ada) == drawn
        ada.facts.add("Ben", "likes", "tea", evidence="moved", by="ann")
        ada.amend("bought", tags=["seen"])  # a fact cites the version before
        then = ada.get("bought").recorded_at
        ada.forget("moved", by="ann")
        assert held(ada) == drawn - {("Ben", "Rome")} | {("Ben", "tea")}
        (entry,) = ada.log(op="archive_edge")
        assert (entry.by, entry.why) == ("ann", "what it rests on was forgotten")
        with ada.transaction() as transaction:
            transaction.forget("bought")
        assert held(ada) == {("Ben", "Ben Quinn"), ("Ben", "tea")}
        assert held(ada.at(then)) == drawn | {("Ben", "tea")}
        ada.retain_dialogue(turns[:2], document_id="call")
        ada.extract(mode="episodic")
        assert held(ada) == drawn | {("Ben", "tea")} and ada.verify().ok
