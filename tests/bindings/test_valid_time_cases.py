"""Does a timeline of facts answer as XTDB documents its valid time and system time?

XTDB (docs.xtdb.com: "Time in XTDB", the immutability walkthrough, parts 3 and 4, "Control the
timeline") keeps a row's timeline: an insert or update with _valid_from and _valid_to puts a value
over that period of valid time, a delete takes a period away, both leave the rest of the timeline as
it is, and a query names a valid time and a system time. Here a value over a period is a fact, put
in place of what was said for that period: ARCHIVE_EDGE during it, then UPSERT_EDGE.

What differs, by intent: a query that names no valid time sees facts of all valid times here, and
those of the present in XTDB; a fact put beside another without archiving it does not overwrite it,
but conflicts with it.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

import recollex


def year(number):
    return None if number is None else datetime(number, 1, 1, tzinfo=UTC)


@dataclass
class Put:
    at: int  # when it is recorded
    value: str
    start: int
    end: int | None = None


@dataclass
class Delete:
    at: int
    start: int
    end: int | None = None


CASES = {
    "a fact recorded later than it began": (
        [Put(2024, "10", 2022)],
        {(2021, 2024): None, (2022, 2024): "10", (2030, 2024): "10", (2023, 2023): None},
    ),
    "history inserted before what is known": (
        [Put(2024, "new", 2024), Put(2025, "old", 2022, 2024)],
        {
            (2020, 2025): None,
            (2023, 2025): "old",
            (2024, 2025): "new",
            (2023, 2024): None,
            (2024, 2024): "new",
        },
    ),
    "a retroactive correction of one period": (
        [
            Put(2024, "1", 2022, 2023),
            Put(2024.1, "2", 2023, 2024),
            Put(2024.2, "3", 2024),
            Put(2025, "2.5", 2023, 2024),
        ],
        {
            (2022, 2025): "1",
            (2023, 2025): "2.5",
            (2024, 2025): "3",
            (2023, 2024.2): "2",
            (2022, 2024.2): "1",
        },
    ),
    "a correction inside a longer period": (
        [Put(2024, "a", 2010, 2020), Put(2025, "b", 2013, 2015)],
        {
            (2012, 2025): "a",
            (2013, 2025): "b",
            (2014, 2025): "b",
            (2015, 2025): "a",
            (2019, 2025): "a",
            (2020, 2025): None,
            (2014, 2024): "a",
        },
    ),
    "a fact of the future appears when its time comes": (
        [Put(2024, "9 to 5", 2020), Put(2025, "9 to 4", 2027)],
        {
            (2026, 2025): "9 to 5",
            (2027, 2025): "9 to 4",
            (2027, 2024): "9 to 5",
            (2035, 2025): "9 to 4",
        },
    ),
    "a fact of the future that is taken back": (
        [Put(2024, "now", 2020), Put(2025, "then", 2027), Delete(2026, 2027)],
        {(2026, 2026): "now", (2027, 2026): None, (2027, 2025): "then", (2027, 2024): "now"},
    ),
    "a deletion for a period": (
        [Put(2024, "a", 2010), Delete(2025, 2013, 2015)],
        {
            (2012, 2025): "a",
            (2013, 2025): None,
            (2014, 2025): None,
            (2015, 2025): "a",
            (2040, 2025): "a",
            (2014, 2024): "a",
        },
    ),
    "a deletion from a moment on": (
        [Put(2024, "a", 2010), Delete(2025, 2020)],
        {(2019, 2025): "a", (2020, 2025): None, (2020, 2024): "a"},
    ),
    "a deletion of everything": (
        [Put(2024, "a", 2010), Delete(2025, 1900)],
        {(2019, 2025): None, (2019, 2024): "a"},
    ),
    "a deletion where nothing is": (
        [Put(2024, "a", 2010, 2012), Delete(2025, 2015, 2016)],
        {(2011, 2025): "a", (2015, 2025): None},
    ),
    "a value put again after its deletion": (
        [Put(2023, "a", 2010), Delete(2024, 2010), Put(2025, "a", 2010)],
        {(2011, 2023): "a", (2011, 2024): None, (2011, 2025): "a"},
    ),
    "a correction of a correction": (
        [
            Put(2023, "first", 2010, 2020),
            Put(2024, "second", 2010, 2020),
            Put(2025, "third", 2010, 2020),
        ],
        {(2015, 2023): "first", (2015, 2024): "second", (2015, 2025): "third"},
    ),
    "a correction that gives back what was there first": (
        [
            Put(2023, "right", 2010, 2020),
            Put(2024, "wrong", 2012, 2014),
            Put(2025, "right", 2012, 2014),
        ],
        {
            (2013, 2023): "right",
            (2013, 2024): "wrong",
            (2013, 2025): "right",
            (2011, 2025): "right",
            (2017, 2025): "right",
        },
    ),
    "a deletion that is itself corrected": (
        [Put(2023, "a", 2010, 2020), Delete(2024, 2012, 2016), Put(2025, "b", 2014, 2015)],
        {
            (2013, 2025): None,
            (2014, 2025): "b",
            (2015, 2025): None,
            (2016, 2025): "a",
            (2014, 2024): None,
            (2014, 2023): "a",
        },
    ),
}


def moment(number):
    whole = int(number)
    return datetime(whole, 1 + round((number - whole) * 10), 1, tzinfo=UTC)


def run(agent, step):
    period = (year(step.start), year(step.end))
    with agent.transaction(recorded_at=moment(step.at), by="test") as tx:
        for fact in agent.facts.find(subject="row", predicate="value"):
            tx.facts.archive(fact.id, during=period)
        if isinstance(step, Put):
            id = f"{step.at}"
            tx.facts.add("row", "value", recollex.Text(step.value), valid=period, id=id)


@pytest.mark.parametrize("name", CASES)
def test_a_timeline_answers_as_xtdb_documents(name, tmp_path):
    steps, answers = CASES[name]
    store = recollex.open(tmp_path, embedder=recollex.GivenVectors(8), durability="off")
    agent = store.agent("a")
    for step in steps:
        run(agent, step)
    for _ in range(2):
        for (world, recorded), expected in answers.items():
            found = agent.facts.find(
                subject="row", as_recorded=moment(recorded), as_world=year(world)
            )
            values = [fact.object for fact in found]
            assert values == ([] if expected is None else [expected]), (world, recorded)
        assert agent.facts.conflicts() == []
        assert agent.verify().ok
        store.close()
        store = recollex.open(tmp_path, embedder=recollex.GivenVectors(8), durability="off")
        agent = store.agent("a")
    store.close()


def test_without_a_valid_time_facts_of_all_times_are_seen(tmp_path):
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
        agent = store.agent("a")
        run(agent, Put(2024, "past", 2000, 2010))
        run(agent, Put(2025, "future", 2090))
        assert [fact.object for fact in agent.facts.find(subject="row")] == ["past", "future"]


def test_what_is_put_beside_another_conflicts_with_it_and_overwrites_nothing(tmp_path):
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
        facts = store.agent("a").facts
        facts.add("row", "value", 1, valid=(year(2000), year(2010)), id="one")
        facts.add("row", "value", 2, valid=(year(2005), None), id="two")
        [(one, other)] = facts.conflicts()
        assert (one.object, other.object) == (1, 2)
        [conflict] = one.conflicts
        assert conflict.id == "two"
        assert conflict.overlap == (year(2005), year(2010))
        assert conflict.relation == "overlaps"
