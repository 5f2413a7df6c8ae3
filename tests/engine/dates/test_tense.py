"""Which way a sentence looks: sixty statements and sixty questions, half of them of the past."""

import doctest
from datetime import UTC, datetime, timedelta

import pytest

from recollex_engine.clock import EPOCH, MICROSECOND
from recollex_engine.dates import tense
from recollex_engine.dates.time_range import find_event_range, find_range
from tests.engine.dates.day_ranges import NOW as OTHER_NOW

NOW = (datetime(2026, 6, 18, 10, tzinfo=UTC) - EPOCH) // MICROSECOND  # a Thursday

STATED_AHEAD = {
    "I have a dentist appointment on Monday.": "06-22",
    "We're meeting Carol on Saturday at 3 pm.": "06-20",
    "Let's catch up on Tuesday.": "06-23",
    "See you on Sunday!": "06-21",
    "I start my new job on Monday.": "06-22",
    "My flight is on the 25th.": "06-25",
    "The concert is on Friday.": "06-19",
    "Pick up the kids on Wed.": "06-24",
    "The exam is in two weeks.": "06-29",
    "Remind me in 3 days to call Bob.": "06-21",
    "The report is due on Friday.": "06-19",
    "The plumber comes on Monday morning.": "06-22",
    "Mom arrives on Saturday.": "06-20",
    "Our flight leaves on Sunday at 7 am.": "06-21",
    "I booked a table for Friday.": "06-19",
    "The parcel is expected on Tuesday.": "06-23",
    "I met Bob, and we are having lunch on Monday.": "06-22",
    "The shop opens on Wednesday.": "06-24",
    "I need to hand in the form on Friday.": "06-19",
    "School ends on Wednesday.": "06-24",
    "Don't forget the recital on Sunday.": "06-21",
    "I'm off on Monday.": "06-22",
    "He gets back on Tuesday.": "06-23",
    "The lease expires in January.": "2027-01",
    "Please send the slides on Monday.": "06-22",
    "I'm free on Saturday afternoon.": "06-20",
    "Their visit is planned for Tuesday.": "06-23",
    "Our anniversary dinner is on the 27th.": "06-27",
    "I can't come on Friday.": "06-19",
    "She told me that the course begins on Monday.": "06-22",
}
STATED_BACK = {
    "I started my new job on Monday.": "06-15",
    "We met Carol on Saturday at 3 pm.": "06-13",
    "Mom arrived on Saturday.": "06-13",
    "I had a dentist appointment on Monday.": "06-15",
    "See, I told you on Sunday.": "06-14",
    "The concert was on Friday.": "06-12",
    "My flight was on the 10th.": "06-10",
    "I picked up the kids on Wed.": "06-17",
    "The plumber came on Monday morning.": "06-15",
    "The report was due on Friday.": "06-12",
    "Our flight left on Sunday at 7 am.": "06-14",
    "She said on Monday that she will move.": "06-15",
    "I'm leaving, we fought on Saturday.": "06-13",
    "We played chess in July.": "2025-07",
    "He visited us in August.": "2025-08",
    "The lease ended in December.": "2025-12",
    "I love the photos from Friday.": "06-12",
    "Ann drove to Rome on Tuesday.": "06-16",
    "The shop opened on Wednesday.": "06-17",
    "I was thinking of you on Sunday.": "06-14",
    "They won on Saturday and are happy.": "06-13",
    "I ate at Luigi's on Friday.": "06-12",
    "We were meeting Carol on Saturday.": "06-13",
    "Grandma called on Sunday.": "06-14",
    "He got back on Tuesday.": "06-16",
    "I forgot the recital on Sunday.": "06-14",
    "The exam took place on Monday.": "06-15",
    "I handed in the form on Friday.": "06-12",
    "The parcel arrived on Tuesday, it is broken.": "06-16",
    "We slept at Tom's on Saturday.": "06-13",
}
ASKED_AHEAD = {
    "What's on Friday?": "06-19",
    "What do I have on Monday?": "06-22",
    "Do we have anything on Saturday?": "06-20",
    "What are we doing on Sunday?": "06-21",
    "Who is coming on Saturday?": "06-20",
    "When does my flight leave on Sunday?": "06-21",
    "Am I free on Tuesday?": "06-23",
    "What are my plans for July?": "2026-07",
    "What are our plans for Saturday?": "06-20",
    "Is there a meeting on Monday?": "06-22",
    "Which appointments do I have on the 25th?": "06-25",
    "What is due on Friday?": "06-19",
    "When does the plumber come on Monday?": "06-22",
    "What will we eat on Sunday?": "06-21",
    "Am I going to see Bob on Friday?": "06-19",
    "Where are we meeting Carol on Saturday?": "06-20",
    "What time does school start on Monday?": "06-22",
    "Who arrives on Tuesday?": "06-23",
    "Do I need to work on Saturday?": "06-20",
    "Is the shop open, and who opens on Sunday?": "06-21",
    "What is planned for Wednesday?": "06-24",
    "Can we meet on Friday?": "06-19",
    "Which deadline is on Tuesday?": "06-23",
    "Is Mom flying on Sunday?": "06-21",
    "What should I bring on Saturday?": "06-20",
    "What is scheduled for Monday?": "06-22",
    "Who's visiting on Sunday?": "06-21",
    "When is the train leaving on Friday?": "06-19",
    "Do you have time on Monday, is anything on?": "06-22",
    "What's coming up on Tuesday?": "06-23",
}
ASKED_BACK = {
    "What did I do on Friday?": "06-12",
    "Where was Bob on Monday?": "06-15",
    "Who came on Saturday?": "06-13",
    "What did we eat on Sunday?": "06-14",
    "Did Mom arrive on Saturday?": "06-13",
    "Which film did Ann see on Tuesday?": "06-16",
    "What happened on Friday?": "06-12",
    "Who called on Monday?": "06-15",
    "What did I say about the plan on Tuesday?": "06-16",
    "Where did we meet Carol on Saturday?": "06-13",
    "What were our plans in July?": "2025-07",
    "Was I free on Tuesday?": "06-16",
    "Which appointments did I have on the 10th?": "06-10",
    "What was due on Friday?": "06-12",
    "When did the plumber come on Monday?": "06-15",
    "What had Ben bought on Sunday?": "06-14",
    "Who won on Saturday?": "06-13",
    "What did Ann want to do on Monday?": "06-15",
    "Did we have a meeting on Monday?": "06-15",
    "Where had I been on Wednesday?": "06-17",
    "Why were we late on Friday?": "06-12",
    "How was the concert on Sunday?": "06-14",
    "Who told me of the trip on Tuesday?": "06-16",
    "What did the doctor say on Monday?": "06-15",
    "Which book did I finish in August?": "2025-08",
    "Where did Tom work in December?": "2025-12",
    "Was the shop open on Sunday?": "06-14",
    "Who was visiting on Saturday?": "06-13",
    "What time did school start on Monday?": "06-15",
    "Did he get back on Tuesday?": "06-16",
}


