"""Tokenizers of one vocabulary give one name; what ids may not be put together of gives none."""

import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

from recollex_engine.models.embedder import vocabulary_name
from recollex_engine.models.session import open_tokenizer
from tests.engine.models.conftest import WORDS, write_tokenizer


def made(words=WORDS, lowercase=True, splits=None, kind=models.WordPiece):
    numbers = {word: n for n, word in enumerate(words)}
    tokenizer = Tokenizer(kind(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = splits or pre_tokenizers.BertPreTokenizer()
    return tokenizer


@pytest.fixture
def given(tmp_path):
    write_tokenizer(tmp_path / "tokenizer.json")
    return open_tokenizer(tmp_path / "tokenizer.json")


def test_what_frames_cuts_off_and_fills_up_does_not_count(given):
    name = vocabulary_name(made())
    assert name is not None and name.startswith("wordpiece-") and len(name) == 26
    assert vocabulary_name(given) == name
    given.no_padding()
    given.enable_truncation(7)
    given.post_processor = processors.BertProcessing(("[CLS]", 2), ("[SEP]", 3))
    assert vocabulary_name(given) == name


def test_words_their_numbers_their_case_and_what_was_added_count():
    other = made()
    other.add_special_tokens([AddedToken("[DATE]", special=True)])
    names = [
        vocabulary_name(each)
        for each in (made(), made([*WORDS, "owl"]), made(WORDS[::-1]), made(lowercase=False), other)
    ]
    assert None not in names and len(set(names)) == 5


def test_other_families_have_none():
    assert vocabulary_name(made(kind=models.WordLevel)) is None
    assert vocabulary_name(made(splits=pre_tokenizers.Whitespace())) is None
    bare = Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    assert vocabulary_name(bare) is None


def test_an_added_token_over_a_space_has_none():
    other = made()
    other.add_tokens(["new york"])
    assert vocabulary_name(other) is None


def test_ids_beyond_16_bits_have_none():
    assert vocabulary_name(made([*WORDS, *map(str, range(1 << 16))])) is None
    assert (
        vocabulary_name(made([*WORDS, *(f"w{n}" for n in range((1 << 16) - len(WORDS)))]))
        is not None
    )


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("strip_accents", [True, False, None])
def test_the_normalizer_gives_no_more_characters_than_a_text_has_bytes(lowercase, strip_accents):
    """So a piece, which is a character or more, stands for a byte or more."""
    normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=strip_accents)
    for code in [*range(1, 0xD800), *range(0xE000, 0x30000), *range(0xE0000, 0xE1000)]:
        written = chr(code)
        given = normalizer.normalize_str(written).replace(" ", "")
        assert len(given) <= len(written.encode()), hex(code)
