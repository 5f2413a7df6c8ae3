import doctest
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.writing import preparation
from recollex_engine.writing.preparation import split

words_and_stops = st.sampled_from(
    [
        "word ",
        "Longer words. ",
        "a ",
        "x",
        "\n",
        "   ",
        "Dr. ",
        "東京。",
        "は",
        "!!",
        "(So?) ",
        "e\u0301",
    ]
)
texts = st.lists(words_and_stops, max_size=120).map("".join) | st.text(max_size=80)


def test_the_example_in_the_docstring_runs():
    assert doctest.testmod(preparation).failed == 0


@settings(deadline=None)
@given(texts, st.integers(1, 12))
def test_spans_are_not_empty_touch_and_cover_the_text(text, words):
    spans = split(text, words)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)
    assert [start for start, _ in spans[1:]] == [end for _, end in spans[:-1]]


@settings(deadline=None)
@given(texts, st.integers(4, 12))
def test_no_passage_is_more_than_twice_as_long_as_wanted(text, words):
    for start, end in split(text, words):
        plain = [word for word in text[start:end].split() if re.fullmatch("[A-Za-z.]{2,}", word)]
        assert len(plain) <= 2 * words


@settings(deadline=None)
@given(st.lists(st.integers(1, 8), min_size=1, max_size=60))
def test_short_sentences_are_never_cut(lengths):
    sentences = ["word " * (length - 1) + "end. " for length in lengths]
    ends = {sum(map(len, sentences[: n + 1])) for n in range(len(sentences))}
    assert {end for _, end in split("".join(sentences), words=10)} <= ends


def test_a_text_of_a_little_over_the_wanted_words_stays_whole():
    assert len(split("word " * 130)) == 1
    assert len(split("word " * 131)) == 2


def test_passages_are_near_the_wanted_size():
    text = "Seven words stand in this short sentence. " * 143  # 1,001 words
    sizes = [len(text[start:end].split()) for start, end in split(text)]
    assert len(sizes) == 10
    assert all(91 <= size <= 112 for size in sizes)


def test_lines_and_abbreviations():
    lines = "first line here\nsecond line here\nthird line here\n"
    assert [lines[a:b] for a, b in split(lines, 3)] == [
        "first line here\n",
        "second line here\n",
        "third line here\n",
    ]
    name = "once upon time Dr. Jones found some gold in Oslo"
    assert [name[a:b] for a, b in split(name, 4)] == [
        "once upon time Dr. Jones ",
        "found some gold in Oslo",
    ]
    stop = name.replace("Dr", "St.Elmo")
    assert stop[: split(stop, 4)[0][1]] == "once upon time St.Elmo. "


def test_a_sentence_without_end_is_cut_between_words():
    text = "steady " * 1000
    assert all(text[start:end].endswith("steady ") for start, end in split(text))
    assert len(split(text)) == 10


def test_chinese_counts_half_a_word_a_character_and_is_cut_at_its_stops():
    text = "今天天气很好我们去公园。" * 40  # 12 characters, 6 words, 40 times
    spans = split(text, words=60)
    assert len(spans) == 4
    assert all(text[end - 1] == "。" for _, end in spans)


@pytest.mark.parametrize(
    "text",
    ["a" * 10**6, "\n" * 10**6, "中" * 10**6, "." * 10**6, " ." * 500_000, "a)" * 500_000, ". " * 500_000],  # noqa: E501 - one row of cases
    ids=lambda text: ascii(text[:3]),
)  # fmt: skip
def test_a_hostile_megabyte_is_cut_in_seconds(text):
    began = time.process_time()
    spans = split(text)
    assert time.process_time() - began < 5
    assert max(end - start for start, end in spans) <= 100 * 2 * 16 or not text.strip()
