"""How a background grows by rule: in the first person, without repetitions and contradictions."""

import pytest

from recollex_mind.background import in_first_person, merged_by_rule

SAID = {
    "You were born in Texas": "I was born in Texas",
    "You're a cook and you've two dogs.": "I'm a cook and I've two dogs.",
    "Your friends trust you.": "My friends trust me.",
    "People talk to you about yourself.": "People talk to me about myself.",
    "It is known that you like tea.": "It is known that I like tea.",
    "The house is yours. Your dog barks.": "The house is mine. My dog barks.",
    "You aren't shy; you weren't, ever.": "I'm not shy; I wasn't, ever.",
    "What are you? You\u2019re an engineer.": "What am I? I'm an engineer.",
    "YOU WERE BORN IN OSLO": "I was BORN IN OSLO",
    "I was born in Texas.": "I was born in Texas.",
    "I\u2019m from the youth club of Yourtown.": "I\u2019m from the youth club of Yourtown.",
    "": "",
}


@pytest.mark.parametrize(("said", "kept"), SAID.items())
def test_what_is_said_of_you_is_said_of_me(said: str, kept: str) -> None:
    assert in_first_person(said) == kept
    assert in_first_person(kept) == kept


MERGED = [
    ("", "You cook.", "I cook."),
    ("I cook.", "You cook", "I cook."),
    ("I cook", "I sing", "I cook. I sing"),
    ("I was born in Colorado.", "You were born in Texas", "I was born in Texas"),
    (
        "I cook. I live in Rome. I sing.",
        "I now live in Oslo.",
        "I cook. I now live in Oslo. I sing.",
    ),
    ("My name is Ann.", "You are called Beth.", "I am called Beth."),
    ("I'm 30 years old.", "You are 31 years old.", "I am 31 years old."),
    ("I work at Acme.", "You work for Initech.", "I work for Initech."),
    ("I was born in 1990. I was born on a farm.", "I was born in 1991.", None),
    ("I like Rome.", "I like Oslo.", "I like Rome. I like Oslo."),
    ("I cook.", "You sing. You cook. You dance!", "I cook. I sing. I dance!"),
]


@pytest.mark.parametrize(("current", "new", "merged"), MERGED)
def test_merging_by_rule(current: str, new: str, merged: str | None) -> None:
    found = merged_by_rule(current, new)
    assert found == (merged or "I was born in 1991. I was born on a farm.")
    assert merged_by_rule(found, new) == found
