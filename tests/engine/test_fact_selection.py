"""Finding and counting facts, against a naive filter over a store rebuilt up to the cut."""

import itertools
import os
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import recollex
from recollex_engine.facts import fact_selection
from recollex_engine.state import fact_state
from recollex_engine.state.fact_state import FactOrders
from tests.engine.one_vector import OneVector

START = datetime(2024, 1, 1, tzinfo=UTC)
FIRST = datetime(2000, 1, 1, tzinfo=UTC)
NAMES = ("Ann", "Annie", "Ben", "Oslo", "Rome")
OBJECTS = (*NAMES, recollex.Text("Oslo"), 3, 4.5, True, FIRST)
PREDICATES = ("likes", "lives_in", "met")
TRANSACTIONS = 8
MICROSECOND = timedelta(microseconds=1)
EARLY, LATE = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def day(number):
    return START + timedelta(days=number)


def moment(draw):
    """A time within two years: a whole year, month or day, or any hour."""
    at = FIRST + timedelta(days=draw.randrange(730), hours=draw.randrange(24))
    return draw.choice(
        (at.replace(month=1, day=1, hour=0), at.replace(day=1, hour=0), at.replace(hour=0), at)
    )


def interval(draw):
    one, other = sorted((moment(draw), moment(draw)))
    other += MICROSECOND * (one == other)
    return draw.choice((None, one, one, one)), draw.choice((None, other, other, other))


