"""Every pattern of the packages takes time linear in the text, whatever the text repeats."""

import re
from collections.abc import Iterable
from functools import partial
from itertools import product

import pytest

from tests.hostile import UNITS, Found, patterns, seconds, units

SAMPLES = 4
FAILING = "\x01"
"""A character after the repeats that lets a match fail at its end, where few patterns want it."""
RATIO = 7.0
"""Limit of the time of a text against one of a quarter of its length: squared time takes 16."""


def slow_text(
    found: Found, size: int, samples: int, tails: Iterable[str]
) -> tuple[str, str, str] | None:
    """Return what comes once, is repeated and ends a text that takes more than linear time."""

    def is_slow(before: str, unit: str, tail: str, size: int) -> bool:
        texts = [(before + unit * (n // len(unit) + 1))[:n] + tail for n in (size, 4 * size)]
        if isinstance(found.pattern.pattern, bytes):
            texts = [text.encode() for text in texts]
        enough = 4e-6 * size  # less than 1 us a character is not compared: clocks are coarse
        taken = seconds(partial(found.search, texts[1]), enough)
        return taken > enough and taken > RATIO * seconds(partial(found.search, texts[0]), 0.0)

    each = sorted(units(found.pattern, samples) | {("", unit) for unit in UNITS})
    for (before, unit), tail in product(each, tails):
        if all(is_slow(before, unit, tail, n) for n in (size, 2 * size)):  # not once, by chance
            return before, unit, tail
    return None


@pytest.mark.parametrize(
    ("size", "samples", "tails"),
    [
        (250, SAMPLES, FAILING),
        pytest.param(4_000, 24, ("", FAILING, "\n", "a"), marks=pytest.mark.slow),
    ],
)
def test_every_pattern_takes_linear_time(size, samples, tails):
    read = list(patterns())
    assert len(read) > 150
    slow = {found.place: slow_text(found, size, samples, tails) for found in read}
    assert {place: text for place, text in slow.items() if text} == {}


def test_patterns_are_found_where_modules_keep_them():
    places = {found.place for found in patterns()}
    assert {
        "recollex_engine.text.names._SEQUENCE",  # a method of one
        "recollex_mind.background._ONCE",  # in a tuple
        "recollex_mind.talks.turn_features._STATING",  # in a dictionary
        "recollex_engine.text.analyzer._wide_word()",  # made when it is first asked
        "recollex.files.imports.markdown",  # written where it is used
    } <= places


@pytest.mark.parametrize("written", ["a+b", r"\[[^\]]*\]", r"\s+$", r"!+(?= )"])
def test_a_pattern_of_squared_time_is_seen(written):
    pattern = re.compile(written)
    found = Found("here", pattern, lambda text: list(pattern.finditer(text)))
    assert slow_text(found, 1000, 4, FAILING)
