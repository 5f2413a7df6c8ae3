"""Which further passages of a long memory come back with its best one?

A memory too long for the token budget comes back as its best passage. The tokens that are left
then go to further passages of such memories. They are chosen by their own evidence, and a passage
borrows from the passages beside it, because an answer often goes on in the next sentences.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from recollex_engine.models.description import Thresholds
from recollex_engine.ranking.arms import KeywordResult, rows_of
from recollex_engine.ranking.ranking import Ranking
from recollex_engine.state.view import View
from recollex_kernels.vectors.codes import cosines

KEYWORD = 4.4
"""Weight of a passage's keyword evidence; its semantic evidence has 1, as in the default fusion."""
BORROWED = 0.25
"""Share of its neighbours' evidence that a passage borrows."""
GAP = " [...] "
"""Stands between two passages of a memory that do not touch each other."""
GAP_TOKENS = 5
"""The most tokens that a gap takes, in either vocabulary of `text.token_counter`."""


def with_further_passages(
    view: View,
    ranking: Ranking,
    left: int,
    words: KeywordResult | None,
    query: npt.NDArray[np.float32] | None,
    thresholds: Thresholds,
) -> tuple[Ranking, int]:
    """Return ``ranking`` with further passages of its cut memories, and the tokens they take.

    A passage's evidence is x = 4.4 b + c with b = BM25 / sqrt(best BM25 * sum of the idf of the
    question's words) and c = (cosine - semantic threshold) / (entry threshold - semantic
    threshold), as in `Contextual`, over the passages of all cut memories; and a quarter of its
    neighbours' x, where that is positive. The passages with most are taken while they fit in
    ``left`` tokens. Ties: the better memory, then the earlier passage.

    Cost: nothing if no memory is cut or no passage fits; else a cosine and a pass over the words
    of each passage of the cut memories.
    """
    places = list(ranking.cut)
    if not places or left <= 0:
        return ranking, 0
    memories = ranking.memories[places]
    rows = rows_of(view, memories).astype(np.int64)
    tokens = view.buffer("passage_tokens")[rows].astype(np.int64)
    taken = np.isin(rows, [row for chosen in ranking.cut.values() for row in chosen])
    if int(tokens[~taken].min(initial=left + 1)) > left:
        return ranking, 0
    owner = view.buffer("memory_of_row")[rows]
    evidence = _lent(_evidence(view, rows, words, query, thresholds), owner)
    place_of = dict(zip(memories.tolist(), places, strict=True))
    order = np.lexsort((np.arange(len(rows)), -evidence))
    used = 0
    cut = dict(ranking.cut)
    for at in order[~taken[order]].tolist():
        cost = int(tokens[at])
        if used + cost - GAP_TOKENS > left:
            continue
        place = place_of[int(owner[at])]
        row = int(rows[at])
        held = cut[place]
        cost += GAP_TOKENS * (1 - (row - 1 in held) - (row + 1 in held))
        if used + cost <= left:
            cut[place] = (*held, row)
            used += cost
    return replace(ranking, cut=cut), used


def spans(view: View, rows: Iterable[int]) -> list[tuple[int, int]]:
    """Return the spans of characters of passages of one memory, in order; those that touch as one.

    >>> from types import SimpleNamespace
    >>> ends = {"passage_start": np.array([0, 9, 20]), "passage_end": np.array([9, 20, 25])}
    >>> view = SimpleNamespace(buffer=ends.get)
    >>> spans(view, [2, 0]), spans(view, [1, 0])
    ([(0, 9), (20, 25)], [(0, 20)])
    """
    start = view.buffer("passage_start")
    end = view.buffer("passage_end")
    found: list[tuple[int, int]] = []
    for row in sorted(rows):
        if found and found[-1][1] == start.item(row):
            found[-1] = (found[-1][0], end.item(row))
        else:
            found.append((start.item(row), end.item(row)))
    return found


def joined(text: str, found: list[tuple[int, int]]) -> str:
    """Return the parts of a text at the given spans, with `GAP` between each two.

    >>> joined("One. Two. Three.", [(0, 5), (10, 16)])
    'One. [...] Three.'
    """
    if len(found) == 1:
        return text[slice(*found[0])]
    return GAP.join(text[start:end].strip() for start, end in found)


def tokens_of(view: View, rows: tuple[int, ...]) -> int:
    """Return the tokens of passages of one memory, with the gaps between them."""
    tokens = view.buffer("passage_tokens")
    gaps = sum(row - 1 not in rows for row in rows) - 1
    return int(sum(map(tokens.item, rows))) + GAP_TOKENS * gaps


def _evidence(
    view: View,
    rows: npt.NDArray[np.int64],
    words: KeywordResult | None,
    query: npt.NDArray[np.float32] | None,
    thresholds: Thresholds,
) -> npt.NDArray[np.float64]:
    """Return the evidence of each row: float64[n]."""
    found = np.zeros(len(rows))
    if words is not None and len(words.terms):
        scores = _bm25(view, rows, words)
        best = float(scores.max())
        if best > 0:
            found += KEYWORD * scores / np.sqrt(best * words.most)
    if query is not None:
        near = np.empty(len(rows), np.float32)
        cosines(view.vectors, rows.astype(np.uint32), query, near)
        unit = max(thresholds.entry - thresholds.semantic, 1e-6)
        found += (near - thresholds.semantic) / unit
    return found


def _bm25(view: View, rows: npt.NDArray[np.int64], words: KeywordResult) -> npt.NDArray[np.float64]:
    """Return BM25 of each row as a document of its own, by the idf and the norm of memories."""
    offsets = view.buffer("term_offset")
    terms = view.buffer("term")
    first = offsets[rows].astype(np.int64)
    end = offsets[rows + 1].astype(np.int64)
    counts = end - first
    # runs of rows follow each other in the flat array, so whole memories are read in one slice
    starts = np.flatnonzero(np.concatenate([[True], first[1:] != end[:-1]]))
    stops = np.append(starts[1:], len(rows)) - 1
    flat = np.concatenate(
        [terms[first[one] : end[last]] for one, last in zip(starts, stops, strict=True)]
    )
    of = np.repeat(np.arange(len(rows)), counts)
    norms = words.fixed + words.per_word * view.buffer("length")[rows].astype(np.float64)
    found = np.zeros(len(rows))
    for term, idf in zip(words.terms.tolist(), words.idf.tolist(), strict=True):
        f = np.bincount(of[flat == term], minlength=len(rows)).astype(np.float64)
        found += idf * f / (f + norms)
    return found


def _lent(
    evidence: npt.NDArray[np.float64], owner: npt.NDArray[np.uint32]
) -> npt.NDArray[np.float64]:
    """Return the evidence, with a share of that of the neighbours in the same memory."""
    lent = BORROWED * np.maximum(evidence, 0)
    found = evidence.copy()
    beside = owner[1:] == owner[:-1]
    found[1:] += np.where(beside, lent[:-1], 0)
    found[:-1] += np.where(beside, lent[1:], 0)
    return found