def fill(agent, seed, facts):
    """Record facts, corrections, archived ones, merges and the memories that they cite."""
    draw = random.Random(seed)
    with agent.transaction(recorded_at=day(0)) as tx:
        tx.retain("one", id="m0")
        tx.retain("two", id="m1")
        for name in NAMES:
            tx.facts.add_entity(name)
    known = []
    for number in range(1, TRANSACTIONS + 1):
        with agent.transaction(recorded_at=day(number)) as tx:
            for item in range(facts // TRANSACTIONS):
                changed = draw.choice(known) if known and draw.random() < 0.2 else None
                if changed is not None:
                    known.remove(changed)
                    if draw.random() < 0.3:
                        tx.facts.archive(changed)
                        continue
                    tx.facts.correct(changed, object=f"new {number}", valid=interval(draw))
                    continue
                known.append(
                    tx.facts.add(
                        draw.choice(NAMES),
                        draw.choice(PREDICATES),
                        draw.choice(OBJECTS),
                        valid=interval(draw),
                        evidence=draw.choice(([], ["m0"], ["m1", "m0"])),
                        id=f"f{number} {item}",
                    )
                )
            if number == TRANSACTIONS // 2:
                tx.facts.merge("Annie", "Ann")


def period(written):
    """The first moment of a written time, and the first after it; None for a moment."""
    if "T" in written:
        return None
    if "W" in written:
        first = datetime.strptime(f"{written}-1", "%G-W%V-%u").replace(tzinfo=UTC)
        return first, first + timedelta(7)
    form = ("%Y", "%Y-%m", "%Y-%m-%d")[written.count("-")]
    first = datetime.strptime(written, form).replace(tzinfo=UTC)
    after = first
    while after.strftime(form) == first.strftime(form):
        after += timedelta(days=1)
    return first, after


def meets(condition, value, is_end):
    """Whether a start or an end meets a condition, by the words of the table."""
    if condition is None:
        return True
    if not isinstance(condition, dict):
        condition = {"eq": condition}
    at = value if value is not None else (LATE if is_end else EARLY)
    for operator, operand in condition.items():
        if operator == "exists":
            if (value is not None) != operand:
                return False
            continue
        spanned = period(operand) if isinstance(operand, str) else None
        if spanned is None:
            exact = datetime.fromisoformat(operand) if isinstance(operand, str) else operand
            before, after = at < exact, at > exact
        else:
            last = at - MICROSECOND if is_end and value is not None else at
            before, after = last < spanned[0], last >= spanned[1]
        held = {
            "lt": before,
            "le": not after,
            "eq": not before and not after,
            "ge": not before,
            "gt": after,
        }
        if not held[operator]:
            return False
    return True


def same(value, fact):
    if isinstance(value, recollex.Text):
        return fact.kind == "text" and fact.object == value.value
    kinds = {str: "entity", bool: "boolean", int: "number", float: "number", datetime: "time"}
    return fact.kind == kinds[type(value)] and fact.object == value


def naive(facts, asked, top):
    """The facts that meet conditions, in their order: a filter and a sort, nothing else."""
    get = asked.get
    found = [
        fact
        for fact in facts
        if get("subject") in (None, fact.subject)
        or (get("subject") is not None and top(get("subject")) == fact.subject)
    ]
    found = [
        fact
        for fact in found
        if get("predicate") in (None, fact.predicate)
        and (
            get("object") is None
            or same(top(get("object")) if isinstance(get("object"), str) else get("object"), fact)
        )
        and (get("evidence") is None or get("evidence") in fact.evidence)
        and meets(get("start"), fact.valid[0], False)
        and meets(get("end"), fact.valid[1], True)
        and (get("overlaps") is None or overlap(fact.valid, get("overlaps")))
    ]
    order_by = get("order_by", "recorded")
    if order_by == "start":
        found.sort(key=lambda fact: fact.valid[0] or EARLY)
    elif order_by == "end":
        found.sort(key=lambda fact: fact.valid[1] or LATE)
    return found[::-1] if get("descending") else found


def overlap(valid, other):
    return (valid[0] or EARLY) < other[1] and (valid[1] or LATE) > other[0]


WRITTEN = st.builds(
    lambda days, form: (FIRST + timedelta(days=days)).strftime(form),
    st.integers(-10, 740),
    st.sampled_from(["%Y", "%Y-%m", "%Y-%m-%d", "%G-W%V", "%Y-%m-%dT00:00:00+00:00"]),
)
OPERATORS = st.dictionaries(
    st.sampled_from(["lt", "le", "eq", "ge", "gt"]), WRITTEN, min_size=1, max_size=2
)
CONDITION = OPERATORS | WRITTEN | st.builds(lambda b: {"exists": b}, st.booleans())
MOMENT = st.builds(lambda n: FIRST + timedelta(days=n), st.integers(0, 729))
ASKED = st.fixed_dictionaries(
    {},
    optional={
        "subject": st.sampled_from((*NAMES, "Nobody")),
        "predicate": st.sampled_from((*PREDICATES, "hates")),
        "object": st.sampled_from(OBJECTS),
        "evidence": st.sampled_from(["m0", "m1"]),
        "start": CONDITION,
        "end": CONDITION,
        "overlaps": st.tuples(MOMENT, MOMENT).filter(lambda span: span[0] < span[1]),
        "order_by": st.sampled_from(["recorded", "start", "end"]),
        "descending": st.booleans(),
    },
)
CUT = st.fixed_dictionaries(
    {"as_recorded": st.none() | st.integers(0, TRANSACTIONS)}, optional={"as_world": MOMENT}
)


@pytest.fixture
def small_steps(monkeypatch):
    """Make orders and walks of few facts, as large stores do."""
    monkeypatch.setattr(fact_state, "UNSORTED", 24)
    monkeypatch.setattr(fact_selection, "SHORT", 4)
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    monkeypatch.setattr(os, "fdatasync", lambda fd: None)


@pytest.mark.parametrize("facts", [24, 200])
def test_finding_equals_a_naive_filter_over_a_rebuilt_store(small_steps, tmp_path, facts):
    numbers = itertools.count()

    @settings(deadline=None, max_examples=6 if facts > 100 else 12, phases=[Phase.generate])
    @given(st.integers(0, 2**32 - 1), st.lists(st.tuples(ASKED, CUT), min_size=15, max_size=25))
    def compare(seed, questions):
        home = tmp_path / str(next(numbers))
        options = {"embedder": OneVector(), "durability": "off", "clock": lambda: day(20)}
        with recollex.open(home / "store", **options) as store:
            agent = store.agent("a")
            fill(agent, seed, facts)
            rebuilt = {}
            draw = random.Random(seed)
            for asked, cut in questions:
                then = cut["as_recorded"]
                if then not in rebuilt:
                    folder = home / f"as of {then}"
                    agent.snapshot(day(20 if then is None else then), folder)
                    with recollex.open(folder, **options) as copy:
                        facts_then = copy.agent("a").facts
                        names = {name: facts_then.entity(name).name for name in NAMES}
                        rebuilt[then] = list(facts_then.snapshot()), names
                compare_one(agent, asked, cut, *rebuilt[then], draw)

    compare()


def compare_one(agent, asked, cut, known, names, draw):
    times = dict(cut, as_recorded=None if cut["as_recorded"] is None else day(cut["as_recorded"]))
    world = cut.get("as_world")
    shown = [
        fact
        for fact in known
        if world is None or ((fact.valid[0] or EARLY) <= world and world < (fact.valid[1] or LATE))
    ]
    expected = naive(shown, asked, lambda name: names.get(name, name))
    found = agent.facts.find(**asked, **times)
    assert found.ids == [fact.id for fact in expected]
    assert [fact.valid for fact in found] == [fact.valid for fact in expected]
    limit, offset = draw.choice((1, 2, 9)), draw.choice((0, 0, 3))
    page = agent.facts.find(**asked, **times, limit=limit, offset=offset)
    assert page.ids == [fact.id for fact in expected][offset : offset + limit]
    asked = {name: value for name, value in asked.items() if name not in ("order_by", "descending")}
    assert agent.facts.count(**asked, **times) == len(expected)
    for part in ("subject", "predicate", "object"):
        counted = Counter((fact.kind, getattr(fact, part)) for fact in expected)
        if part != "object":
            counted = Counter(getattr(fact, part) for fact in expected)
            by_name = agent.facts.value_counts(part, **asked, **times)
            assert by_name == counted
            assert list(by_name) == sorted(counted, key=lambda name: (-counted[name], name))
        assert agent.facts.count(distinct=part, **asked, **times) == len(counted)
        assert len(agent.facts.value_counts(part, **asked, **times)) == len(counted)


def test_an_order_is_a_few_runs_each_sorted(monkeypatch):
    monkeypatch.setattr(fact_state, "UNSORTED", 3)
    rng = np.random.default_rng(1)
    values = rng.integers(0, 50, 900)
    columns = {"fact_start": values, "fact_end": values + 1}

    class Columns:
        def array(self, name):
            return columns[name]

    order = FactOrders(Columns()).of("fact_start")
    count = 0
    while count < len(values):
        count = min(len(values), count + int(rng.integers(0, 40)))
        runs = order.runs(count)
        assert [run.first for run in runs] == [0, *[run.end for run in runs[:-1]]][: len(runs)]
        assert not runs or count - runs[-1].end <= 3
        sizes = [run.end - run.first for run in runs]
        assert all(one >= 2 * other for one, other in itertools.pairwise(sizes))
        for run in runs:
            part = values[run.first : run.end]
            assert run.order.tolist() == (run.first + np.argsort(part, kind="stable")).tolist()
    assert order.runs(10) is order.runs(900)
