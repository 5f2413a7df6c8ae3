# ruff: noqa: RUF001 - confusable letters are what is tested
import doctest
import threading
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from recollex_engine.errors import InputError
from recollex_engine.text import analyzer as module
from recollex_engine.text.analyzer import LONGEST_TERM, Analyzer, ParsedQuery

english = Analyzer()
plain = Analyzer("none")

any_text = st.text(st.characters(codec=None), max_size=60) | st.text(
    st.sampled_from("aZé'’.,1“”\"\ud800\u0301が中 ا\u200d"), max_size=40
)


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("Running dogs RAN", ["run", "dog", "ran"]),
        ("The cat", [None, "cat"]),
        ("Alice's book, the Joneses' house", ["alic", "book", None, "jones", "hous"]),
        ("I don't, we’ll; it's", [None, None, None, None]),
        ("O'Brien o’brien", ["obrien", "obrien"]),
        ("Café CAFE\u0301 cafés cafes", ["cafe", "cafe", "cafe", "cafe"]),
        ("Øre straße ﬁsh Ｆｉｓｈ", ["ore", "strass", "fish", "fish"]),
        ("10,000 people, 3.5% on May 7,2023", ["10000", "peopl", "3.5", None, "may", "7", "2023"]),
        ("v2.0.1 at 192.168.0.1.", ["v2.0.1", None, "192.168.0.1"]),
        ("https://example.com/a?q=1", [None, "exampl", "com", None, "q", "1"]),
        ("bob_chen@mail.org #BlackCats", ["bob", "chen", "mail", "org", "blackcat"]),
        ("so happy 😀 ❤️ 1️⃣", [None, "happi", "\U0001f600", "\u2764", "1"]),
        ("東京都 は 中", ["東京", "京都", "は", "中"]),
        ("iPhoneを買う", ["iphon", "を買", "買う"]),
        ("한국어", ["한국", "국어"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("Москвой ёлка", ["москвои", "елка"]),
    ],
)
def test_tokens_of_english(text, tokens):
    assert english.sequence(text) == tokens


def test_none_keeps_stop_words_and_endings():
    assert plain.sequence("The running Dogs'") == ["the", "running", "dogs"]


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("french", "L'homme qu’il aimait, été", ["homm", "il", "aim", "ete"]),
        ("german", "Häuser Haus der", ["haus", "haus", "der"]),
        ("spanish", "canción canciones", ["cancion", "cancion"]),
        ("russian", "новый новые", ["нов", "нов"]),
    ],
)
def test_other_languages_stem_before_accents_fall(language, text, tokens):
    assert Analyzer(language).sequence(text) == tokens


def test_an_unknown_language_names_the_known_ones():
    with pytest.raises(InputError, match=r"english.*none; got 'klingon'"):
        Analyzer("klingon")


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("cats and cats", ParsedQuery(("cat",), (), "cats and cats")),
        ("who was it", ParsedQuery((), (), "who was it")),
        (
            'lord "of the rings" “Grand Canyon”',
            ParsedQuery(
                ("lord", "ring", "grand", "canyon"),
                (("ring",), ("grand", "canyon")),
                "lord of the rings Grand Canyon",
            ),
        ),
        ('"lord of the rings"', ParsedQuery(("lord", "ring"), (("lord", None, None, "ring"),),
                                            "lord of the rings")),
        ('"rings of the" "rings"', ParsedQuery(("ring",), (("ring",),), "rings of the rings")),
        ('"the who" ""', ParsedQuery((), (), "the who ")),
        ('the 5" and 6" pipes', ParsedQuery(("5", "6", "pipe"), (), 'the 5" and 6" pipes')),
        ('an "open quote', ParsedQuery(("open", "quot"), (), 'an "open quote')),
    ],
)  # fmt: skip
def test_queries(text, parsed):
    assert english.query(text) == parsed


@hypothesis_settings(deadline=None)
@given(any_text, st.sampled_from([english, plain, Analyzer("french"), Analyzer("arabic")]))
def test_any_string_has_tokens_that_are_not_empty(text, analyzer):
    for token in analyzer.sequence(text):
        assert token is None or token
    analyzer.query(text)


