"""Questions in English over a few facts: exact answers, and what is not in the planner's forms."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import recollex
from recollex_engine.facts.fact_view import FactView
from recollex_engine.planner.plan import NO_INFORMATION, plan
from tests.engine.planner.asking import NOW, answered, declined, facts_in

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
    "Who was the director of Acme as of 2006?": ["Ann"],
    "As of 2006, who was the director of Acme?": ["Ann"],
    "Was Ann the director of Acme as of 2010?": [False],
    "Who is the director of Acme as of today?": ["Dan"],
    "How many people worked for Acme as of May 2006?": [2],
    "Where did Ann live 2010-2015?": ["Rome"],
    "How many people were the director of Acme 2005 \u2013 2012?": [2],
    "In the years 2008-2012 who was the director of Acme?": ["Cleo"],
    "Between 2008-2012, who was the director of Acme?": ["Cleo"],
    "Who was the director of Acme in 2007 or 2008?": ["Ann", "Cleo"],
    "How many cities did Ann visit in 2019 or in 2020?": [2],
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
    "Did Ann visit Lisbon in 2019 or 2020?": "which of two years",
    "How many people worked for Acme as of 2007?": "precisely enough",
    "How many cities has Ann visited as of today?": "'today'",
    "Had Ann visited Madrid as of May 2020?": "'May'",
    "Which cities did Ann visit as of 2020?": "until '2020'",
    "Who started working for Acme as of 2006?": "until '2006'",
    "Did Ben meet it?": "'it' stands for",
    "Whom did Ben meet there?": "'there' stands for",
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


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FactView]:
    yield from facts_in(tmp_path_factory.mktemp("planner"), FACTS)


@pytest.mark.parametrize(("question", "values"), ANSWERS.items())
def test_answers(view: FactView, question: str, values: list[object]) -> None:
    found = answered(question, view, values)
    assert (found.text == NO_INFORMATION) == (values == [])


@pytest.mark.parametrize(("question", "lack"), OUTSIDE.items())
def test_outside_its_forms(view: FactView, question: str, lack: str) -> None:
    found = declined(question, view, lack)
    assert (found.text, found.values, found.facts) == (None, (), ())


def test_an_answer_names_its_facts_and_what_it_assumed(view: FactView) -> None:
    found = plan("Which cities did Ann visit in 2019?", view, NOW)
    assert [fact.object for fact in found.facts] == ["Lisbon", "Madrid"]
    assert "no types are recorded" in found.notes[0]
    assert found.to_dict()["facts"][0]["valid"][0] == "2019-05-03T00:00:00+00:00"
    assert plan("When did Ann move to Rome?", view, NOW).notes == ("I read 'move to' as lives_in",)


def test_what_was_yesterday_was_on_a_day(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
        facts = store.agent("ann").facts
        begun = facts.get(facts.add("Kim", "visited", "Lima", valid="yesterday")).valid[0]
        assert begun is not None
        found = plan("When did Kim visit Lima?", facts.view(), NOW)
        assert found.values == (begun.date().isoformat(),)


def test_a_bound_counts_from_a_day_that_only_now_tells(tmp_path: Path) -> None:
    facts = [("Kim", "lives_in", "Lima", "since 22 November 2026")]
    for view in facts_in(tmp_path, facts):
        answered("Who has lived in Lima since the 22nd?", view, ["Kim"])
        declined("Who has lived in Lima since the 21st?", view, "did not last")


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
