"""Questions over facts that are known by the year, the month or the day."""

from collections.abc import Iterator

import pytest

import recollex
from recollex_engine.facts.fact_view import FactView
from recollex_engine.planner.plan import plan
from tests.engine.planner.asking import NOW, answered, declined, facts_in

FACTS = [
    ("Ann", "lives in", "Rome", ("2001-03-01", "2004-06-14")),
    ("Ann", "lives in", "Oslo", ("2004-06-15", "2010")),
    ("Ann", "lives in", "Paris", ("2010", None)),
    ("Ben", "lives in", "Oslo", ("2003", "2008")),
    ("Cleo", "lives in", "Oslo", ("2007-05", "2009-02")),
    ("Ann", "works for", "Acme", ("2002", "2006")),
    ("Ben", "works for", "Acme", ("2005-01-10", "2006-12-31")),
    ("Ann", "works for", "Globex", ("2006", None)),
    ("Dan", "director of", "Acme", ("1999", "2003")),
    ("Eva", "director of", "Acme", ("2003", "2011")),
    ("Gus", "director of", "Acme", ("2011", None)),
    ("Ann", "visited", "Cairo", "2006-02"),
    ("Ann", "visited", "Berlin", "2006-09-12"),
    ("Ann", "visited", "Cairo", "2009-11-30"),
    ("Ann", "met", "Ben", "2003-10-01"),
    ("Ann", "met", "Cleo", "2003-09-30"),
    ("Ann", "bought", "a boat", "2011-04-01"),
    ("Ann", "married", "Hugo", "2007-06-30"),
    ("Dan", "won", "the Prize", "2001"),
    ("Eva", "won", "the Prize", "2004"),
    ("Finn", "won", "the Prize", "2008"),
    ("Eva", "won", "the Prize", "2009"),
    ("Zoe", "lives in", "Lima", ("1997-01", "2001-03")),
    ("Zoe", "lives in", "Rome", ("1997", "1997")),
    ("Zoe", "visited", "Bern", "1997"),
    ("Kim", "mother", "Jane", None),
    ("Jane", "mother", "Ruth", None),
    ("Kim", "employer", "IBM", ("2010", "2012")),
    ("Kim", "colour", recollex.Text("blue"), ("2001", "2003")),
    ("Norway", "capital", "Oslo", None),
    ("Oslo", "capital_of", "Norway", None),
]
ANSWERS: dict[str, list[object]] = {
    "Who was the employer of Kim in 2011?": ["IBM"],
    "Who was Kim's employer in 2011?": ["IBM"],
    "Who had IBM as employer in 2011?": ["Kim"],
    "Was IBM the employer of Kim in 2011?": [True],
    "Who is the mother of Kim?": ["Jane"],
    "What colour was Kim in 2002?": ["blue"],
    "What was Kim's colour in 2002?": ["blue"],
    "Did Ann stop working for Globex?": [False],
    "Did Ann stop working for Acme?": [True],
    "Has Ann stopped living in Paris?": [False],
    "Does Ann no longer live in Oslo?": [True],
    "Which people no longer work for Globex?": [],
    "Who was the first to start working for Acme in 2005?": ["Ben"],
    "Who lived in Oslo at the same time as Ann?": ["Ben", "Cleo"],
    "Who lived in Oslo when Ann married Hugo?": ["Ben", "Ann", "Cleo"],
    "Did Dan and Finn both win the Prize?": [True],
    "Did both Ann and Ben live in Oslo in 2005?": [True],
    "Did Ann and Ben live in Oslo in 2009?": [False],
    "How many years ago did Ann buy a boat?": [15],
    "How many weeks ago did Ann meet Ben?": [1207],
    "How many weeks ago did Ann meet Cleo?": [1208],
    "Where did Ann work in 2007?": ["Globex"],
    "Did Ann live in Rome until 2004?": [True],
    "Has Ann lived in Paris since 2010?": [True],
    "How many people have lived in Oslo since 2002?": [3],
    "Which company had Eva as director?": ["Acme"],
    "What was the second visit of Ann?": ["Berlin"],
    "Which cities did Ann visit after Ann married Hugo?": ["Cairo"],
    "From when until when did Ann live in Rome?": ["2001-03-01 to 2004-06-14"],
    "How many years ago did Gus become director of Acme?": [15],
    "How many years ago did Ann stop living in Rome?": [22],
    "How many days ago did Ann visit Berlin?": [7378],
    "How many directors of Acme came before Gus?": [2],
    "Who were the directors of Acme?": ["Dan", "Eva", "Gus"],
    "Who were the directors of Acme before Gus?": ["Dan", "Eva"],
    "Who were the directors of Acme immediately before Gus?": ["Eva"],
    "Was Hugo married to Ann in 2007?": [True],
    "Was Berlin visited in 2006?": ["Ann"],
    "Did Ann work for Acme before Globex?": [True],
    "How many visits to Cairo were there?": [2],
    "How many visits has Ann had?": [3],
    "How many visits did Ann make to Cairo?": [2],
    "When was Ann's second visit to Cairo?": ["2009-11-30"],
    "How many meetings did Ann have?": [2],
    "Whom did Ann first meet?": ["Cleo"],
    "Did Dan win the Prize before Eva?": [True],
    "Did Ann meet Ben before Cleo?": [False],
    "Did Ann meet Cleo before Ben?": [True],
    "Who won the Prize first, Dan or Finn?": ["Dan"],
    "Did Ann buy a boat before she married Hugo?": [False],
}
OUTSIDE = {
    "Who is the mother of Jane?": "subject or the object of mother",
    "What is the capital of Norway?": "several predicates",
    "Who won the Prize for the third time?": "'time'",
    "What did Ann visit for the second time?": "'time'",
    "List the directors of Acme, latest first.": "together",
    "Who was the first to stop working for Acme?": "to end",
    "Was Ann married to Hugo in 2010?": "what was so",
    "Who was Ann married to in 2010?": "what was so",
    "How many prizes did Eva win?": "each time",
    "Where did Ann live after Ann married Hugo?": "went on through",
    "Where did Ann live before Ann married Hugo?": "went on through",
    "Where did Ann live after Cleo moved to Oslo?": "went on through",
    "Which cities did Ann live in after Ann married Hugo?": "went on through",
    "count the date when inclusive Acme replacing occupying thing the Prize met?": "several events",
    "How long did Ann visit Berlin?": "not how long",
    "How many years ago did Ann live in Rome?": "its start or its end",
    "Did Ann live in Rome until 2010?": "did not last",
    "Who lived in Oslo until 2010?": "did not last",
    "Who has lived in Oslo since 2002?": "did not last",
    "Did Ann live in Oslo all of 2004?": "'2004'",
    "Did Ann live in Oslo every month of 2004?": "'every'",
    "How many cities did Ann visit then?": "'then'",
    "Which city did Ann visit at the latest in 2009?": "'at the latest'",
    "Which city did Ann visit in mid-2006?": "'mid-2006'",
    "Which city did Ann visit in the winter of 2006?": "'winter'",
    "Where did Ann meet?": "does not say where",
    "Where was Ann married?": "does not say where",
    "Where did Eva win in 2004?": "does not say where",
    "Where is the director of Acme?": "does not say where",
    "Where did Ann live when Dan and Eva won the Prize?": "",
    "Where did Ann live when Eva first won the Prize?": "precisely enough",
    "Where did Zoe live when Zoe visited Bern?": "precisely enough",
    "How many days ago did Ann visit Cairo first?": "only known by the month",
}


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FactView]:
    yield from facts_in(tmp_path_factory.mktemp("other"), FACTS)


@pytest.mark.parametrize(("question", "values"), ANSWERS.items())
def test_answers_from_facts_of_mixed_precision(
    view: FactView, question: str, values: list[object]
) -> None:
    answered(question, view, values)


@pytest.mark.parametrize(("question", "lack"), OUTSIDE.items())
def test_questions_that_would_be_misread(view: FactView, question: str, lack: str) -> None:
    declined(question, view, lack)


def test_numbers_of_a_date_are_read_in_the_order_of_the_locale(view: FactView) -> None:
    question = "What did Ann visit on 9/12/2006?"
    assert plan(question, view, NOW, "en-US").values == ("Berlin",)
    assert plan(question, view, NOW).values == ()


def test_the_year_of_a_month_without_one_is_a_note(view: FactView) -> None:
    found = plan("What did Ann visit in September?", view, NOW)
    assert found.notes == ("I read 'September' as 2026-09-01 to 2026-09-30",)
    assert plan("What did Ann visit in September 2006?", view, NOW).notes == ()