@hypothesis_settings(deadline=None)
@given(
    any_text, any_text, st.sampled_from([english, plain, Analyzer("french"), Analyzer("arabic")])
)
def test_the_tokens_of_joined_texts_are_those_of_each(one, other, analyzer):
    apart = analyzer.sequence(one) + analyzer.sequence(other)
    assert analyzer.sequence(f"{one} {other}") == apart
    assert analyzer.sequence(f"{one}, {other}") == apart
    assert analyzer.words([one, other]) == " ".join(filter(None, apart))


@given(any_text)
def test_case_and_composition_change_nothing(text):
    decomposed = unicodedata.normalize("NFD", text)
    assert english.sequence(decomposed) == english.sequence(unicodedata.normalize("NFC", text))


@hypothesis_settings(deadline=None)
@given(st.text(st.characters(max_codepoint=127)))
def test_the_quick_path_for_ascii_agrees_with_the_general_one(text):
    assert english.sequence(text + " é") == [*english.sequence(text), "e"]


@hypothesis_settings(deadline=None)
@given(st.text(st.characters(max_codepoint=0x2FF)) | st.text("aé1ʰß'’.,ˈ-", max_size=30))
def test_the_quick_path_for_latin_agrees_with_the_general_one(text):
    assert english.sequence(text + " ق") == [*english.sequence(text), "ق"]


@hypothesis_settings(deadline=None)
@given(any_text)
def test_terms_of_a_query_are_the_tokens_of_its_bare_text(text):
    parsed = english.query(text)
    expected = dict.fromkeys(token for token in english.sequence(parsed.text) if token)
    assert parsed.terms == tuple(expected)
    for phrase in parsed.phrases:
        assert phrase[0] is not None
        assert phrase[-1] is not None


def test_a_word_without_end_is_cut_and_costs_linear_time():
    assert {len(token) for token in plain.sequence("a" * 1_000_000)} == {
        LONGEST_TERM,
        1_000_000 % LONGEST_TERM,
    }


@pytest.mark.parametrize(
    "text",
    ["a" * 10**6, "é" * 10**6, "中" * 10**6, "\u0301\u0323" * 200_000, "1." * 500_000,
     "'a" * 400_000, '"' * 400_000, "“" * 400_000, "1,234" * 200_000, "a\u0301" * 300_000],
    ids=lambda text: ascii(text[:4]),
)  # fmt: skip
def test_a_hostile_megabyte_takes_less_than_seconds(text):
    began = time.process_time()
    english.query(text)
    assert time.process_time() - began < 5


def test_the_memo_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "_MEMO_WORDS", 10)
    analyzer = Analyzer()
    for number in range(100):
        analyzer.sequence(f"word{number} {'x' * 40}{number}")
        analyzer.words([f"word{number}", "x" * 40])
        assert len(analyzer._memo) <= 10 and len(analyzer._joined) <= 10
    assert "x" * 40 not in analyzer._joined


def test_threads_agree():
    shared, results = Analyzer(), []
    text = " ".join(f"running{number} hopefully{number}" for number in range(2000))
    threads = [
        threading.Thread(target=lambda: results.append(shared.sequence(text))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [Analyzer().sequence(text)] * 4


@pytest.mark.parametrize(
    "unseen",
    ["\u00ad", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u200e", "-\n", "-\r\n  "],
)
def test_what_nobody_sees_parts_no_word(unseen):
    analyzer = Analyzer()
    for word in ("maintenance", "Überprüfung", "обслуживание"):
        assert analyzer.sequence(f"the {word[:4]}{unseen}{word[4:]} plan") == analyzer.sequence(
            f"the {word} plan"
        )


@pytest.mark.parametrize("apart", ["well - known", "well -\nknown", "a-\n1", "7-\nday", "x--\ny"])
def test_other_hyphens_part_words_as_before(apart):
    assert Analyzer().sequence(apart) == Analyzer().sequence(apart.replace("-", " "))


def test_an_emoji_is_a_word():
    sequence = Analyzer().sequence
    assert sequence("Great \U0001f389 party\U0001f389\U0001f389") == [
        *("great", "\U0001f389", "parti"),
        *("\U0001f389", "\U0001f389"),
    ]
    assert sequence("\U0001f44d\U0001f3fd") == sequence("\U0001f44d") == ["\U0001f44d"]  # any skin
    assert sequence("\u2764\ufe0f") == ["\u2764"] and sequence("\u2192 \u00a9 \u20ac") == []
    assert sequence("\U0001f1f3\U0001f1f4") == ["\U0001f1f3\U0001f1f4"]
