"""Claims at cuts, as training data: what they say of a cut is what the cut itself shows."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex.cli import main
from recollex.errors import InputError
from recollex_engine.mind.critique_data import KINDS, REASONS
from tests.bindings.word_vectors import WordVectors

START = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture
def ann(tmp_path: Path) -> Iterator[recollex.Agent]:
    days = (START + timedelta(days=day) for day in count())
    embedder = recollex.GivenVectors(8)
    with recollex.open(tmp_path / "memory", embedder=embedder, clock=lambda: next(days)) as store:
        yield store.agent("default")


def fill(ann: recollex.Agent) -> dict[str, str]:
    said = ann.retain("Ann moved to Oslo.", id="said", embedding=[1.0] * 8)
    gone = ann.retain("Ann drinks tea.", id="gone", embedding=[1.0] * 8)
    home = ann.facts.add(
        "Ann", "lives_in", "Oslo", valid=("2024-01-01T00:00Z", None), evidence=[said, gone]
    )
    likes = ann.facts.add("Ann", "likes", "tea", evidence=gone)
    ann.facts.add("Ben", "lives_in", "Rome", valid=("2020-01-01T00:00Z", "2022-01-01T00:00Z"))
    ann.facts.correct(home, object="Bergen", why="misheard")
    ann.facts.archive(likes)
    ann.forget("gone")
    return {"home": home, "likes": likes}


def examples(ann: recollex.Agent) -> list[dict[str, Any]]:
    return [each.to_dict() for each in recollex.critique_data(ann)]


def test_each_label_is_what_the_cut_shows(ann: recollex.Agent) -> None:
    fill(ann)
    told = examples(ann)
    assert {each["reason"] for each in told} == set(REASONS)
    assert {each["kind"] for each in told} == set(KINDS)
    for each in told:
        cut, world = each["cut"]["recorded"], each["cut"]["world"]
        shown = ann.facts.snapshot(as_recorded=cut, as_world=world)
        claims = {f"{fact.subject} {fact.predicate} {fact.object}" for fact in shown}
        assert each["holds"] == (each["claim"].replace("lives in", "lives_in") in claims), each
        assert each["holds"] == (each["reason"] == "holds")
        assert each["mode"] == ("as_recorded" if world is None else "as_world")
        if each["kind"] != "counterfactual":
            seen = [fact for fact in shown if fact.id == each["fact"]]
            spans = [[at and at.isoformat() for at in fact.valid] for fact in seen]
            assert spans == ([] if each["seen"] is None else [each["seen"]])


def test_a_lagged_correction_has_its_evidence_and_does_not_hold(ann: recollex.Agent) -> None:
    ids = fill(ann)
    lagged = [each for each in examples(ann) if each["kind"] == "lagged"]
    assert {each["fact"] for each in lagged} == set(ids.values())
    corrected = [each for each in lagged if each["reason"] == "corrected"]
    assert {(each["claim"], each["version"]) for each in corrected} == {("Ann lives in Oslo", 1)}
    assert corrected[0]["evidence"] == [{"id": "said", "text": "Ann moved to Oslo."}]
    assert not any("tea" in str(each["evidence"]) for each in lagged)  # it was forgotten


def test_evidence_is_what_was_known_at_the_cut(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        ann = store.agent("ann")
        with ann.transaction() as tx:
            said = tx.retain("Ann moved to Oslo.", id="said")
            tx.facts.add("Ann", "lives_in", "Oslo", evidence=said)
        told = examples(ann)
    assert {each["reason"] for each in told} == {"not yet recorded", "holds"}
    for each in told:
        assert bool(each["evidence"]) == each["holds"]


def test_a_counterfactual_is_of_the_same_predicate_and_not_so(ann: recollex.Agent) -> None:
    fill(ann)
    made = [each for each in examples(ann) if each["kind"] == "counterfactual"]
    claims = {each["claim"] for each in made}
    assert "Ann lives in Rome" in claims and "Ann lives in Bergen" not in claims
    assert all(each["valid"] is each["seen"] is None for each in made)


def test_a_balanced_set_has_as_many_of_both(ann: recollex.Agent) -> None:
    fill(ann)
    every = list(recollex.critique_data(ann))
    some = list(recollex.critique_data(ann, balanced=True))
    counts = Counter(each.holds for each in some)
    assert counts[True] == counts[False] == sum(each.holds for each in every) > 0
    assert some == [each for each in every if each in some]


def test_the_command_writes_lines(
    ann: recollex.Agent, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(ann)
    expected = examples(ann)
    store, out = str(tmp_path / "memory"), tmp_path / "critique.jsonl"
    assert main(["critique-data", store]) == 0
    printed = capsys.readouterr()
    assert [json.loads(line) for line in printed.out.splitlines()] == expected
    assert printed.err.startswith(f"recollex: {len(expected)} examples: ")
    assert main(["critique-data", store, "--output", str(out), "--balanced", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["examples"] == len(out.read_text("utf-8").splitlines()) < len(expected)


def test_an_agent_without_facts_has_nothing_to_claim(
    ann: recollex.Agent, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ann.retain("Ann moved to Oslo.", embedding=[1.0] * 8)
    assert main(["critique-data", str(tmp_path / "memory")]) == 1
    assert "holds no facts" in capsys.readouterr().err
    assert main(["critique-data", str(tmp_path / "nowhere")]) == 1


def test_examples_are_records_with_times(ann: recollex.Agent) -> None:
    home = fill(ann)["home"]
    first = next(recollex.critique_data(ann))
    assert isinstance(first, recollex.CritiqueExample)
    assert (first.fact, first.claim, first.holds) == (home, "Ann lives in Oslo", False)
    assert first.valid == (datetime(2024, 1, 1, tzinfo=UTC), None)
    assert first.recorded_at < ann.facts.get(home).recorded[0]


def test_a_cut_tells_nothing_of_later_facts(ann: recollex.Agent) -> None:
    home = fill(ann)["home"]
    before = ann.facts.history(home)[-1].recorded[0] - timedelta(microseconds=1)
    told = list(recollex.critique_data(ann.at(before)))
    assert "Ann lives in Oslo" in {each.claim for each in told}
    assert not any("Bergen" in each.claim for each in told)
    assert not any(each.reason == "corrected" for each in told)


def test_what_is_no_agent_of_this_process_is_named(ann: recollex.Agent) -> None:
    with pytest.raises(InputError, match=r"agent must be an agent of .*, got str: open the store"):
        recollex.critique_data("ann")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="balanced"):
        recollex.critique_data(ann, balanced="yes")  # type: ignore[arg-type]
