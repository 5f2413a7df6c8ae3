"""Which tokens does a cross-encoder read of a question and a text? A text's are remembered."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollex_engine.errors import InputError

REMEMBERED = 65_536
"""Texts whose tokens are remembered: 250 bytes for one of 64 tokens."""


@dataclass(frozen=True, slots=True)
class Pair:
    """``[CLS] question [SEP] text [SEP]``: ids integer[n].

    second: where the text begins, or the end, in a family that does not tell the two apart.
    truncated: whether the model's length left out an end of the longer of the two.
    """

    ids: Any
    second: int
    truncated: bool


class Pairs:
    """Makes pairs of at most ``max_length`` tokens, the very ones that the tokenizer makes of both.

    BERT's tokenizers split at spaces and put a pair together of its parts, so what a text comes to
    does not depend on the question; where a tokenizer does otherwise, or a pair is too long, it is
    asked for the pair. So another question about memories that were candidates before costs 3 us a
    pair, not 90.

    Threads: any number.
    """

    def __init__(self, tokenizer: Any, max_length: int) -> None:
        self._tokenizer = tokenizer
        self._max = max_length
        self._remembered: OrderedDict[bytes, NDArray[Any] | None] = OrderedDict()
        self._changing = threading.Lock()
        self._dtype = np.uint16 if tokenizer.get_vocab_size() <= 1 << 16 else np.uint32
        self._parts = self._frame()

    def _frame(self) -> tuple[int, int] | None:
        """Return the ids of [CLS] and [SEP], None where pairs are not made of parts and these."""
        whole = self._tokenizer.encode("a b", "b")
        first, second = (self._plain([text])[0] for text in ("a b", "b"))
        if first is None or second is None or len(whole.ids) != len(first) + len(second) + 3:
            return None
        start, stop = whole.ids[0], whole.ids[-1]
        made = [start, *first, stop, *second, stop]
        types = [0] * (len(first) + 2) + [1] * (len(second) + 1)
        return (start, stop) if whole.ids == made and whole.type_ids == types else None

    def of(self, query: str, texts: list[str]) -> list[Pair]:
        """Return the pair of ``query`` with each text.

        Raises:
            InputError: one of them is not valid Unicode.

        """
        try:
            return self._made(query, texts)
        except (TypeError, UnicodeError) as error:
            raise InputError(
                f"texts must be valid Unicode, got one that is not, for the query {query[:40]!r}"
            ) from error

    def _made(self, query: str, texts: list[str]) -> list[Pair]:
        (asked,) = self._plain([query])
        if self._parts is None or asked is None:
            return self._whole(query, texts)
        start, stop = self._parts
        head = np.array([start, *asked, stop], self._dtype)
        tail = np.array([stop], self._dtype)
        pairs: list[Pair | None] = []
        for tokens in self._tokens(texts):
            if tokens is None or len(head) + len(tokens) + 1 > self._max:
                pairs.append(None)
            else:
                pairs.append(Pair(np.concatenate([head, tokens, tail]), len(head), False))
        long = iter(
            self._whole(query, [t for t, pair in zip(texts, pairs, strict=True) if pair is None])
        )
        return [next(long) if pair is None else pair for pair in pairs]

    def _whole(self, query: str, texts: list[str]) -> list[Pair]:
        """Return pairs as the tokenizer makes them, truncated where it must."""
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

    def _tokens(self, texts: list[str]) -> list[NDArray[Any] | None]:
        """Return each text's own tokens, None for one that is too long to be a part of a pair."""
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

    def _plain(self, texts: Sequence[str]) -> list[list[int] | None]:
        """Return the ids of texts without special tokens, None for one beyond the length."""
        found = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [None if each.overflowing else each.ids for each in found]
