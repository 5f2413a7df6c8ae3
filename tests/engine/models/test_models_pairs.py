"""The tokens of a pair are the tokenizer's, remembered or not."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.errors import InputError
from recollex_engine.models import pairs as module
from recollex_engine.models.pairs import Pairs
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
    return Pairs(tokenizer, 24)


@settings(deadline=None, max_examples=200)
@given(query=TEXTS, texts=st.lists(TEXTS, max_size=6))
def test_they_are_the_tokenizers(pairs, tokenizer, query, texts):
    assert pairs._parts is not None
    for text, pair in zip(texts, pairs.of(query, texts), strict=True):
        expected = tokenizer.encode(query, text)
        assert list(pair.ids) == expected.ids
        types = [0] * pair.second + [1] * (len(pair.ids) - pair.second)
        assert types == expected.type_ids
        assert pair.truncated == bool(expected.overflowing)


def test_a_text_is_tokenised_once_for_all_questions_while_it_is_remembered(tokenizer, monkeypatch):
    pairs, asked = Pairs(tokenizer, 24), []
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

        def encode(self, first, second):
            found = tokenizer.encode(first, second)
            return type("Encoding", (), {"ids": [*found.ids, 1], "type_ids": found.type_ids})()

    pairs = Pairs(Other(), 24)
    assert pairs._parts is None
    assert list(pairs.of("who ?", ["ann"])[0].ids) == tokenizer.encode("who ?", "ann").ids


def test_threads_may_share_them(tokenizer):
    pairs, found = Pairs(tokenizer, 24), []
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
