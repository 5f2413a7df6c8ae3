"""Which tokens does a cross-encoder read of a question and a text? Stored or cached ones."""

import hashlib
import re
import string
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollex_engine import fork
from recollex_engine.errors import InputError
from recollex_engine.models.embedder import MOST_PIECES, TokenIds, vocabulary_name

REMEMBERED = 65_536
"""The most texts whose tokens are cached: 250 bytes for a text of 64 tokens."""
HEADINGS = 16_384
"""The most headings whose tokens are cached."""
WORDS = 32_768
"""The most words whose tokens are cached: 300 bytes each."""
_PLAIN = re.compile(r"[\t\n\r -~]*").fullmatch
_SPLIT = re.compile(r"[a-zA-Z0-9]+|[^a-zA-Z0-9\s]").findall


@dataclass(frozen=True, slots=True)
class Pair:
    """``[CLS] question [SEP] text [SEP]``: ids integer[n].

    second: where the text begins; n in model families without token types.
    truncated: whether question or text lost its end, because the pair exceeds the model's length.
    """

    ids: Any
    second: int
    truncated: bool


@dataclass(frozen=True, slots=True)
class StoredPieces:
    """The stored WordPiece ids of n texts that begin with a heading.

    ids: of many texts; those of text i are ids[starts[i]:ends[i]], empty if they are not stored.
    headings: the beginning of text i, which its ids leave out; empty, or ending with a space.
    """

    ids: TokenIds
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    headings: Sequence[str]

    def of(self, places: Sequence[int]) -> "StoredPieces":
        """Return the stored ids of the texts at ``places``."""
        headings = [self.headings[place] for place in places]
        return StoredPieces(self.ids, self.starts[places], self.ends[places], headings)


