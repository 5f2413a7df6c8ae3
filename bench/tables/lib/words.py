"""How long is what was found, and how long is the evidence? A ranking should not know length."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np

from bench.datasets.bank import Bank, Query

FIRST = 10
COLUMN = "words in the first ten / in the gold"

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")


def count_words(text: str) -> int:
    """Return the number of words: runs of letters and digits, each Chinese character one.

    >>> count_words("It's 5 km to 東京."), count_words("...")
    (7, 0)
    """
    return sum(1 for _ in _WORD.finditer(text))


def words_found(ids: Sequence[str], words: Mapping[str, int]) -> tuple[int, ...]:
    """Return the words of each of the first ten."""
    return tuple(words[id] for id in ids[:FIRST])


def words_of_evidence(bank: Bank, query: Query, words: Mapping[str, int]) -> tuple[int, ...]:
    """Return the words of each memory that proves the answer, or whose document does."""
    if bank.unit == "turn":
        return tuple(words[id] for id in sorted(query.evidence))
    return tuple(
        words[turn["id"]]
        for turn in bank.turns[: query.visible]
        if turn["document"] in query.evidence
    )


def lengths(found: Iterable[Sequence[int]], gold: Iterable[Sequence[int]]) -> str:
    """Return the cell of `COLUMN`: two medians, each over all memories of all queries.

    >>> lengths([(500, 700), (600,)], [(40,), (50,)])
    '600 / 45'
    """
    medians = [np.median(list(chain(*part)) or [0]) for part in (found, gold)]
    return f"{medians[0]:.0f} / {medians[1]:.0f}"
