"""The planner on generated questions: exact on its templates, and never wrong on others."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex
from bench.datasets import dated_relations, dated_relations_oracle
from bench.datasets.dated_relations import DatedQuestion, Graph
from bench.tables import dated_questions
from recollex_engine.clock import to_micros
from recollex_engine.planner import tenures
from recollex_engine.planner.plan import Plan, plan
from recollex_engine.planner.tenures import Tenure

NOW = to_micros("2026-01-01T00:00Z", "now")
GRAPHS = 4

Asked = tuple[Graph, recollex.Agent, list[DatedQuestion]]


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Asked]]:
    folder = tmp_path_factory.mktemp("dated")
    with recollex.open(folder, embedder=recollex.GivenVectors(8), durability="off") as store:
        asked = []
        for graph, questions in dated_relations.load(GRAPHS):
            agent = store.agent(graph.name.replace(" ", "-"))
            with agent.transaction() as tx:
                for relation in graph.relations:
                    subject, predicate, place, *_ = relation
                    tx.facts.add(subject, predicate, place, valid=graph.valid(relation))
            asked.append((graph, agent, questions))
        yield asked


def is_exact(found: Plan, gold: dated_relations.Gold) -> bool:
    if isinstance(gold, int):
        return found.values == (gold,)
    if isinstance(gold, tuple):
        return found.values == gold
    return frozenset(found.values) == gold and len(found.values) == len(gold)


@pytest.mark.parametrize(("half", "least"), [("own", 1.0), ("unseen", 0.9)])
def test_answers_are_exact_or_declined(graphs: list[Asked], half: str, least: float) -> None:
    count: Counter[str] = Counter()
    for _, agent, questions in graphs:
        view = agent.facts.view()
        for asked in questions:
            if asked.template.startswith(half):
                found = plan(asked.text, view, NOW)
                exact = found.is_answered and is_exact(found, asked.gold)
                count[
                    "exact" if exact else "declined" if not found.is_answered else asked.text
                ] += 1
    exact, declined = count.pop("exact"), count.pop("declined", 0)
    assert not count  # none is wrong
    assert exact >= least * (exact + declined)


@pytest.mark.parametrize("half", dated_relations.HALVES)
def test_what_has_no_answer_gets_none(graphs: list[Asked], half: str) -> None:
    chance = random.Random(3)
    kinds = set()
    for graph, agent, _ in graphs:
        view = agent.facts.view()
        for why, text in dated_relations.unanswerable(graph, half, chance):
            kinds.add(why)
            assert plan(text, view, NOW).values == (), (why, text)
    assert len(kinds) >= 5


def test_the_halves_share_no_template() -> None:
    texts = [
        {
            text
            for variants in dated_relations.templates(half).values()
            for each in variants.values()
            for text in each
        }
        for half in dated_relations.HALVES
    ]
    assert not texts[0] & texts[1] and min(map(len, texts)) > 80


def test_the_oracle_sees_two_readings_of_before() -> None:
    early, long, late = ("A", "R", "X", 1, 9), ("B", "R", "X", 3, 5), ("C", "R", "X", 9, 9)
    assert dated_relations_oracle.neighbour([early, long, late], late, True, 0) is None
    assert dated_relations_oracle.neighbour([long, late], late, True, 0) == {"B"}
    assert dated_relations_oracle.timeline([late, early, long], 0) == ("A", "B", "C")


def test_a_seed_draws_the_same_questions() -> None:
    one, other = (
        [asked.text for _, questions in dated_relations.load(2) for asked in questions]
        for _ in range(2)
    )
    assert one == other and len(one) == 2 * 2 * 8 * dated_relations.A_GRAPH
    assert Path(dated_relations.__file__).with_name("dated_relations_unseen.json").exists()


SPANS = st.lists(
    st.tuples(st.sampled_from("ABCD"), st.integers(1990, 2001), st.integers(0, 5)),
    min_size=1,
    max_size=6,
)


def tenure(number: int, name: str, first: int, last: int) -> Tenure:
    start, end = (to_micros(f"{year}-01-01T00:00Z", "year") for year in (first, last + 1))
    fact: Any = SimpleNamespace(version=number)
    return Tenure(fact, name, "X", start, end, "year", "year")


@settings(deadline=None, max_examples=300)
@given(SPANS, st.integers(1988, 2008))
def test_a_timeline_equals_the_oracle(spans: list[tuple[str, int, int]], year: int) -> None:
    relations = [(name, "R", "X", first, first + length) for name, first, length in spans]
    known = [tenure(i, each[0], each[3], each[4]) for i, each in enumerate(relations)]
    anchor, event = relations[0], known[0]
    span = (event.start, event.end)
    names = [
        None if found is None else {each.subject for each in found}
        for found in (
            tenures.before(known[1:], span, event.beginning, "subject"),
            tenures.after(known[1:], span, event.ending, "subject"),
            tenures.holding(known, tenure(0, "", year, year).beginning),
        )
    ]
    oracle = dated_relations_oracle
    assert names[0] == oracle.neighbour(relations, anchor, True, 0)
    assert names[1] == oracle.neighbour(relations, anchor, False, 0)
    assert names[2] == oracle.at(relations, year, 0)
    last = tenures.last_of(known)
    if (gold := oracle.extreme(relations, False, 0)) is not None and last is not None:
        assert {each.subject for each in last} == gold
    assert tenures.lasted(event, "year") == anchor[4] - anchor[3]


def test_a_run_of_the_table(tmp_path: Path) -> None:
    run = dated_questions.measure(str(tmp_path), 1)
    assert dated_questions.share(run["outcomes"], "own", None, "exact") == 1.0
    assert sum(run["outcomes"].values()) == 2 * 8 * dated_relations.A_GRAPH
    assert run["model calls"] == 0 and run["answered in vain"] == 0
    (types, refusals, *_) = dated_questions.table(run, 1).sections
    assert [row["type"] for row in types.rows][-1] == "all" and len(types.rows) == 9
    assert refusals.rows[0]["recall"] == 1.0
