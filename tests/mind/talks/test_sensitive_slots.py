import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_mind.talks.turn_features import KINDS, find_slots, masked, passes_iban, passes_luhn

SENSITIVE = [
    ("My card is 4111 1111 1111 1111.", "My card is [card]."),
    ("Card 5500-0000-0000-0004 expires soon", "Card [card] expires soon"),
    ("IBAN GB82 WEST 1234 5698 7654 32, please", "IBAN [card], please"),
    ("Mail ann.b+x@mail.example.org today", "Mail [email] today"),
    ("Call +44 20 7946 0958 or (212) 555-0188.", "Call [phone] or [phone]."),
    ("My new number is 555-0199", "My new number is [phone]"),
    ("text me at 07911123456", "text me at [phone]"),
    ("I live at 221B Baker Street, London", "I live at [address], London"),
    ("12 North Main St, Apt 4 is ours", "[address] is ours"),
    ("write to P.O. Box 114", "write to [address]"),
    ("The wifi password is swordfish.", "The wifi password is [secret]."),
    ("PIN for the safe is 4812", "PIN for the safe is [secret]"),
    ("use sk-abcdefghijklmnop1234", "use [secret]"),
    ("api key = 9f8e7d6c5b", "api key = [secret]"),
    ("SSN 123-45-6789", "SSN [secret]"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----", "[secret]"),
]
HARMLESS = [
    "In 2019 she paid 4,500 for 3 of them.",
    "On 2024-05-04 at 10:30 we met",
    "the password is wrong",
    "the years 1995 1996 1997",
    "the host 192.168.10.20 and 10.20.30.40",
    "version 3.11.2 of 14 packages",
    "a card 4111 1111 1111 1112 that fails its check",
    "1234 5678 9012 3456 7890 1",
    "We walked 12 miles to the street market",
    "the token is in the drawer",
    "@ann said 5 @ 3",
]


@pytest.mark.parametrize(("text", "expected"), SENSITIVE)
def test_what_is_sensitive_is_masked(text: str, expected: str) -> None:
    assert masked(text, find_slots(text)) == expected


@pytest.mark.parametrize("text", HARMLESS)
def test_numbers_dates_and_words_are_not(text: str) -> None:
    assert find_slots(text) == []


@given(st.text(max_size=300))
@settings(deadline=None, max_examples=200)
def test_slots_are_in_order_and_apart_on_any_text(text: str) -> None:
    slots = find_slots(text)
    end = 0
    for slot in slots:
        assert slot.kind in KINDS
        assert end <= slot.start < slot.end <= len(text)
        end = slot.end
    assert len(masked(text, slots)) == len(text) + sum(
        len(slot.kind) + 2 - (slot.end - slot.start) for slot in slots
    )


@given(st.text(alphabet="0123456789 -+().@aB", max_size=400))
@settings(deadline=None, max_examples=100)
def test_a_masked_text_holds_no_card_that_was_found(text: str) -> None:
    hidden = masked(text, find_slots(text))
    for slot in find_slots(text):
        if slot.kind in ("card", "email"):
            assert hidden.count(text[slot.start : slot.end]) < text.count(
                text[slot.start : slot.end]
            )


def naive_luhn(digits: str) -> bool:
    """The rule in words: from the right, every second digit is doubled and its digits added."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 else 1)
        total += sum(int(part) for part in str(value))
    return total % 10 == 0


@given(st.text(alphabet="0123456789", min_size=1, max_size=25))
@settings(deadline=None)
def test_luhn_is_the_rule_in_words(digits: str) -> None:
    assert passes_luhn(digits) == naive_luhn(digits)


def test_an_iban_with_one_wrong_digit_fails() -> None:
    assert passes_iban("DE89 3704 0044 0532 0130 00")
    for wrong in range(2, 22):
        digits = list("DE89370400440532013000")
        digits[wrong] = str((int(digits[wrong]) + 1) % 10)
        assert not passes_iban("".join(digits))


def test_long_hostile_texts_take_linear_time() -> None:
    for text in ("1 " * 50_000, "a" * 100_000, "1-" * 50_000, "password " * 10_000, "a@" * 50_000):
        assert all(re.fullmatch(r"[a-z]+", slot.kind) for slot in find_slots(text))


def test_a_private_key_reaches_from_each_beginning_to_the_first_end():
    begin, end = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
    cut_off = f"{begin}\nab {begin}\ncd {end}"
    far = f"{begin} {'x' * 9000} {end}"
    text = f"{cut_off} and {far} and {begin} ef {end} and {begin}"
    found = [text[slot.start : slot.end] for slot in find_slots(text) if slot.kind == "secret"]
    assert found == [cut_off, f"{begin} ef {end}"]
