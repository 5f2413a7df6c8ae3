"""Questions without an answer, and what a table makes of confidences, on banks made by hand."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from bench.datasets.bank import Bank, Query, Turn
from bench.tables.abstention import Judged, fit, reliability, risks, separated, separation, weigh
from bench.tables.lib.unanswerable import (
    ANOTHER_BANK,
    ANOTHER_NAME,
    ANOTHER_PART,
    ANSWERABLE,
    BY_THE_SET,
    NEVER_TOLD,
    UNTOLD,
    with_unanswerable,
)

START = datetime(2024, 5, 1, tzinfo=UTC)


def bank(name: str, first: str = "Ann", second: str = "Ben") -> Bank:
    """Four sessions of two turns; a question a session, one of all, and one without an answer."""
    turns = tuple(
        Turn(
            id=f"{session}:{place}",
            text=f"{name} {session} {place}",
            document=f"D{session}",
            at=START + timedelta(days=session, minutes=place),
            speaker=(first, second)[place],
        )
        for session in range(4)
        for place in range(2)
    )
    wanted = [
        *((f"What did {first} do {n}?", {f"{n}:0"}, "single-hop") for n in range(4)),
        (f"What did {first} and {second} do?", {"0:0", "1:0"}, "single-hop"),
        (f"When did {second} leave?", set[str](), "adversarial"),
    ]
    queries = tuple(
        Query(
            f"{name}/{n}",
            text,
            frozenset(evidence),
            category,
            START + timedelta(days=9),
            len(turns),
            "dev",
            category != "adversarial",
        )
        for n, (text, evidence, category) in enumerate(wanted)
    )
    return Bank("locomo", name, "a", turns, queries, "turn")


def texts(bank: Bank, kind: str) -> list[str]:
    return [query.text for query in bank.queries if query.category == kind]


def test_questions_without_an_answer_come_in_four_kinds() -> None:
    mixed, half, *others = with_unanswerable([bank("one"), bank("two", "Cleo", "Dan")])
    assert [other.name for other in others if " " not in other.name] == ["two"]
    assert texts(mixed, BY_THE_SET) == ["When did Ben leave?"]
    assert texts(mixed, ANOTHER_BANK) == [
        *(f"What did Cleo do {n}?" for n in range(4)),
        "What did Cleo and Dan do?",
    ]
    assert texts(mixed, ANOTHER_NAME) == [f"What did Ben do {n}?" for n in range(4)]
    assert all(
        query.answerable == (query.category == ANSWERABLE)
        for query in (*mixed.queries, *half.queries)
    )
    assert {turn["document"] for turn in half.turns} == {"D0", "D2"}
    assert texts(half, ANSWERABLE) == ["What did Ann do 0?", "What did Ann do 2?"]
    assert texts(half, NEVER_TOLD) == ["What did Ann do 1?", "What did Ann do 3?"]


def test_what_a_foreign_question_sees_is_what_the_banks_own_see() -> None:
    first = bank("one")
    seen = [2, 4, 6, 8, 8, 8]
    early = tuple(replace(q, visible=n) for q, n in zip(first.queries, seen, strict=True))
    mixed, half, *_ = with_unanswerable([replace(first, queries=early), bank("two", "Cleo", "Dan")])
    visible = [query.visible for query in mixed.queries]
    assert visible == sorted(visible)
    assert [q.visible for q in mixed.queries if q.category == ANOTHER_BANK] == [2, 4, 6, 8, 8]
    assert [(q.visible, q.text[-2]) for q in half.queries] == [
        (2, "0"),
        (2, "1"),
        (4, "2"),
        (4, "3"),
    ]


def test_a_foreign_question_whose_proof_the_bank_holds_is_left_out() -> None:
    def pages(dataset: str, titles: list[str]) -> Bank:
        turns = tuple(Turn(id=f"{dataset} {t}", text=t, document=t) for t in titles)
        queries = tuple(
            Query(
                turn["id"],
                f"Who is {turn['text']}?",
                frozenset({turn["id"]}),
                "2hop",
                START,
                2,
                "dev",
            )
            for turn in turns
        )
        return Bank(dataset, "passages", "a", turns, queries, "turn")

    mixed, *_ = with_unanswerable(
        [pages("musique", ["Oslo", "Rome"]), pages("2wiki", ["Rome", "Bonn"])]
    )
    assert texts(mixed, ANOTHER_BANK) == ["Who is Bonn?"]


def test_an_untold_detail_takes_its_copies_and_the_turns_beside_it_along() -> None:
    said = ["I fly to Oslo", "Have fun", "We fly to Oslo", "It rains", "I paint", "Nice"]
    turns = tuple(
        Turn(id=str(n), text=text, document="DE"[n > 2], at=START, speaker="Ann")
        for n, text in enumerate(said)
    )
    first = bank("one").queries[0]
    trip = replace(first, evidence=frozenset({"0"}), visible=6)
    hobby = replace(first, id="hobby", evidence=frozenset({"4"}), visible=6)
    found = with_unanswerable(
        [replace(bank("one"), dataset="updates", turns=turns, queries=(trip, hobby))]
    )
    (untold,) = [part for part in found if part.name == "one details untold"]
    assert [turn["id"] for turn in untold.turns] == ["3", "4", "5"]
    assert texts(untold, UNTOLD) == [trip.text]
    assert texts(untold, ANSWERABLE) == [hobby.text]
    assert {query.visible for query in untold.queries} == {3}


def test_a_stretch_asks_at_most_as_many_questions_of_other_parts_as_of_its_own() -> None:
    turns = tuple(
        Turn(id=str(n), text=f"fact {n}", document="D", at=START, speaker="Ann") for n in range(40)
    )
    first = bank("one").queries[0]
    queries = tuple(
        replace(first, id=str(n), text=f"What is {n}?", evidence=frozenset({str(n)}), visible=40)
        for n in range(40)
    )
    found = with_unanswerable(
        [replace(bank("one"), dataset="updates", turns=turns, queries=queries)]
    )
    stretches = [part for part in found if " from " in part.name]
    assert {len(part.turns) for part in stretches} == {5, 20}
    for part in stretches:
        held = {turn["id"] for turn in part.turns}
        own = [query for query in part.queries if query.category == ANSWERABLE]
        foreign = [query for query in part.queries if query.category == ANOTHER_PART]
        assert {id for query in own for id in query.evidence} == held
        assert len(foreign) == len(own) <= len(held)
        assert not {query.text[8:-1] for query in foreign} & held
        assert {query.visible for query in part.queries} == {len(held)}


def judged(
    count: int, kind: str, confidences: list[float], dataset: str = "locomo"
) -> list[Judged]:
    query = replace(bank("one").queries[0], category=kind, answerable=kind == ANSWERABLE)
    where = replace(bank("one"), dataset=dataset)
    return [
        Judged(where, query, confidence, {"x": confidence}, query.answerable)
        for confidence in confidences * count
    ]


def test_a_table_separates_counts_and_bins() -> None:
    part = judged(10, ANSWERABLE, [0.9, 0.95]) + judged(5, BY_THE_SET, [0.1, 0.92])
    (row,) = separation(part)
    assert (row["with"], row["without"]) == (20, 10)
    auroc = row["AUROC"]
    assert auroc == separated(np.array([0.9, 0.95] * 10), np.array([0.1, 0.92] * 5))
    assert auroc.mean == pytest.approx(0.75)  # type: ignore[union-attr]
    assert auroc.low < 0.75 < auroc.high <= 1  # type: ignore[union-attr]
    (risk,) = risks(part)
    assert (risk["at 25%"], risk["at 100%"]) == (0.0, pytest.approx(1 / 3))
    assert weigh(part).sum() == pytest.approx(1000)
    assert weigh(part)[:20].sum() == pytest.approx(500)
    low, high = reliability(part)
    assert (low["confidence"], low["share of all"], low["with an answer"]) == (
        "0.1 to 0.2",
        pytest.approx(0.25),
        0.0,
    )
    assert high["with an answer"] == pytest.approx(2 / 3)


def test_the_fit_finds_the_weights_that_made_the_answers() -> None:
    generator = np.random.default_rng(4)
    shape = judged(1, ANSWERABLE, [0.5])[0]
    part = []
    for first, second in generator.normal((2.0, -1.0), (1.0, 3.0), (40_000, 2)):
        chance = 1 / (1 + np.exp(-(-2.5 + 1.5 * first - 0.5 * second)))
        kind = ANSWERABLE if generator.random() < chance else BY_THE_SET
        query = replace(shape.query, category=kind, answerable=kind == ANSWERABLE)
        part.append(replace(shape, query=query, signs={"first": first, "second": second}))
    found = fit(part)
    assert found["first"] == pytest.approx(1.5, abs=0.06)
    assert found["second"] == pytest.approx(-0.5, abs=0.03)
