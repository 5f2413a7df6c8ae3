import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.talks.claim_values import kinds_of, trimmed
from recollex_engine.talks.claims import LONGEST_SENTENCE, read_claims
from tests.hostile import seconds

CLAIMS = {
    "I moved to Rome in May.": ("Ann", "lives in", "Rome", "begins"),
    "We've just moved to New York.": ("Ann", "lives in", "New York", "begins"),
    "My sister works at Shell.": ("Ann's sister", "works at", "Shell", "states"),
    "I'm a nurse.": ("Ann", "works as", "nurse", "states"),
    "I am not vegan anymore.": ("Ann", "is", "vegan", "ends"),
    "My boss is Carla now.": ("Ann", "boss", "Carla", "begins"),
    "My dog's name is Bello.": ("Ann's dog", "name", "Bello", "states"),
    "The call was postponed to Friday.": ("call", "is on", "Friday", "begins"),
    "Bob lives in Oslo.": ("Bob", "lives in", "Oslo", "states"),
    "The train leaves at 9:40.": ("train", "leaves at", "9:40", "states"),
    "I started working for Intel on Monday.": ("Ann", "works at", "Intel", "begins"),
    "I joined Intel on 3 May 2021.": ("Ann", "works at", "Intel", "begins"),
    "I have lived in Oslo since 2019.": ("Ann", "lives in", "Oslo", "states"),
    "I've been working for Intel since last year.": ("Ann", "works at", "Intel", "states"),
    "I was laid off from Intel last week.": ("Ann", "works at", "Intel", "ends"),
}
NOTHING = [
    "Did you move to Rome?",
    "If I moved to Rome, I would learn Italian.",
    "I might move to Rome.",
    "Ben says I moved to Rome.",
    'In the film she says "I moved to Rome".',
    "I never lived in Rome.",
    "I have lived in Rome.",
    "I have lived in Rome since I was a child.",
    "My boss is tired.",
    "I'm a bit tired.",
    "I moved to the front row.",
    "Thanks, that is so kind!",
    "\u2026",
]


@pytest.mark.parametrize("text", CLAIMS)
def test_a_sentence_of_a_form_claims_it(text: str) -> None:
    (claim,) = read_claims(f"Ann: {text}", "Ann")
    assert (claim.subject, claim.predicate, claim.value, claim.effect) == CLAIMS[text]


@pytest.mark.parametrize("text", NOTHING)
def test_other_sentences_claim_nothing(text: str) -> None:
    assert read_claims(text, "Ann") == []


def test_words_of_correction_are_found_in_the_sentence_before() -> None:
    (claim,) = read_claims("No. It's on Tuesday.", "Ann")
    assert (claim.subject, claim.value, claim.marked) == (None, "Tuesday", True)
    (claim,) = read_claims("It is in room 5, not in room 3.", "Ann")
    assert (claim.value, claim.against) == ("room 5", "room 3")


def test_the_first_person_is_nobody_without_a_speaker() -> None:
    assert read_claims("I moved to Rome.", None) == []


@given(st.text(max_size=80))
@settings(deadline=None)
def test_any_text_can_be_read(text: str) -> None:
    for claim in read_claims(text, "Ann"):
        assert claim.sentence and claim.value != ""
    assert kinds_of(text)
    value, after = trimmed(text)
    assert len(value) + len(after) <= len(text)


@pytest.mark.parametrize("unit", ["A ", " co", "1-", "[", "\u201c", "- ", "my a "])
def test_claims_of_a_long_text_take_bounded_time(unit):
    """The expressions of the grammar take the square of a sentence, which has a bound."""
    text = (unit * 500)[:LONGEST_SENTENCE] + ". "
    assert seconds(lambda: read_claims(text * 2000, "Ann"), 0.5) < 3
    assert not read_claims("I moved to Rome" + " and" * 200 + ".", "Ann")
    assert not read_claims("Well. " * 1000 + "I moved to Rome.", "Ann")
