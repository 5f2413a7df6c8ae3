"""What every reader of times has in common, and the default."""

import doctest

import pytest

from recollex_engine.dates import time_parser
from recollex_engine.dates.time_parser import EnglishDates, TimeParser
from recollex_engine.dates.time_range import find_range

NOW = 1_700_042_400_000_000  # 15 November 2023, 10:00


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(time_parser).failed == 0


@pytest.mark.parametrize("text", ["last week", "in May 2022", "nothing"])
def test_english_dates_are_the_grammars(text):
    parser: TimeParser = EnglishDates()
    assert parser.name == "english"
    assert parser.find(text, NOW) == find_range(text, NOW)
