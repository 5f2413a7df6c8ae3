"""The locale of an agent: which tags there are, and in which one the month comes first."""

import doctest
from datetime import UTC

import pytest

from recollex_engine.dates import locales
from recollex_engine.dates.locales import check_locale, puts_month_first
from recollex_engine.dates.time_parser import EnglishDates, in_locale
from recollex_engine.errors import InputError
from tests.engine.dates.day_ranges import NOW, said


def test_the_examples_in_the_docstrings_run() -> None:
    assert doctest.testmod(locales).failed == 0


@pytest.mark.parametrize("tag", ["en-GB", "en-US", "de", "zh-Hant-TW", "es-419", "fil-PH"])
def test_a_language_tag_is_a_locale(tag: str) -> None:
    check_locale(tag)
    assert puts_month_first(tag) is (tag == "en-US")


@pytest.mark.parametrize("tag", ["", "en_US", "EN-US", "en-us", "english", "en-USA", None, 5])
def test_other_texts_are_refused(tag: object) -> None:
    with pytest.raises(InputError, match="locale must be a language tag"):
        check_locale(tag)


@pytest.mark.parametrize(
    ("parser", "locale", "expected"),
    [
        (EnglishDates(), "en-GB", "2023-07-05..2023-07-05"),
        (EnglishDates(), "de", "2023-07-05..2023-07-05"),
        (EnglishDates(), "en-US", "2023-05-07..2023-05-07"),
        (EnglishDates(UTC, month_first=False), "en-US", "2023-07-05..2023-07-05"),
        (EnglishDates(UTC, month_first=True), "de", "2023-05-07..2023-05-07"),
    ],
)
def test_a_parser_reads_in_the_locale_unless_it_is_told(
    parser: EnglishDates, locale: str, expected: str
) -> None:
    assert said(in_locale(parser, locale).find("on 5/7/2023", NOW)) == expected
