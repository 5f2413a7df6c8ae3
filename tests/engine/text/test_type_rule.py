import doctest
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.errors import InputError
from recollex_engine.text import entity_types, type_rule
from recollex_engine.text.entity_types import ENTITY_TYPES, check_type, known_type
from recollex_engine.text.type_rule import find_type


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(type_rule).failed == doctest.testmod(entity_types).failed == 0


def test_the_numbers_of_the_types_stay():
    assert ENTITY_TYPES == ("PERSON", "ORGANIZATION", "LOCATION", "PRODUCT", "CONCEPT", "OTHER")


CUES = [
    *(
        "work at",
        "hired by",
        "job at",
        "ceo of",
        "applied to",
        "interview with",
        "read",
        "finished",
        "using",
    ),
    *(
        "bought a",
        "app",
        "movies called",
        "born in",
        "going to",
        "visited",
        "tour of",
        "near",
        "in",
    ),
    *("around", "thank you", "hey", "my old", "my", "our", "a", "brother", "neighbor"),
    *("with", "by", "met", "to", "of", "at", "you", "said", "the"),
]


@settings(deadline=None, max_examples=500)
@given(st.lists(st.sampled_from(CUES), max_size=4), st.sampled_from([" ", ", ", "", " -- -"]))
def test_what_stands_before_a_name_is_read_as_by_one_cue_after_another(before, mark):
    text = " ".join(before) + mark
    read = type_rule._ARTICLE.sub("", text)
    found = [
        kind
        for cue, kind in type_rule._CUES
        if re.search(rf"(?:^|\W)(?:{cue})\W{{0,3}}\Z", read, re.I)
    ]
    assert find_type("Zorbo", f"{text}Zorbo.") == [*found, "OTHER"][0]


@pytest.mark.parametrize(
    ("name", "kind"),
    [  # the examples of both papers, 2.3.1
        ("Alice", "PERSON"),
        ("Bob Chen", "PERSON"),
        ("Google", "ORGANIZATION"),
        ("Stanford University", "ORGANIZATION"),
        ("Yosemite National Park", "LOCATION"),
        ("California", "LOCATION"),
        ("Python", "PRODUCT"),
        ("machine learning", "CONCEPT"),
        ("remote work", "CONCEPT"),
    ],
)
def test_the_papers_names_have_the_papers_types(name, kind):
    assert find_type(name, "") == kind


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("Dr. Quibble", "Dr. Quibble was late.", "PERSON"),
        ("Zorbo", "Hey Zorbo! How are you?", "PERSON"),
        ("Zorbo", "My colleague Zorbo quit.", "PERSON"),
        ("Zorbo", "Then Zorbo said no.", "PERSON"),
        ("Zorbo", "She works at Zorbo now.", "ORGANIZATION"),
        ("Zorbo Ltd", "Zorbo Ltd is new.", "ORGANIZATION"),
        ("Zorbo", "We moved to Zorbo last May.", "LOCATION"),
        ("Lake Zorbo", "Lake Zorbo was cold.", "LOCATION"),
        ("Zorbo", "I am reading the Zorbo again.", "PRODUCT"),
        ("Rise of Zorbo", 'It is called "Rise of Zorbo".', "PRODUCT"),
        ("Zorbo", "I played Zorbo with them.", "PRODUCT"),
        ("Zorbo", "Zorbo.", "OTHER"),
        ("Zorbo", "It has no such name.", "OTHER"),
        ("Jordan", "She lives in Jordan.", "LOCATION"),
        ("...", "...", "OTHER"),
    ],
)
def test_a_name_is_typed_by_its_words_and_its_sentence(name, text, kind):
    assert find_type(name, text) == kind


def test_no_word_says_two_things():
    lists = [type_rule.PLACES, type_rule.ORGANIZATIONS, type_rule.PRODUCTS]
    for number, one in enumerate(lists):
        for other in lists[number + 1 :]:
            assert not one & other
    for known in (*lists, type_rule.CONCEPTS):
        assert all(word == word.casefold() for word in known)


def test_a_type_is_known_by_other_words_too():
    assert [known_type(word) for word in ("org", "GPE", "Person", "work of art", "poet")] == [
        *("ORGANIZATION", "LOCATION", "PERSON", "PRODUCT"),
        None,
    ]
    with pytest.raises(InputError, match=r"type must be one of PERSON, .*, OTHER, got 'poet'"):
        check_type("poet")
