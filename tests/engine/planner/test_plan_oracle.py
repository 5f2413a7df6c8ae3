"""The planner beside brute force, on random facts known by the year, the month or the day."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

import recollex
from recollex_engine.facts.fact_view import FactView
from recollex_engine.planner.plan import plan
from tests.engine.planner.asking import NOW

NAMES, CITIES = ("Ann", "Ben", "Cleo"), ("Rome", "Oslo", "Lima")
MONTHS = "January February March April May June July August September October November December"
FOREVER = date(9999, 1, 1), date(9999, 1, 1)

Period = tuple[date, date]
Row = tuple[str, str, str, Period, Period]
"""Subject, predicate, object, and the periods in which it began and ended."""


def written(chance: random.Random, year: int) -> str:
    month, day = chance.randint(1, 12), chance.randint(1, 28)
    return chance.choice([f"{year}", f"{year}-{month:02}", f"{year}-{month:02}-{day:02}"])


def period(text: str) -> Period:
    year, *rest = map(int, text.split("-"))
    if not rest:
        return date(year, 1, 1), date(year + 1, 1, 1)
    if len(rest) == 1:
        return date(year, rest[0], 1), date(year + rest[0] // 12, rest[0] % 12 + 1, 1)
    return date(year, *rest), date(year, *rest) + timedelta(1)


def said(text: str) -> str:
    year, *rest = text.split("-")
    month = MONTHS.split()[int(rest[0]) - 1] if rest else ""
    return {0: f"in {year}", 1: f"in {month} {year}"}.get(
        len(rest), f"on {int(rest[-1]) if rest else 0} {month} {year}"
    )


def filled(facts: recollex.Agent, chance: random.Random) -> list[Row]:
    rows: list[Row] = []
    valid: str | tuple[str, str | None]
    for _ in range(10):
        name, city = chance.choice(NAMES), chance.choice(CITIES)
        begin = written(chance, chance.randint(1998, 2003))
        end = written(chance, chance.randint(2000, 2008))
        first, last = period(begin), period(end)
        if chance.random() < 0.5:
            row, valid = (name, "visited", city, first, first), begin
        elif chance.random() < 0.2:
            row, valid = (name, "lives_in", city, first, FOREVER), (begin, None)
        elif first[0] < last[0] and first[1] <= last[1]:
            row, valid = (name, "lives_in", city, first, last), (begin, end)
        else:
            continue
        facts.facts.add(name, row[1], city, valid=valid)
        rows.append(row)
    return list(dict.fromkeys(rows))


def held(row: Row, span: Period) -> bool | None:
    """Return whether a fact held at some time of a period; None if that is not certain."""
    first, last = row[3:]
    if first[0] >= span[1] or last[1] <= span[0]:
        return False
    inside = [span[0] <= one[0] and one[1] <= span[1] for one in (first, last)]
    return True if any(inside) or (span[0] < last[0] and span[1] > first[1]) else None


def before(row: Row, span: Period) -> bool | None:
    return True if row[3][1] <= span[0] else False if row[3][0] >= span[0] else None


def began(row: Row, span: Period) -> bool | None:
    first = row[3]
    if span[0] <= first[0] and first[1] <= span[1]:
        return True
    return False if first[1] <= span[0] or first[0] >= span[1] else None


@pytest.mark.parametrize("seed", range(8))
def test_the_order_of_visits_is_that_of_all_days_they_may_be_on(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8), durability="off") as store:
        agent = store.agent("ann")
        visits = [
            (name, city, written(chance, chance.randint(2001, 2003)))
            for name in NAMES
            for city in CITIES
        ]
        for name, city, at in visits:
            agent.facts.add(name, "visited", city, valid=at)
        view = agent.facts.view()
        for name, city, at in visits:
            for other, later in ((each[1], each[2]) for each in visits if each[0] == name):
                if other != city:
                    found = plan(f"Did {name} visit {city} before {other}?", view, NOW)
                    assert found.values == was_before(period(at), period(later)), (at, later)


def was_before(one: Period, other: Period) -> tuple[bool, ...]:
    """Return whether the days of one period are before those of another; empty if some are."""
    before = one[0] < other[1] - timedelta(1)
    not_before = other[0] <= one[1] - timedelta(1)
    return () if before and not_before else (before,)


@pytest.mark.parametrize("seed", range(8))
def test_answers_are_those_of_brute_force_or_declined(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8), durability="off") as store:
        agent = store.agent("ann")
        rows = filled(agent, chance)
        view = agent.facts.view()
        for _ in range(12):
            name, city = chance.choice(NAMES), chance.choice(CITIES)
            time = written(chance, chance.randint(1998, 2008))
            when, (_, _, exact) = said(time), said(time).partition(" ")
            lives = [row for row in rows if row[1] == "lives_in"]
            of_name = [row for row in rows if row[0] == name]
            visits = [row for row in of_name if row[1] == "visited"]
            here = [row for row in lives if row[2] == city]
            homes = [row for row in of_name if row[1] == "lives_in"]
            for question, known, test, part in (
                (f"Where did {name} live {when}?", homes, held, 2),
                (f"Who lived in {city} {when}?", here, held, 0),
                (f"Which cities did {name} visit {when}?", visits, held, 2),
                (f"Which cities did {name} visit before {exact}?", visits, before, 2),
                (f"Who moved to {city} {when}?", here, began, 0),
            ):
                check(view, question, known, test, period(time), part)


def check(
    view: FactView,
    question: str,
    known: list[Row],
    test: Callable[[Row, Period], bool | None],
    span: Period,
    part: int,
) -> None:
    found = plan(question, view, NOW)
    judged = [(row, test(row, span)) for row in known]
    if any(verdict is None for _, verdict in judged):
        assert found.lacks is not None, question
    elif found.lacks is not None:
        of_no_name = "I do not know what"  # of a name without facts
        assert of_no_name in found.lacks, (question, found.lacks)
    else:
        assert set(found.values) == {row[part] for row, verdict in judged if verdict}, question