class PairTokenizer:
    """Makes pairs of at most ``max_length`` tokens, equal to those that the tokenizer makes.

    BERT's tokenizers split at spaces and concatenate question and text, so the tokens of a text do
    not depend on the question. A tokenizer that works differently tokenizes each whole pair. A pair
    costs 4 us if the text's tokens are stored or cached, otherwise 30 us with ASCII text of 64
    tokens, whose words' tokens are cached, and 100 us with any other.

    vocabulary: the name of the vocabulary whose ids may be stored for these pairs, None if there is
    none (see `models.embedder`).

    Threads: any number.
    """

    def __init__(self, tokenizer: Any, max_length: int) -> None:
        self._tokenizer = tokenizer
        self._max = max_length
        self._remembered: OrderedDict[bytes, NDArray[Any] | None] = OrderedDict()
        self._changing = fork.lock()
        self._dtype = np.uint16 if tokenizer.get_vocab_size() <= 1 << 16 else np.uint32
        added = tokenizer.get_added_tokens_decoder().values()
        held = "|".join(re.escape(token.content) for token in added)
        self._added = re.compile(held or "(?!)", re.IGNORECASE)  # never split
        self._heading = lru_cache(HEADINGS)(self._read_heading)
        self._word = lru_cache(WORDS)(self._read_word)
        self._splits = all(map(self._is_split, string.punctuation))
        self._frame_ids = self._frame()
        self.vocabulary = None if self._frame_ids is None else vocabulary_name(tokenizer)

    def _frame(self) -> tuple[int, int] | None:
        """Return the ids of [CLS] and [SEP]; None if pairs are not concatenated with only these."""
        whole = self._tokenizer.encode("a b", "b")
        first, second = (self._plain([text])[0] for text in ("a b", "b"))
        if first is None or second is None or len(whole.ids) != len(first) + len(second) + 3:
            return None
        start = whole.ids[0]
        stop = whole.ids[-1]
        made = [start, *first, stop, *second, stop]
        types = [0] * (len(first) + 2) + [1] * (len(second) + 1)
        return (start, stop) if whole.ids == made and whole.type_ids == types else None

    def of(self, query: str, texts: list[str], stored: StoredPieces | None = None) -> list[Pair]:
        """Return the pair of ``query`` with each text.

        stored: ids of the texts, in the `vocabulary` of these pairs.

        Raises:
            InputError: one of them is not valid Unicode.

        """
        try:
            return self._made(query, texts, stored)
        except (TypeError, UnicodeError) as error:
            raise InputError(
                f"texts must be valid Unicode, got one that is not, for the query {query[:40]!r}"
            ) from error

    def _made(self, query: str, texts: list[str], stored: StoredPieces | None) -> list[Pair]:
        (asked,) = self._plain([query])
        if self._frame_ids is None or asked is None:
            return self._whole(query, texts)
        pairs: list[Pair | None] = [None] * len(texts)
        if stored is not None:
            self._assemble(asked, stored, pairs)
        start, stop = self._frame_ids
        head = np.array([start, *asked, stop], self._dtype)
        tail = np.array([stop], self._dtype)
        rest = [place for place, pair in enumerate(pairs) if pair is None]
        for place, tokens in zip(rest, self._tokens([texts[n] for n in rest]), strict=True):
            if tokens is not None and len(head) + len(tokens) + 1 <= self._max:
                pairs[place] = Pair(np.concatenate([head, tokens, tail]), len(head), False)
        long = iter(
            self._whole(query, [t for t, pair in zip(texts, pairs, strict=True) if pair is None])
        )
        return [next(long) if pair is None else pair for pair in pairs]

    def _whole(self, query: str, texts: list[str]) -> list[Pair]:
        """Return pairs as the tokenizer makes them, truncated if needed."""
        if not texts:
            return []
        found = self._tokenizer.encode_batch([(query, text) for text in texts])
        return [
            Pair(
                each.ids,
                each.type_ids.index(1) if 1 in each.type_ids else len(each.ids),
                bool(each.overflowing),
            )
            for each in found
        ]

    def _assemble(self, asked: list[int], stored: StoredPieces, pairs: list[Pair | None]) -> None:
        """Set the pairs of texts whose ids are stored."""
        assert self._frame_ids is not None
        sizes = stored.ends - stored.starts
        usable = sizes > 0
        if self._max > MOST_PIECES:  # a text with so many may have more, which are needed
            usable &= sizes < MOST_PIECES
        headings = [self._heading(each) for each in stored.headings]
        usable &= np.array([each is not None for each in headings], bool)
        places = np.flatnonzero(usable)
        if not len(places):
            return
        heads = [each for each in headings if each is not None]
        if len(heads) != len(places):
            heads = [head for n in places.tolist() if (head := headings[n]) is not None]
        before = np.array([len(head) for head in heads], np.int64)
        first, second = truncated_sizes(len(asked), before + sizes[places], self._max - 3)
        start, stop = self._frame_ids
        ends = np.cumsum(first + second + 3)
        begins = ends - (first + second + 3)
        texts = begins + first + 2
        ids = np.full(ends[-1], stop, self._dtype)
        ids[begins] = start
        _copy(np.array(asked, self._dtype), np.zeros_like(first), first, ids, begins + 1)
        kept = np.minimum(before, second)
        _copy(np.concatenate(heads), np.cumsum(before) - before, kept, ids, texts)
        _copy(stored.ids, stored.starts[places], second - kept, ids, texts + kept)
        cut = first + second < len(asked) + before + sizes[places]
        for place, begin, end, text, less in zip(
            *(each.tolist() for each in (places, begins, ends, texts - begins, cut)), strict=True
        ):
            pairs[place] = Pair(ids[begin:end], text, less)

    def _tokens(self, texts: list[str]) -> list[NDArray[Any] | None]:
        """Return the tokens of each text; None for a text that is too long for a pair."""
        keys = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts]
        with self._changing:
            found = {key: self._remembered[key] for key in keys if key in self._remembered}
            for key in found:
                self._remembered.move_to_end(key)
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if fresh:
            made = zip(fresh, self._plain(list(fresh.values())), strict=True)
            new = {
                key: None if tokens is None else np.array(tokens, self._dtype)
                for key, tokens in made
            }
            found |= new
            with self._changing:
                self._remembered |= new
                while len(self._remembered) > REMEMBERED:
                    self._remembered.popitem(last=False)
        return [found[key] for key in keys]

    def _read_heading(self, text: str) -> NDArray[Any] | None:
        """Return the tokens of a heading; None if it is longer than the model reads."""
        (tokens,) = self._plain([text])
        return None if tokens is None else np.array(tokens, self._dtype)

    def _plain(self, texts: Sequence[str]) -> list[list[int] | None]:
        """Return the ids of texts without special tokens; None for a text that is too long."""
        found = [self._of_words(text) for text in texts]
        rest = [n for n, tokens in enumerate(found) if tokens is None]
        made = self._tokenizer.encode_batch([texts[n] for n in rest], add_special_tokens=False)
        for n, each in zip(rest, made, strict=True):
            found[n] = None if each.overflowing else each.ids
        return found

    def _of_words(self, text: str) -> list[int] | None:
        """Return the ids of a short ASCII text, those of its words; None for any other text."""
        if not self._splits or _PLAIN(text) is None or self._added.search(text):
            return None
        words = list(map(self._word, _SPLIT(text)))
        if None in words:
            return None
        tokens = list(chain.from_iterable(words))  # type: ignore[arg-type]
        return tokens if len(tokens) <= self._max else None

    def _read_word(self, text: str) -> tuple[int, ...] | None:
        made = self._tokenizer.encode(text, add_special_tokens=False)
        return None if made.overflowing else tuple(made.ids)

    def _is_split(self, mark: str) -> bool:
        """Return whether the tokenizer splits text at a punctuation mark, whatever is around it."""
        text = f"a{mark}b{mark}{mark}c\td"
        words = [n for word in _SPLIT(text) for n in self._read_word(word) or ()]
        return self._read_word(text) == tuple(words)


def truncated_sizes(
    first: int, second: NDArray[np.int64], room: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many tokens are kept of a question of ``first`` and of texts of ``second`` tokens.

    They are at most ``room`` together, by the rule of the library tokenizers: the longer one is
    truncated, and both if the shorter one has more than half of ``room``.

    >>> truncated_sizes(4, np.array([5, 9, 2]), 9)
    (array([4, 4, 4]), array([5, 5, 2]))
    """
    firsts = np.full_like(second, first)
    short = np.minimum(firsts, second)
    long = np.where(short > room, short, np.maximum(short, room - short))
    halved = short + long > room
    short = np.where(halved, room // 2, short)
    long = np.where(halved, room // 2 + room % 2, long)
    whole = firsts + second <= room
    swapped = firsts > second
    first_kept = np.where(swapped, long, short)
    second_kept = np.where(swapped, short, long)
    return np.where(whole, firsts, first_kept), np.where(whole, second, second_kept)


def _copy(
    source: NDArray[Any],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    out: NDArray[Any],
    to: NDArray[np.int64],
) -> None:
    """Copy ``sizes`` items of ``source`` from each of ``starts`` to each of ``to`` in ``out``."""
    steps = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    out[np.repeat(to, sizes) + steps] = source[np.repeat(starts, sizes) + steps]
