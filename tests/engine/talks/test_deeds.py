from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.clock import to_micros
from recollex_engine.talks.deeds import read_deeds

AT = to_micros(datetime(2023, 7, 12, 15, tzinfo=UTC), "at")
DEEDS = {
    "I just signed up for a pottery class yesterday.": (
        "Ann",
        "signed up for",
        "pottery class",
        11,
    ),
    "On Monday I met Eve at the pool.": ("Ann", "met", "Eve at the pool", 10),
    "We visited the Louvre on 3 July with my sister.": ("Ann", "visited", "Louvre", 3),
    "My brother ran a marathon last Sunday!": ("Ann's brother", "ran", "marathon", 9),
    "I finished my book and printed it on 4 July.": ("Ann", "finished", "book", 4),
    "I visited the Louvre and sat in a park on 4 July.": ("Ann", "visited", "Louvre", 4),
    "I took a trip to Rome on 3 July.": ("Ann", "took a trip to", "Rome", 3),
    "I had lunch with Eve yesterday.": ("Ann", "had lunch with", "Eve", 11),
    "We went on a hike to Etna last Sunday.": ("Ann", "went on a hike to", "Etna", 9),
}
NOTHING = [
    "I visited the Louvre.",
    "We will visit the Louvre on 3 August.",
    "Did you visit the Louvre yesterday?",
    "I never met Eve on Monday.",
    "Ben says I met Eve on Monday.",
    "If I met Eve on Monday, I forgot it.",
    "I met her on Monday.",
    "We met in 2010.",
    "I hiked with some friends on Monday.",
    "I played one on Monday.",
    "I visited her old house on Monday.",
    'I read "Avalanche" by Neal on Monday.',
    "I ran on Sunday.",
    "I started working for Initech on Monday.",
    "I took a job at Initech on Monday.",
    "Just visited the Louvre on 3 July.",
]


@pytest.mark.parametrize("text", DEEDS)
def test_a_dated_deed_is_told(text: str) -> None:
    (deed,) = read_deeds(f"Ann: {text}", "Ann", AT)
    day = to_micros(datetime(2023, 7, DEEDS[text][3], tzinfo=UTC), "day")
    assert (deed.subject, deed.predicate, deed.value) == DEEDS[text][:3]
    assert (deed.start, deed.end) == (day, day + 86_400_000_000)


@pytest.mark.parametrize("text", NOTHING)
def test_other_sentences_tell_none(text: str) -> None:
    assert read_deeds(text, "Ann", AT) == []


PRECISIONS = {
    "I visited the Louvre on 3 July.": "to the day",
    "I visited the Louvre in May 2022.": "to the month",
    "I visited the Louvre in 2022.": "to the year",
    "I visited the Louvre last week.": "parsed: last week",
    "I visited the Louvre about five years ago.": "approximate: five years ago",
}


@pytest.mark.parametrize("text", PRECISIONS)
def test_a_deed_says_how_precisely_its_time_is_known(text: str) -> None:
    (deed,) = read_deeds(text, "Ann", AT)
    assert deed.precision == PRECISIONS[text]


@given(st.text(max_size=80))
@settings(deadline=None)
def test_any_text_can_be_read(text: str) -> None:
    for deed in read_deeds(text, "Ann", AT):
        assert deed.value and deed.start < deed.end