def named(found):
    """The first day of a range, as the tables write it."""
    if found is None:
        return None
    start = EPOCH + found.start * MICROSECOND
    if found.end - found.start >= timedelta(days=20) // MICROSECOND:
        return f"{start:%Y-%m}"
    return f"{start:%m-%d}"


@pytest.mark.parametrize(("text", "day"), [*STATED_AHEAD.items(), *STATED_BACK.items()])
def test_a_statement_looks_as_its_verbs_do(text, day):
    assert named(find_event_range(text, NOW)) == day


@pytest.mark.parametrize(("text", "day"), [*ASKED_AHEAD.items(), *ASKED_BACK.items()])
def test_a_question_looks_ahead_only_where_it_asks_of_what_comes(text, day):
    assert named(find_range(text, NOW)) == day


def test_an_apostrophe_may_be_curly():
    assert named(find_event_range("We\u2019re meeting Carol on Saturday.", NOW)) == "06-20"


def test_a_day_a_few_weeks_away_is_meant_whatever_the_tense():
    assert named(find_event_range("I paid on 28 June.", NOW)) == "06-28"
    assert named(find_event_range("I'm proud of the talk on 2 June.", NOW)) == "06-02"


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(tense).failed == 0


@pytest.mark.parametrize(
    "text", ["I have a paper due monday", "Who came in May 2023?", "in June of last year"]
)
def test_no_tense_is_read_where_no_time_depends_on_it(text, monkeypatch):
    monkeypatch.setattr(tense, "_SENTENCE", None)
    find_range(text, OTHER_NOW)
