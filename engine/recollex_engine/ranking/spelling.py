"""Which terms of an agent are spelled like words of the question that it does not know?

A question may be misspelled ("protcol"), inflected as the agent's stemmer does not know, or in a
language that shares words with that of the memories ("Republik" and "republic"). BM25 finds nothing
for such a word, so terms with mostly the same trigrams are searched beside it.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from recollex_engine.ranking.arms import NO_SHARES, Mask
from recollex_engine.state.view import View
from recollex_engine.storage.column import read_only
from recollex_kernels.words.keyword import word_frequencies
from recollex_kernels.words.spelling import LONGEST, SHORTEST, spelled_like

UNKNOWN = 0.4
"""The least share of a question's words, by idf, that no memory holds. Of most questions less is
unknown, and their recall costs nothing more."""
LEAST = 0.55
"""The least likeness, see `recollex_kernels.words.spelling`."""
MOST = 8
"""The most terms for one word, those with the greatest likeness."""
WORDS = 32
"""The most words of a question that are looked up, the first ones."""
_COMPARED = 1024  # terms with the least likeness; of more, the first ones

Similar: TypeAlias = tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32]]
"""Terms, and the likeness of each to a word of the question."""
NONE: Similar = np.empty(0, np.uint32), NO_SHARES


def similar_terms(
    view: View,
    words: Sequence[str],
    terms: npt.NDArray[np.uint32],
    allowed: Mask,
    population: int,
) -> Similar:
    """Return terms that are spelled like words that no memory holds, each once, by likeness.

    words, terms: those of the question, aligned. allowed, population: the memories that count, as
    for `arms.keyword`. A term counts if one of them holds it, and if it is no word of the question
    itself. Its likeness is the greatest to any of the words. Order: greater likeness, then the
    lower term.

    Cost: 10 us, and for each unknown word 1 ns a term of the agent.
    """
    index = view.text_index
    asked = index.lists, index.places, index.documents
    own = _frequencies(asked, terms, allowed, population)
    unknown = [word for word, count in zip(words, own.tolist(), strict=True) if not count]
    alike = _alike(view, unknown[:WORDS])
    if not alike:
        return NONE
    every = np.concatenate([found for found, _ in alike])
    is_held = _frequencies(asked, every, allowed, population) > 0
    best: dict[int, float] = {}
    first = 0
    for found, likeness in alike:
        held = np.flatnonzero(is_held[first : first + len(found)])
        first += len(found)
        order = held[np.lexsort((found[held], -likeness[held]))][:MOST]
        for term, share in zip(found[order].tolist(), likeness[order].tolist(), strict=True):
            best[term] = max(share, best.get(term, 0.0))
    for term in terms.tolist():
        best.pop(term, None)
    if not best:
        return NONE
    chosen = sorted(best.items(), key=lambda item: (-item[1], item[0]))
    numbers, shares = zip(*chosen, strict=True)
    return np.array(numbers, np.uint32), np.array(shares, np.float32)


def _alike(view: View, words: Sequence[str]) -> list[Similar]:
    """Return the terms that are spelled like each word, ascending; nothing for a word without."""
    spelled = None
    alike: list[Similar] = []
    for word in words:
        if not SHORTEST <= len(word) <= LONGEST:
            continue
        if spelled is None:
            spelled = view.columns.spellings.of(view.columns.dictionary["terms"])
            found = np.empty(_COMPARED, np.uint32)
            likeness = np.empty(_COMPARED, np.float32)
        written = np.frombuffer(word.encode(), np.uint8)
        if count := spelled_like(*spelled, written, LEAST, found, likeness):
            alike.append((found[:count].copy(), likeness[:count].copy()))
    return alike


def _frequencies(
    asked: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], int],
    terms: npt.NDArray[np.uint32],
    allowed: Mask,
    population: int,
) -> npt.NDArray[np.int64]:
    lists, texts, memories = asked
    return word_frequencies(lists, terms, texts, memories, read_only(allowed), population)
