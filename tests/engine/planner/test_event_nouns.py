"""Events that a predicate says by a noun: "took a trip to", asked as "Zoe's second trip"."""

import random
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

import recollex
from recollex_engine.facts.fact_view import FactView
from recollex_engine.planner.cue_words import ORDINALS
from recollex_engine.planner.plan import plan
from tests.engine.planner.asking import NOW, answered, declined, facts_in

FACTS = [
    ("Zoe", "took a trip to", "Rome", "2021-03-02"),
    ("Zoe", "took a trip to", "Oslo", "2022-07-10"),
    ("Zoe", "took a trip to", "Rome", "2023-05-01"),
    ("Tom", "took a trip to", "Oslo", "2020-07-10"),
    ("Zoe", "had_a_meeting_with", "Tom", "2021-05-05"),
    ("Zoe", "had_a_meeting_with", "Ann", "2021-06-05"),
    ("Zoe", "gave_talk_at", "PyCon", "2019-05"),
    ("Zoe", "gave_talk_at", "EuroSciPy", "2020-08"),
    ("Zoe", "took a tour of", "Pisa", "2021-03-03"),
    ("Zoe", "went on a hike to", "Etna", "2021-03-04"),
    ("Zoe", "met", "Tom", "2012-01-04"),
    ("Ann", "met", "Ben", "2013-01-04"),
    ("Ben", "met", "Ann", "2014-01-04"),
    ("Cleo", "met", "Ben", "2014-01-05"),
    ("Zoe", "made a film about", "whales", "2018"),
    ("Zoe", "lives in", "Berlin", ("2014", "2020")),
    ("Zoe", "lives in", "Paris", ("2020", None)),
]
ANSWERS: dict[str, list[object]] = {
    "What was Zoe's second trip?": ["Oslo"],
    "What was the second trip of Zoe?": ["Oslo"],
    "Where did Zoe take her second trip?": ["Oslo"],
    "Where did Zoe take a trip to in 2022?": ["Oslo"],
    "What was the second trip Zoe took after June 2021?": ["Rome"],
    "Which trips did Zoe take after June 2021?": ["Oslo", "Rome"],
    "What is Zoe's latest trip?": ["Rome"],
    "List Zoe's trips in order.": ["Rome", "Oslo", "Rome"],
    "How many trips did Zoe take?": [3],
    "How many trips did Zoe take to Rome?": [2],
    "How many trips to Rome did Zoe take?": [2],
    "How many trips were there to Oslo?": [2],
    "How many trips by Zoe were there?": [3],
    "How many trips has Zoe taken since 2022?": [2],
    "How many people took a trip to Oslo?": [2],
    "How often did Zoe take a trip to Rome?": [2],
    "Who took a trip to Oslo in 2022?": ["Zoe"],
    "Who else took a trip to Oslo besides Zoe?": ["Tom"],
    "When was Zoe's last trip?": ["2023-05-01"],
    "When was Zoe's first trip to Rome?": ["2021-03-02"],
    "When was Zoe's second trip after June 2021?": ["2023-05-01"],
    "How many years ago was Zoe's last trip to Rome?": [3],
    "Did Zoe take a trip to Oslo in 2022?": [True],
    "Did Zoe take a trip to Oslo in 2021?": [False],
    "Where did Zoe live when she took her first trip?": ["Paris"],
    "Whom did Zoe have a meeting with in May 2021?": ["Tom"],
    "Who was Zoe's last meeting with?": ["Ann"],
    "How many meetings did Zoe have?": [3],
    "What was Zoe's first meeting?": ["Tom"],
    "How many meetings did Tom have?": [2],
    "How many meetings did Cleo have?": [1],
    "When did Zoe meet Tom?": ["2012-01-04"],
    "Where did Zoe give her second talk?": ["EuroSciPy"],
    "What was Zoe's first tour?": ["Pisa"],
    "Who took a tour of Pisa?": ["Zoe"],
    "When did Zoe go on a hike?": ["2021-03-04"],
}
OUTSIDE = {
    "What did Zoe take on her second trip?": "'take'",
    "What did Zoe take after her second trip?": "'take'",
    "What did Zoe do on her last trip?": "'on'",
    "Who was on Zoe's last trip?": "'on'",
    "What was Zoe's second trip for?": "'for'",
    "Which business trip did Zoe take?": "'business'",
    "What was the tour of Pisa?": "what is asked for",
    "Who was Zoe's last trip?": "what is asked for",
    "How many different trips did Zoe take?": "'different'",
    "How long was Zoe's last trip?": "not how long",
    "Who did Zoe meet on her second trip?": "several predicates",
    "Which film did Zoe make?": "'make'",
    "When was the Oslo trip?": "'the Oslo'",
    "When was Zoe's Oslo trip?": "'Oslo'",
    "Which trips Oslo?": "'Oslo'",
    "How many meetings did Ben have?": "the subject or the object",
    "What is a trip?": "neither who nor what",
}


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FactView]:
    yield from facts_in(tmp_path_factory.mktemp("events"), FACTS)


@pytest.mark.parametrize(("question", "values"), ANSWERS.items())
def test_an_event_is_named_by_its_noun(view: FactView, question: str, values: list[object]) -> None:
    answered(question, view, values)


@pytest.mark.parametrize(("question", "lack"), OUTSIDE.items())
def test_what_is_asked_about_an_event_is_declined(view: FactView, question: str, lack: str) -> None:
    declined(question, view, lack)


def test_random_trips_are_counted_and_ordered_as_by_hand(tmp_path: Path) -> None:
    chance = random.Random(7)
    days = [date(2015, 1, 1) + timedelta(n) for n in chance.sample(range(3_000), 30)]
    trips = [(chance.choice(["Ann", "Ben"]), chance.choice(["Rome", "Oslo"]), at) for at in days]
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
        facts = store.agent("zoe").facts
        for who, where, at in trips:
            facts.add(who, "took_a_trip_to", where, valid=at.isoformat())
        view = facts.view()
        for name in ("Ann", "Ben"):
            own = sorted((at, where) for who, where, at in trips if who == name)
            for word, number in ORDINALS.items():
                asked = plan(f"What was {name}'s {word} trip?", view, NOW)
                assert asked.values == tuple(where for _, where in own[number - 1 : number])
            for year in range(2014, 2025):
                count = plan(f"How many trips did {name} take in {year}?", view, NOW)
                assert count.values == (sum(at.year == year for at, _ in own),)
                later = [at for at, _ in own if at.year > year]
                first = plan(f"When was {name}'s first trip after {year}?", view, NOW)
                assert first.values == tuple(at.isoformat() for at in later[:1])
