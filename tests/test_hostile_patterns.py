"""Every pattern of the packages takes time linear in the text, whatever the text repeats."""

import re
from functools import partial

import pytest

from tests.hostile import UNITS, Found, patterns, seconds, units

BOUNDED = tuple(
    f"recollex_engine.talks.{name}" for name in ("claims", "claim_forms", "claim_values", "deeds")
)
"""Modules whose patterns take the square: they read sentences of up to `claims.LONGEST_SENTENCE`
characters of up to `claims.LONGEST_TURN`, and tests/engine/talks/test_claims.py times them."""
SAMPLES = 4
RATIO = 7.0
"""Limit of the time of a text against one of a quarter of its length: squared time takes 16."""


def slow_texts(found: Found, size: int, samples: int) -> list[tuple[str, str, float]]:
    """Return what comes once and is repeated in texts that take more than linear time."""
    enough = 2.5e-6 * 4 * size  # less than this a character is not compared: clocks are coarse
    slow = []
    for before, unit in sorted(units(found.pattern, samples) | {("", each) for each in UNITS}):
        texts = [(before + unit * (n // len(unit) + 1))[:n] for n in (size, 4 * size)]
        if isinstance(found.pattern.pattern, bytes):
            texts = [text.encode() for text in texts]
        taken = seconds(partial(found.search, texts[1]), enough)
        if taken > enough and taken > RATIO * seconds(partial(found.search, texts[0]), 0.0):
            slow.append((before, unit, taken))
    return slow


@pytest.mark.parametrize(
    ("size", "samples"), [(500, SAMPLES), pytest.param(4_000, 24, marks=pytest.mark.slow)]
)
def test_every_pattern_takes_linear_time(size, samples):
    read = [found for found in patterns() if not found.place.startswith(BOUNDED)]
    assert len(read) > 200
    slow = {found.place: texts for found in read if (texts := slow_texts(found, size, samples))}
    assert not slow


def test_patterns_are_found_where_modules_keep_them():
    places = {found.place for found in patterns()}
    assert {
        "recollex_engine.text.names._SEQUENCE",  # a method of one
        "recollex_engine.mind.background._ONCE",  # in a tuple
        "recollex_engine.talks.salience._STATING",  # in a dictionary
        "recollex_engine.text.caseless_names._japanese()",  # made when it is first asked
        "recollex.imports.markdown",  # written where it is used
    } <= places


@pytest.mark.parametrize("written", ["a+b", r"\[[^\]]*\]"])
def test_a_pattern_of_squared_time_is_seen(written):
    pattern = re.compile(written)
    assert slow_texts(Found("here", pattern, lambda text: list(pattern.finditer(text))), 1000, 4)
