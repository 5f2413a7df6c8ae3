"""Questions in English over a few facts: exact answers, and what is not in the planner's forms."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex_engine.clock import to_micros
from recollex_engine.facts.fact_view import FactView
from recollex_engine.planner.plan import NO_INFORMATION, plan

NOW = to_micros("2026-11-24T00:00Z", "now")
FACTS = [
    ("Ann", "lives_in", "Oslo", "from 2001 to 2009"),
    ("Ann", "lives_in", "Rome", "from 2010 to 2015"),
    ("Ann", "lives_in", "Paris", "since 2016"),
    ("Ben", "lives_in", "Rome", "from 2012 to 2014"),
    ("Ann", "works_for", "Acme", "from May 2003 to June 2008"),
    ("Ben", "works_for", "Acme", "from June 2005 to March 2007"),
    ("Ann", "director_of", "Acme", "from 2005 to 2007"),
    ("Cleo", "director_of", "Acme", "from 2008 to 2012"),
    ("Dan", "director_of", "Acme", "since 2013"),
    ("Dan", "deputy_director_of", "Acme", "from 2008 to 2012"),
    ("Ann", "visited", "Lisbon", "on 3 May 2019"),
    ("Ann", "visited", "Madrid", "on 7 July 2019"),
    ("Ann", "visited", "Lisbon", "on 9 August 2020"),
    ("Ann", "visited", "Berlin", "in 2021"),
    ("Ann", "married_to", "Ben", "since 12 June 2011"),
    ("Ann", "has_pet", "Rex", "from 2014 to 2020"),
    ("House 7", "owned_by", "Ann", "since 2012"),
    ("Ann", "likes", "tea", None),
    ("Ben", "met", "Cleo", "on 1 March 2018"),
    ("Ben", "sings", recollex.Text("Jolene"), "around 2015"),
]
ANSWERS = {
    "Who is the director of Acme?": ["Dan"],
    "Who was the director of Acme in 2006?": ["Ann"],
    "Where did Ann live in 2012?": ["Rome"],
    "where did ann live in 2012": ["Rome"],
    "Where does Ann live?": ["Paris"],
    "Where did Ann live before Rome?": ["Oslo"],
    "Where did Ann live after Rome?": ["Paris"],
    "When did Ann move to Rome?": ["2010"],
    "When did Ann live in Rome?": ["2010 to 2015"],
    "How long did Ann live in Rome?": [5],
    "How many months did Ann work for Acme?": [61],
    "Which cities did Ann visit in 2019?": ["Lisbon", "Madrid"],
    "How many cities did Ann visit?": [3],
    "How many times did Ann visit Lisbon?": [2],
    "What was the second city that Ann visited?": ["Madrid"],
    "When did Ann first visit Lisbon?": ["2019-05-03"],
    "When did Ann visit Lisbon?": ["2019-05-03", "2020-08-09"],
    "When did Ann visit Lisbon for the second time?": ["2020-08-09"],
    "Who else worked for Acme besides Ann?": ["Ben"],
    "Who else worked for Acme while Ann worked for Acme?": ["Ben"],
    "Did Ann and Ben live in Rome at the same time?": [True],
    "How long did Ann and Ben both work for Acme?": [21],
    "How long ago did Ann marry Ben?": [5644],
    "How many years ago did Ann move to Paris?": [10],
    "How many days ago did Ben meet Cleo?": [3190],
    "Was Ann the director of Acme in 2006?": [True],
    "Was Ann the director of Acme in 2010?": [False],
    "Is Dan the director of Acme?": [True],
    "Who owned House 7 in 2013?": ["Ann"],
    "What did Ann own in 2014?": ["House 7"],
    "Who was Ann's pet in 2015?": ["Rex"],
    "Whom did Ann marry in 2011?": ["Ben"],
    "Whom did Ann marry in 2012?": [],
    "Who was married to Ben in 2012?": ["Ann"],
    "Who likes tea?": ["Ann"],
    "Which city did Ann visit right after Madrid?": ["Lisbon"],
    "Which cities did Ann visit after May 2019?": ["Madrid", "Lisbon", "Berlin"],
    "List Ann's visits in order.": ["Lisbon", "Madrid", "Lisbon", "Berlin"],
    "Who was the director of Acme when Ann moved to Rome?": ["Cleo"],
    "Who succeeded Ann as director of Acme?": ["Cleo"],
    "Whom did Cleo succeed as director of Acme?": ["Ann"],
    "Who was succeeded by Cleo as director of Acme?": ["Ann"],
    "By whom was Ann succeeded as director of Acme?": ["Cleo"],
    "Who preceded Dan as director of Acme?": ["Cleo"],
    "Whom did Cleo precede as director of Acme?": ["Dan"],
    "Who started working for Acme in June 2005?": ["Ben"],
    "How many people lived in Rome between 2010 and 2014?": [2],
    "Where did Ben live when Ann visited Berlin?": [],
    "What is Ann's pet?": [],
    "Where did Ann work when she lived in Oslo?": ["Acme"],
    "Where was Ann living when she first visited Lisbon?": ["Paris"],
    "When she visited Berlin, where did Ann live?": ["Paris"],
    "Which city did Ann visit right after she visited Madrid?": ["Lisbon"],
    "Did Ann live in Oslo before Rome?": [True],
    "Did Ann live in Oslo before she lived in Rome?": [True],
    "Did Ann visit Berlin before Madrid?": [False],
    "Did Ann visit Madrid after she moved to Paris?": [True],
    "Did Ann visit Madrid before she first visited Lisbon?": [False],
    "Was Ann the director of Acme before Cleo?": [True],
    "Did Ben live in Rome before Ann?": [False],
    "Did Ann stop working for Acme before Ben?": [False],
    "Did Ben stop working for Acme before Ann?": [True],
    "Did Ann start working for Acme before Ben?": [True],
    "Did Ben live in Rome when Ann lived in Rome?": [True],
    "Was Cleo the director of Acme when Ann moved to Rome?": [True],
    "Was Ann the director of Acme when Ann moved to Rome?": [False],
    "Which did Ann visit first, Lisbon or Madrid?": ["Lisbon"],
    "Which city did Ann visit last, Lisbon, Madrid or Berlin?": ["Berlin"],
    "Where did Ann live first, in Rome or in Oslo?": ["Oslo"],
    "Who was the director of Acme first, Cleo or Ann?": ["Ann"],
    "Did Ann or Ben work for Acme first?": ["Ann"],
    "Who was director before Cleo?": ["Ann"],
    "What is the year in which Ann stopped being the director of Acme?": ["2007"],
    "Find the end year of Ann's stint as director of Acme.": ["2007"],
    "What was the first year in which Ann was the director of Acme?": ["2005"],
    "What year marked the start of Ann as the director of Acme?": ["2005"],
    "From what year on was Dan the director of Acme?": ["2013"],
    "What are the start and end years of Ann being the director of Acme?": ["2005 to 2007"],
    "Over which period did Ann live in Rome?": ["2010 to 2015"],
    "Who was the director of Acme during 2006?": ["Ann"],
    "Back in 2006, who was the director of Acme?": ["Ann"],
    "During 2005 to 2010, how many people were the director of Acme?": [2],
    "Over the years 2005 to 2010, how many people were the director of Acme?": [2],
    "Calculate how many people were the director of Acme between 2005 and 2010.": [2],
    "How many people kept working for Acme in 2006?": [2],
    "Who worked at Acme in 2006?": ["Ann", "Ben"],
    "When did Ben start working at Acme?": ["2005-06"],
    "Who is the current director of Acme?": ["Dan"],
    "What did Ann do in July 2019?": ["visited Madrid"],
    "What did Ann do last in 2019?": ["visited Madrid"],
    "What happened to Ann in 2011?": ["married to Ben"],
    "What happened after 2020?": ["Ann visited Berlin"],
    "What did Ben do in 1999?": [],
    "List the directors of Acme sorted by start year.": ["Ann", "Cleo", "Dan"],
    "How many years lie between the start and the end of Ann being the director of Acme?": [2],
    "Who was the director right after Ann?": ["Cleo"],
    "Who succeeded Ann as director?": ["Cleo"],
    "How many directors came before Dan?": [2],
}
OUTSIDE = {
    "Who was the director of Acme?": "names no time",
    "How many years did Ann work for Acme?": "no whole years",
    "Where did Ann live on 5 May 2010?": "precisely enough",
    "Which city did Ann visit after Lisbon?": "happened 2 times",
    "Who lived in Rome before 2012?": "had begun",
    "Who lived in Rome since 2011?": "went on",
    "Who was not the director of Acme in 2006?": "'not'",
    "Where did Ann not live?": "'not'",
    "Who was the acting director of Acme in 2006?": "'acting'",
    "Who was the director of Acme at the end of 2006?": "",
    "Who was the director of Acme in 2006 and 2009?": "",
    "Who was the director of Acme in 2006 or 2009?": "",
    "Who was the only director of Acme in 2006?": "'only'",
    "Where did Ann live around 2012?": "'around'",
    "What did Ben sing?": "approximate",
    "Who lived in Rome longest?": "'longest'",
    "Who was the director of Acme for two years?": "'two'",
    "Which directors of Acme lived in Rome?": "several predicates",
    "Who directed Acme in 2006?": "'directed'",
    "When will Ann move to Rome?": "'will'",
    "Whom did Ann marry when she lived in Rome?": "'she'",
    "Who was the director of Acme when she lived in Oslo?": "'she'",
    "Where did Ann live when Ben met her?": "",
    "Where did Ann and Ben live when she visited Berlin?": "'she'",
    "When Ann met Ben, where did she live?": "'she'",
    "Who lived in Rome in 2012 with Ann?": "'with'",
    "Did Ben live in Rome after Ann?": "lasted on",
    "Did Ann visit Lisbon before Madrid?": "some after",
    "Did Ann live in Oslo right before Rome?": "'right'",
    "Did Ann visit Lisbon and Madrid before Berlin?": "a second name",
    "Did Ann marry Ben before she moved to Paris?": "'she'",
    "Did Ann or Ben work for Acme?": "'or'",
    "Who was the director of Acme in 2006, Ann or Cleo?": "'or'",
    "Which city did Ann or Ben visit first?": "neither who nor what",
    "Which city did Ann visit first, Madrid or Oslo?": "of Oslo",
    "Who was the director before Ben?": "do not hold the event",
    "Who was the director in 2006?": "neither who nor what",
    "How many changes of the director of Acme were there?": "'changes'",
    "Who was the director of Acme in the end year of Ann?": "who and when",
    "What did Ann do?": "names no time",
    "What did Ben do in 2014?": "approximate",
    "What does Ann do in 2019?": "whose deeds",
    "What did Ann do at Acme in 2006?": "whose deeds",
    "What happened in Rome in 2012?": "'in'",
    "Who happened in 2012?": "asks who",
    "Who was there when Ann was the director of Acme?": "no predicate",
    "Where else did Ann live?": "who is left out",
    "Why did Ann live in Rome?": "'Why'",
    "whre did Ann live in 2012": "'whre'",
    "What is the population of Rome?": "'population'",
    "Who was the director of Zenith in 2006?": "'Zenith'",
    "?": "names no predicate",
}

OTHER_FACTS = [
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
OTHER_ANSWERS: dict[str, list[object]] = {
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
OTHER_OUTSIDE = {
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
def other_view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FactView]:
    yield from facts_in(tmp_path_factory.mktemp("other"), OTHER_FACTS)


@pytest.mark.parametrize(("question", "values"), OTHER_ANSWERS.items())
def test_answers_from_facts_of_mixed_precision(
    other_view: FactView, question: str, values: list[object]
) -> None:
    found = plan(question, other_view, NOW)
    assert found.lacks is None and list(found.values) == values


@pytest.mark.parametrize(("question", "lack"), OTHER_OUTSIDE.items())
def test_questions_that_would_be_misread(other_view: FactView, question: str, lack: str) -> None:
    found = plan(question, other_view, NOW)
    assert found.lacks is not None and lack in found.lacks


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FactView]:
    yield from facts_in(tmp_path_factory.mktemp("planner"), FACTS)


def facts_in(folder: Path, facts: Sequence[tuple[Any, ...]]) -> Iterator[FactView]:
    with recollex.open(folder, embedder=recollex.GivenVectors(8)) as store:
        agent = store.agent("ann")
        with agent.transaction() as tx:
            for subject, predicate, value, valid in facts:
                tx.facts.add(subject, predicate, value, valid=valid)
        yield agent.facts.view()


@pytest.mark.parametrize(("question", "values"), ANSWERS.items())
def test_answers(view: FactView, question: str, values: list[object]) -> None:
    found = plan(question, view, NOW)
    assert found.lacks is None and list(found.values) == values
    assert (found.text == NO_INFORMATION) == (values == [])


@pytest.mark.parametrize(("question", "lack"), OUTSIDE.items())
def test_outside_its_forms(view: FactView, question: str, lack: str) -> None:
    found = plan(question, view, NOW)
    assert found.lacks is not None and lack in found.lacks
    assert (found.text, found.values, found.facts) == (None, (), ())


def test_an_answer_names_its_facts_and_what_it_assumed(view: FactView) -> None:
    found = plan("Which cities did Ann visit in 2019?", view, NOW)
    assert [fact.object for fact in found.facts] == ["Lisbon", "Madrid"]
    assert "no types are recorded" in found.notes[0]
    assert found.to_dict()["facts"][0]["valid"][0] == "2019-05-03T00:00:00+00:00"
    assert plan("When did Ann move to Rome?", view, NOW).notes == ("I read 'move to' as lives_in",)


def test_numbers_of_a_date_are_read_in_the_order_of_the_locale(other_view: FactView) -> None:
    question = "What did Ann visit on 9/12/2006?"
    assert plan(question, other_view, NOW, "en-US").values == ("Berlin",)
    assert plan(question, other_view, NOW).values == ()


def test_the_year_of_a_month_without_one_is_a_note(other_view: FactView) -> None:
    found = plan("What did Ann visit in September?", other_view, NOW)
    assert found.notes == ("I read 'September' as 2026-09-01 to 2026-09-30",)
    assert plan("What did Ann visit in September 2006?", other_view, NOW).notes == ()


def test_what_was_yesterday_was_on_a_day(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
        facts = store.agent("ann").facts
        begun = facts.get(facts.add("Kim", "visited", "Lima", valid="yesterday")).valid[0]
        assert begun is not None
        found = plan("When did Kim visit Lima?", facts.view(), NOW)
        assert found.values == (begun.date().isoformat(),)


def test_an_empty_agent_declines(tmp_path: object) -> None:
    found = plan("Who was the director of Acme in 2006?", FactView.empty(), NOW)
    assert found.lacks is not None


def test_types_decide_what_a_city_is(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("types")
    with recollex.open(folder, embedder=recollex.GivenVectors(8)) as store:
        facts = store.agent("ann").facts
        for place, kind in (("Oslo", "city"), ("Norway", "country")):
            facts.add("Ann", "visited", place, valid="in 2020")
            facts.add_entity(place, types=[kind])
        found = plan("Which cities did Ann visit in 2020?", facts.view(), NOW)
        assert found.values == ("Oslo",) and found.notes == ()
        facts.add("Ann", "visited", "Bergen", valid="in 2020")
        found = plan("Which cities did Ann visit in 2020?", facts.view(), NOW)
        assert found.lacks is not None and "types" in found.lacks
