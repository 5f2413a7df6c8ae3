"""The tokens of a text: the short way for simple texts gives those of the whole grammar."""

import re
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollex_engine.dates import english_words
from recollex_engine.dates.english_words import Tokens

PIECES = st.sampled_from(
    [
        *("last", "Week", "it's", "IT'S", "s'", "'s", "Anna's", "\u2019s", "'", "-", ",", " "),
        *("7. 5. ", "5.", " 2023", " pm", "3:30", "at "),
        *("\n", "q", "\x1c", "@bob", "#x", "a_b", "3", "2019-05-07", "5/7/2023", "'90s", "3pm"),
        *(
            "é",
            *("\u2013", "\u201c", "\u00b4", "\u0130", "\u212a", "\u03a3", "\u5e74", "\u00a0"),
            *("\u00bd", "\u0663", "\u0301", "\ud800", "caf\u00e9's "),
            "X",
            "\u2014",
            "3rd",
            "1990s",
            "90s",
            "2023",
            "12345",
            "v2",
            "a.m.",
            "pm",
            ".",
            ":",
            "_",
        ),
    ]
)


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int
    capital: bool


def listed(tokens):
    return [
        Token(tokens.kind(i), tokens.texts[i], *tokens.span(i, i), tokens.capital(i))
        for i in range(len(tokens))
    ]


def grammar(text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(english_words, "_has_digits", lambda _: True)
        patch.setattr(english_words, "_ODD", re.compile(r"(?s)\A.").search)
        patch.setattr(english_words, "_STRETCH", re.compile("(?s).*").match)
        return listed(Tokens(text))


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join))
@example("it'sx IT'S x's's")
@example("it's's")
@example("is today's plan as last night's 's")
@example("what did Ann's mother say last week?")
@example("\u212am it's \u00b4 2019")
@example("it's \u00b4 2019")
@example("\u0130n May")
@example("\u039f\u03a3.\u0392 #\u03a3.\u0392")
@example("caf\u00e9's is \u201cJo's\u201d \u2013 2,5 \ud800 3\u5e74")
@example("in May it's i 3 pm, " * 30)
@example("2,000 people, 3 of 2,000kg")
@example("at 3:30 pm on 7. 5. 2023 or 3 p.m. of 25. 12. it's #late's at 5 to 5.5")
def test_tokens_are_those_of_the_grammar(text):
    every = grammar(text)
    found = Tokens(text)
    assert listed(found) == every
    assert found.texts == [token.text for token in every]
    assert found.words == [token.text if token.kind == "word" else "" for token in every]
    for first in range(len(every)):
        for last in range(first, min(first + 3, len(every))):
            assert found.span(first, last) == (every[first].start, every[last].end)
    for i in range(1, len(every)):
        assert found.joined(i) is (every[i - 1].end == every[i].start)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Ann's tea?", {}),
        ("v2 of 12345", {}),
        ("In Q3 2023, the 5th.", {1: "quarter", 2: "number", 5: "ordinal"}),
        ("the '90s or 1990s", {1: "decade", 3: "decade"}),
    ],
)
def test_numbers_have_their_places(text, numbers):
    assert Tokens(text).numbers == numbers
