"""The tokens of a text: the short way for texts without digits gives those of the whole grammar."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollex_engine.dates import english_words
from recollex_engine.dates.english_words import tokens_of

PIECES = st.sampled_from(
    [
        *("last", "Week", "it's", "IT'S", "s'", "'s", "Anna's", "\u2019s", "'", "-", ",", " "),
        *("\n", "q", "\x1c", "@bob", "#x", "a_b", "3", "2019-05-07", "5/7/2023", "'90s", "3pm"),
        *("é", "X", "\u2014"),
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join))
@example("it'sx IT'S x's's")
@example("what did Ann's mother say last week?")
def test_tokens_are_those_of_the_grammar(text):
    every = english_words._all_tokens(text.replace("\u2019", "'"))
    found = tokens_of(text)
    assert found[:] == every
    assert found.texts == [token.text for token in every]
    assert found.words == [token.text if token.kind == "word" else "" for token in every]
    fresh = tokens_of(text)
    assert [fresh.kind(i) for i in range(len(fresh))] == [token.kind for token in every]
    for first in range(len(every)):
        for last in range(first, min(first + 3, len(every))):
            fresh = tokens_of(text)
            assert fresh.span(first, last) == (every[first].start, every[last].end)


@pytest.mark.parametrize(("text", "plain"), [("Ann's tea?", True), ("IT'S", False), ("a1", False)])
def test_only_texts_of_words_and_marks_take_the_short_way(text, plain):
    assert tokens_of(text).has_numbers is not plain
