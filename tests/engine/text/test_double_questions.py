"""Which questions are divided into one for each name?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollex_engine.text.double_questions import MOST, parts_of

DIVIDED = [
    (
        "Do Fahim and Akib both like to travel?",
        ["Do Fahim like to travel?", "Do Akib like to travel?"],
    ),
    (
        "What subject have Caroline and Melanie both painted?",
        ["What subject have Caroline painted?", "What subject have Melanie painted?"],
    ),
    (
        "Which film came out first, The Sea or Sleep, My Love?",
        ["Which film came out first, The Sea?", "Which film came out first, Sleep, My Love?"],
    ),
    (
        "Which film is older, Sleep, My Love or The Sea?",
        ["Which film is older, Sleep, My Love?", "Which film is older, The Sea?"],
    ),
    (
        "Who runs the club, Ann Lee, Bo Li, or Cy Ray?",
        ["Who runs the club, Ann Lee?", "Who runs the club, Bo Li?", "Who runs the club, Cy Ray?"],
    ),
    (
        "What did Ann, Bo and Cy cook?",
        ["What did Ann cook?", "What did Bo cook?", "What did Cy cook?"],
    ),
    (
        "Was Jamie Curry or Bo Vile born first?",
        ["Was Jamie Curry born first?", "Was Bo Vile born first?"],
    ),
    (
        "Would Tim enjoy books by C. S. Lewis or John Greene?",
        ["Would Tim enjoy books by C. S. Lewis?", "Would Tim enjoy books by John Greene?"],
    ),
    (
        "What is the name of Ann Lee and Bo's team?",
        ["What is the name of Ann Lee's team?", "What is the name of Bo's team?"],
    ),
]
WHOLE = [
    "",
    "?",
    "Does Ann like tea and coffee?",
    "Is it tea or coffee?",
    "What did Ann say, and when did she say it?",
    "What did Ann and I plan?",
    "Tell me about Ann and Bo.",
    "I met Ann and Bo. What should we cook?",
    "Did we sail in May and June?",
    "Did we sail on 3 May or 5 May?",
    "What was built between 1975 and 1982?",
    "Who is Ann?",
    "Did " + "Ann and Bo " * 60 + "sail?",
]


@pytest.mark.parametrize(("text", "parts"), DIVIDED)
def test_a_question_of_several_names_has_a_part_for_each(text: str, parts: list[str]) -> None:
    assert list(parts_of(text)) == parts


@pytest.mark.parametrize("text", WHOLE)
def test_any_other_question_stays_whole(text: str) -> None:
    assert parts_of(text) == ()


WORDS = st.sampled_from(
    ["Ann", "Bo,", "and", "or", ", or", "both", "the", "Did", "sail", "?", "'s", "", "5", '"Sea']
)


@given(st.lists(WORDS, max_size=12))
def test_parts_are_questions_shorter_than_the_whole(words: list[str]) -> None:
    text = " ".join(words) + "?"
    parts = parts_of(text)
    assert not parts or 2 <= len(parts) <= MOST
    for part in parts:
        assert part.endswith("?") and part.strip("? ") and len(part) < len(text)
