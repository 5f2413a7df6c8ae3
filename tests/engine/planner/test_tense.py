"""What is so now, and what was: "who lives in Rome?" and "who lived in Rome?"."""

from collections.abc import Iterator

import pytest

from recollex_engine.facts.fact_view import FactView
from tests.engine.planner.asking import answered, declined, facts_in

FACTS = [
    ("Ann", "lives_in", "Rome", ("2001", "2004")),
    ("Ben", "lives_in", "Lima", ("2008", None)),
    ("Ann", "works_for", "Acme", ("2002", "2006")),
    ("Ben", "works_for", "Acme", ("2005", "2007")),
    ("Cleo", "works_for", "Acme", ("2006", None)),
    ("Eva", "director_of", "Acme", ("2003", "2011")),
    ("Gus", "director_of", "Acme", ("2011", None)),
    ("Ann", "visited", "Oslo", "2006-02"),
    ("Ann", "visited", "Bergen", "2007-02"),
    ("Ann", "married", "Hugo", "2007-06-30"),
    ("Ann", "read", "Emma", "2010-01-02"),
    ("Ben", "read", "Emma", "2011-01-02"),
]
ANSWERS: dict[str, list[object]] = {
    "Who lives in Rome?": [],
    "Who lives in Lima?": ["Ben"],
    "Who lived in Rome?": ["Ann"],
    "Who works for Acme?": ["Cleo"],
    "Who is working for Acme?": ["Cleo"],
    "Who is it that works for Acme?": ["Cleo"],
    "Do you know who works for Acme?": ["Cleo"],
    "Can you tell me who works for Acme?": ["Cleo"],
    "Who else works for Acme besides Ann?": ["Cleo"],
    "Which people work for Acme?": ["Cleo"],
    "Which people worked for Acme?": ["Ann", "Ben", "Cleo"],
    "Which people did work for Acme?": ["Ann", "Ben", "Cleo"],
    "Which people have worked for Acme?": ["Ann", "Ben", "Cleo"],
    "List everyone who works for Acme.": ["Cleo"],
    "List everyone who worked for Acme.": ["Ann", "Ben", "Cleo"],
    "How many people work for Acme?": [1],
    "How many people worked for Acme?": [3],
    "How many people live in Rome?": [0],
    "Who works for Acme in 2005?": ["Ann", "Ben"],
    "Who's the director of Acme?": ["Gus"],
    "Who are the directors of Acme?": ["Gus"],
    "How many directors does Acme have?": [1],
    "How many directors did Acme have?": [2],
    "How many directors has Acme had?": [2],
    "What are the cities that Ann visited?": ["Oslo", "Bergen"],
    "What is the name of the person whom Ann married?": ["Hugo"],
    "Who was the first to visit Oslo?": ["Ann"],
    "Which people read Emma?": ["Ann", "Ben"],
    "Does Ann live in Rome?": [False],
    "Does Ben live in Lima?": [True],
    "Does Ann still live in Rome?": [False],
    "Is Ben still living in Lima?": [True],
    "Did Ann still live in Rome in 2003?": [True],
    "Did Ann still work for Acme in 2007?": [False],
    "Who still works for Acme?": ["Cleo"],
    "Is Eva still the director of Acme?": [False],
}


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FactView]:
    yield from facts_in(tmp_path_factory.mktemp("tense"), FACTS)


@pytest.mark.parametrize(("question", "values"), ANSWERS.items())
def test_the_tense_says_which_facts_are_meant(
    view: FactView, question: str, values: list[object]
) -> None:
    answered(question, view, values)


@pytest.mark.parametrize(
    "question",
    [
        "Who is Ann married to?",
        "Who is married to Hugo?",
        "Is Ann still married to Hugo?",
        "How many cities does Ann visit?",
    ],
)
def test_a_single_day_says_nothing_of_now(view: FactView, question: str) -> None:
    declined(question, view, "what is so now")
