"""Facts that are read together against the same facts read one by one."""

import random
from datetime import UTC, datetime, timedelta, timezone

import recollex
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.facts import read_fact, read_facts
from tests.bindings.word_vectors import WordVectors

START = datetime(2024, 1, 1, tzinfo=UTC)
OBJECTS = (
    *("Oslo", recollex.Text("Oslo"), 3.5, 7, True),
    datetime(2024, 5, 4, 9, tzinfo=timezone(timedelta(hours=2))),
    recollex.Mention("letters.txt", (0, 4), "Oslo"),
)


def test_facts_that_are_read_together_are_those_read_one_by_one(tmp_path):
    rng = random.Random(1)
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        alice = store.agent("alice")
        turns = alice.retain_many([f"Turn {place}" for place in range(6)])
        for place in range(40):
            valid = (None if place % 3 else START, None if place % 2 else START.replace(year=2025))
            alice.facts.add(
                *(f"Name {place % 9}", f"said {place % 4}", rng.choice(OBJECTS)),
                valid=valid,
                evidence=turns[: place % 7],
                confidence=1 / (1 + place % 3),
                id=str(place),
            )
        for place in range(0, 40, 5):
            alice.facts.correct(str(place), object=rng.choice(OBJECTS), by="ann")
        alice.facts.archive("7")
        compare(alice.engine.view().columns, rng)  # the first names hold
        alice.facts.add_entity("NAME 1", aliases=["Naomi"])
        alice.facts.merge("Name 2", "Name 3")
        compare(alice.engine.view().columns, rng)


def compare(columns, rng):
    """Compare reads of versions in views of several operations."""
    for op in range(columns.op, 0, -3):
        count = FactView(columns, op).count
        for many in sorted({0, min(1, count), min(5, count), count}):
            versions = rng.sample(range(count), many)
            together = read_facts(FactView(columns, op), versions)
            view = FactView(columns, op)
            alone = [read_fact(view, version) for version in versions]
            assert together == alone
            assert [each.to_dict() for each in together] == [each.to_dict() for each in alone]
