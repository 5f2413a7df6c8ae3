"""The tokens of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollex_engine.dates.english_words import Tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("What did Ann's mother say?", ["what", "did", "ann", "mother", "say", "?"]),
        ("it\u2019s IT'S it'sx", ["it", "it", "'", "s", "it", "'", "sx"]),
        (
            "\u201cJo's\u201d \u2013 caf\u00e9's",
            ["\u201c", "jo", "\u201d", "\u2013", "caf\u00e9", "'", "s"],
        ),
        ("at 3:30 pm on 7. 5. 2023", ["at", "3:30 pm", "on", "7. 5. 2023"]),
        ("2,000 people, 3 of 2,000kg", ["2,000", "people", ",", "3", "of", "2,000", "kg"]),
        ("\u0130n May", ["i\u0307n", "may"]),
        ("", []),
    ],
)
def test_a_text_has_these_tokens(text, tokens):
    assert Tokens(text).texts == tokens


@pytest.mark.parametrize("text", ["@bob", "#bob", "a_b", "bob1"])
def test_a_part_of_a_name_is_no_word(text):
    assert set(Tokens(text).words) == {""}


@given(st.text(max_size=40))
def test_tokens_stand_where_they_are_written(text):
    tokens = Tokens(text)
    straight = text.replace("\u2019", "'")
    end = 0
    for i, said in enumerate(tokens.texts):
        start, stop = tokens.span(i, i)
        assert start >= end and straight[end:start].strip() == ""
        assert straight[start:stop].lower().removesuffix("'s" if tokens.words[i] else "") == said
        assert not i or tokens.joined(i) is (start == end)
        assert tokens.capital(i) is ("A" <= straight[start] <= "Z")
        end = stop


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
