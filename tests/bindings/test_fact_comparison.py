"""New facts are compared with known ones; what that does is recorded, and undone by one call."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex.errors import InputError
from tests.bindings.extraction_script import (
    COMPARES,
    Sent,
    extracting,
    fact,
    facts,
    related,
    schema_of,
    turn,
)
from tests.scripted_llm import Step, error

if find_spec("openai") is None or find_spec("pydantic") is None:
    pytest.skip("needs the extra: recollex[llm]", allow_module_level=True)

OSLO = "Ben lives in Oslo with his sister."


def told(
    *given: dict[str, Any], compares: Callable[[Sent], Step] | Step | None = None
) -> Callable[[Sent], Step]:
    """Return a script that gives one fact a chunk, in order, and compares as it is told."""
    left = list(given)

    def script(sent: Sent) -> Step:
        if schema_of(sent) != COMPARES:
            return facts(left.pop(0))
        assert compares is not None
        return compares(sent) if callable(compares) else compares

    return script


def read_two(
    ada: recollex.Agent, first: str | None = "user", second: str | None = "user"
) -> tuple[str, str, recollex.Extraction]:
    """Draw a fact from each of two talks, two days apart; return their ids and the second run."""
    ada.retain_dialogue([turn("One.")], document_id="one", source=first)
    (known,) = ada.extract().facts
    later = turn("Two.") | {"at": "2024-05-06T10:00:00Z"}
    ada.retain_dialogue([later], document_id="two", source=second)
    done = ada.extract()
    return known, done.facts[0], done


def texts(ada: recollex.Agent) -> list[str]:
    return [memory.text for memory in ada.list(where={"extraction": {"exists": True}})]


def test_the_same_fact_is_archived_and_its_evidence_joined(tmp_path: Path) -> None:
    script = told(
        fact(OSLO), fact("Ben lives in Oslo, with a sister."), compares=related((0, 0, "same"))
    )
    with extracting(tmp_path, script) as (ada, served):
        known, new, done = read_two(ada)
        assert done.relations == {"same": 1} and texts(ada) == [OSLO]
        assert f"known [m1] (May 04, 2024) {OSLO}" in served.prompt()
        assert len(ada.get(known).metadata["evidence"]) == 2
        kept = ada.get(new)  # nothing is dropped
        assert kept.closed is not None and kept.closed.why == f"same as {known}"
        (relation,) = kept.metadata["relations"]
        assert (relation["relation"], relation["by"]) == ("same", "compare-1")
        assert relation["reason"] == "They say so."
        ada.undo_comparison(new, by="ann", why="two sisters")
        assert texts(ada) == [OSLO, "Ben lives in Oslo, with a sister."]
        assert len(ada.get(known).metadata["evidence"]) == 1
        assert ada.get(new).metadata["relations"][0]["undone"] is True
        assert {entry.by for entry in ada.log() if entry.why == "two sisters"} == {"ann"}
        with pytest.raises(InputError, match="no comparison to undo"):
            ada.undo_comparison(new)
        assert ada.extract().chunks == 0 and ada.verify().ok


def test_a_finer_fact_archives_the_coarser_one(tmp_path: Path) -> None:
    script = told(fact(OSLO), fact(OSLO[:-1] + " since 2016."), compares=related((0, 0, "refines")))
    with extracting(tmp_path, script) as (ada, _):
        known, new, done = read_two(ada)
        assert done.relations == {"refines": 1} and len(texts(ada)) == 1
        closed = ada.get(known).closed
        assert closed is not None and (closed.how, closed.why) == ("archived", f"refined by {new}")
        ada.undo_comparison(new)
        assert len(texts(ada)) == 2 and ada.get(known).closed is None


def test_a_superseded_fact_ceases_to_be_so_and_stays(tmp_path: Path) -> None:
    now = fact("Ben lives in Rome with his sister.")
    script = told(fact(OSLO), now, compares=related((0, 0, "supersedes")))
    with extracting(tmp_path, script) as (ada, _):
        known, new, _ = read_two(ada)
        ended = ada.get(known)
        assert ended.valid_until == ada.get(new).event_at and ended.closed is None
        assert set(texts(ada)) == {OSLO, now["text"]}
        entry = ada.log(op="amend")[-1]
        assert (entry.ids, entry.by, entry.why) == ((known,), "extraction", f"superseded by {new}")
        found = ada.recall("Where does Ben live?", as_world="2024-05-05T00:00:00Z")
        assert OSLO in {memory.text for memory in found}
        ada.undo_comparison(new)
        assert ada.get(known).valid_until is None


def test_a_contradiction_changes_nothing_and_is_kept(tmp_path: Path) -> None:
    script = told(
        fact(OSLO),
        fact("Ben lives in Rome with his sister."),
        compares=related((0, 0, "contradicts")),
    )
    with extracting(tmp_path, script) as (ada, _):
        known, new, done = read_two(ada)
        assert done.relations == {"contradicts": 1} and len(texts(ada)) == 2
        assert ada.get(new).metadata["relations"][0]["known"] == known
        assert ada.log()[-2].why == f"narrative-1: contradicts {known}"


@pytest.mark.parametrize("relation", ["same", "refines", "supersedes"])
def test_a_fact_that_is_trusted_more_stays_as_it_is(tmp_path: Path, relation: str) -> None:
    script = told(fact(OSLO), fact(OSLO[:-1] + "!"), compares=related((0, 0, relation)))
    with extracting(tmp_path, script) as (ada, _):
        known, new, _ = read_two(ada, "user", "web")
        held = ada.get(known)
        assert (held.closed, held.valid_until, len(held.metadata["evidence"])) == (None, None, 1)
        assert ada.get(new).metadata["relations"][0]["relation"] == relation


def test_only_pairs_that_were_shown_are_related(tmp_path: Path) -> None:
    lies = [
        {"new": "m1", "known": "m2", "relation": "refines", "reason": ""},
        {"new": "m2", "known": "m9", "relation": "same", "reason": ""},
        {"new": "m2", "known": "m2", "relation": "same", "reason": ""},
    ]
    script = told(fact(OSLO), fact(OSLO[:-1] + "!"), compares=Step({"relations": lies}))
    with extracting(tmp_path, script) as (ada, _):
        _, _, done = read_two(ada)
        assert done.relations == {} and len(texts(ada)) == 2


def test_facts_far_from_each_other_are_not_compared(tmp_path: Path) -> None:
    script = told(fact(OSLO), fact("Quite another thing was bought yesterday."))
    with extracting(tmp_path, script) as (ada, served):
        read_two(ada)
        assert COMPARES not in map(schema_of, served.asked)


def test_without_an_answer_the_same_words_are_the_same(tmp_path: Path) -> None:
    script = told(fact(OSLO), fact("Ben lives in Oslo with his sister!"), compares=error(500))
    with extracting(tmp_path, script) as (ada, _):
        with pytest.warns(RuntimeWarning, match="is away"):
            _, new, done = read_two(ada)
        assert done.relations == {"same": 1} and done.chunks == 1 and not done.failed
        assert ada.get(new).metadata["relations"][0]["by"] == "rule"


def test_without_an_answer_other_words_are_not_compared(tmp_path: Path) -> None:
    script = told(fact(OSLO), fact(f"No longer: {OSLO}"), compares=Step("nonsense"))
    with extracting(tmp_path, script) as (ada, _):
        with pytest.warns(RuntimeWarning, match="compared no facts"):
            known, _, done = read_two(ada)
        assert done.relations == {} and len(texts(ada)) == 2
        assert ada.get(known).valid_until is None


def test_a_known_fact_that_changed_since_is_not_changed_back(tmp_path: Path) -> None:
    now = fact("Ben lives in Rome with his sister.")
    script = told(fact(OSLO), now, compares=related((0, 0, "supersedes")))
    with extracting(tmp_path, script) as (ada, _):
        known, new, _ = read_two(ada)
        ada.amend(known, valid_until="2030-01-01T00:00:00Z")
        with pytest.raises(InputError, match="was changed since"):
            ada.undo_comparison(new)
