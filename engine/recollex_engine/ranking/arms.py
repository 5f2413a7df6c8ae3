"""The keyword and the semantic arm: each searches memories its own way (TEMPR, section 3.1).

An arm ranks memories, each by its best passage, and returns at most `thinking_budget` of them.
Every arm searches only the memories that pass the question's filters, so a filter does not reduce
the quality of the list.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from recollex_engine.state.hnsw import PROPOSED
from recollex_engine.state.postings import K1, B, TextIndex
from recollex_engine.state.view import View, share
from recollex_kernels.vectors.cascade import cascade_top
from recollex_kernels.vectors.nearest import best_of_rows, scan_top
from recollex_kernels.words.bm25 import Weights
from recollex_kernels.words.keyword import SCRATCH, search_words
from recollex_kernels.words.postings import documents_holding

# Working arrays that queries use again without clearing them in between.
_ROUND = 64  # number of sums that a step of the search looks at


class Scratch(threading.local):
    """Stamps for memories and entities, one pair of arrays per thread.

    A place is marked in this query if it holds one of the query's stamps. Each query has new
    stamps, so no array is cleared, and a query's cost does not grow with the agent.
    """

    def __init__(self) -> None:
        self._memories = np.zeros(0, np.uint32)
        self._entities = np.zeros(0, np.uint32)
        self._epoch = 1

    def take(
        self, memories: int, entities: int, stamps: int
    ) -> tuple[int, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        """Return the first of ``stamps`` new stamps, which neither array holds, and the arrays.

        The arrays are at least as long as asked.
        """
        full = self._epoch + stamps >= 2**32
        if memories > len(self._memories) or entities > len(self._entities) or full:
            self._memories = np.zeros(max(memories * 5 // 4, len(self._memories)), np.uint32)
            self._entities = np.zeros(max(entities * 5 // 4, len(self._entities)), np.uint32)
            self._epoch = 1
        first = self._epoch
        self._epoch += stamps
        return first, self._memories, self._entities


class WordScratch(threading.local):
    """The working array of keyword searches, one per thread, as long as the largest agent needs.

    Only pages that were written use memory. The first two rows are 0 between searches.
    """

    def __init__(self) -> None:
        self._memories = -1
        self._rows = np.zeros((SCRATCH, 0), np.uint32)

    def take(self, memories: int) -> npt.NDArray[np.uint32]:
        """Return the argument ``scratch`` of `recollex_kernels.words.keyword.search_words`."""
        if memories > self._memories:
            self._memories = memories * 5 // 4
            self._rows = np.zeros((SCRATCH, self._memories + 2 * _ROUND), np.uint32)
        return self._rows


Mask: TypeAlias = npt.NDArray[np.uint8]
"""uint8[memories]: 1 for each memory that may be returned."""

NO_SHARES = np.empty(0, np.float32)
"""No term but the words of the question."""
ANY_COSINE = float("-inf")
"""The cosine threshold that every memory reaches."""
COMPARED = 30
"""Cost ratio: one-bit comparisons of filtered rows per graph hop."""
CASCADE_ROWS = 4096
"""Up to this many rows, all are compared exactly: the cascade would take as long."""
PROPOSED_EACH = 5
"""Rows that a graph proposes for each memory wanted."""
LIKELY = 896
"""Minimum of the rows that the one-bit comparison proposes."""
LIKELY_EACH = 8
"""Rows that the one-bit comparison proposes for each memory wanted."""
SCORED = 32
"""The four-bit comparison chooses this many of the proposed rows, and `SCORED_EACH` more for each
memory wanted. These are compared exactly. If memories may have several rows, all proposed rows
are."""
SCORED_EACH = 1.5


@dataclass(slots=True)
class ArmList:
    """One arm's list, best first: memories uint32[n], scores float32[n], rows of best passages.

    The graph and temporal arms rank memories, not passages: their rows are empty.
    """

    memories: npt.NDArray[np.uint32]
    scores: npt.NDArray[np.float32]
    rows: npt.NDArray[np.uint32]

    @classmethod
    def empty(cls) -> "ArmList":
        """Return an empty list."""
        return cls(np.empty(0, np.uint32), np.empty(0, np.float32), np.empty(0, np.uint32))

    def first(self, count: int) -> "ArmList":
        """Return the best ``count`` memories."""
        if count >= len(self.memories):
            return self
        return ArmList(self.memories[:count], self.scores[:count], self.rows[:count])


def holding(
    view: View, phrases: Sequence[Sequence[int]], allowed: Mask
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """Return the memories of ``allowed`` that hold a phrase, ascending, and how many each holds.

    A phrase is a sequence of terms, which stand in one passage; NONE in it is the place of any stop
    word. Cost: the postings of the terms, the passages of the memories that hold all terms of a
    phrase (not needed for a single term), and the tail.
    """
    words = np.array(list(chain.from_iterable(phrases)), _U32)
    ends = np.array(list(accumulate(map(len, phrases))), np.int64)
    index = view.text_index
    return documents_holding(index.lists, index.places, words, ends, index.documents, allowed)


def rows_of(view: View, memories: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Return the rows of memories."""
    if view.rows == view.memories:  # each memory has one row, of the same number
        return memories
    places = memories.astype(np.int64)
    first = view.buffer("first_row")[places].astype(np.int64)
    counts = view.buffer("first_row")[places + 1] - first
    return places_of_runs(first, counts).astype(np.uint32)


def places_of_runs(
    first: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the places first[i] .. first[i] + counts[i] - 1 of each run, one run after the other.

    >>> places_of_runs(np.array([7, 2]), np.array([2, 3])).tolist()
    [7, 8, 2, 3, 4]
    """
    before = np.cumsum(counts) - counts
    places: npt.NDArray[np.int64] = np.repeat(first - before, counts)
    places += np.arange(len(places))
    return places


@dataclass(slots=True)
class KeywordResult:
    """What the keyword arm found: its list, and what is needed to score any other memory.

    terms uint32[Q], idf float32[Q]: the words of the question that the agent knows, then those that
    are spelled like the others.
    fixed, per_word: BM25's norm of a memory is fixed + per_word * its number of words.
    most: the sum of the idf of all words of the question, known or not: an upper bound of scores.
    unknown: the share of ``most`` that belongs to words which none of the memories holds.
    population: the number of memories that idf is computed over.
    tail: float32[n], the score of each memory that no posting list covers.
    """

    ranked: ArmList
    terms: npt.NDArray[np.uint32]
    idf: npt.NDArray[np.float32]
    fixed: float
    per_word: float
    most: float
    unknown: float
    tail: npt.NDArray[np.float32]
    population: int = 0

    @property
    def weights(self) -> Weights:
        """The words and what they weigh, as `bm25.scores_of` takes them."""
        return self.terms, self.idf, np.float32(self.fixed), np.float32(self.per_word)

    @classmethod
    def none(cls, population: int = 0) -> "KeywordResult":
        """Return the result of a question without words."""
        nothing = np.empty(0, np.float32)
        terms = np.empty(0, np.uint32)
        return cls(ArmList.empty(), terms, nothing, 0.0, 0.0, 0.0, 0.0, nothing, population)


def keyword(
    view: View,
    terms: npt.NDArray[np.uint32],
    allowed: Mask,
    budget: int,
    k1: float = K1,
    b: float = B,
    *,
    narrowed: bool = False,
    shares: npt.NDArray[np.float32] = NO_SHARES,
) -> KeywordResult:
    """Rank by BM25 with a memory as the document; the mean length is that of the view.

    N and df are those of the view; if a filter has ``narrowed`` the search, those of the
    ``allowed`` memories, so that a word counts as it does in an agent that holds these alone. Ten
    conversations in one agent, asked with a filter by the conversation: R@10 of LoCoMo is 0.037
    below that of ten agents with the view's idf, 0.003 with that of the allowed. The mean length
    of the allowed changes nothing. shares: the last terms are
    spelled like words of the question, and each counts this share of its idf (see
    `ranking.spelling`).

    Equation (Kamphuis et al. 2020, "Lucene (accurate)"):
        score(d) = sum over q of ln(1 + (N - df + 0.5) / (df + 0.5)) * f / (f + norm(d))
        norm(d) = k1 * (1 - b + b * length(d) / mean length)

    terms: those of the question, each once, NONE for a word that no memory of the agent holds.
    """
    memories = view.memories
    population = int(np.count_nonzero(allowed)) if narrowed else memories
    if not len(terms) or not memories:
        return KeywordResult.none(population)
    mean = view.total_length / memories or 1.0
    every = allowed is view.open and view.share_open == 1
    return bm25(
        view.text_index, terms, allowed, every, population, mean, budget, k1, b, shares=shares
    )


def bm25(
    index: TextIndex,
    terms: npt.NDArray[np.uint32],
    allowed: Mask,
    every: bool,
    population: int,
    mean: float,
    budget: int,
    k1: float,
    b: float,
    *,
    shares: npt.NDArray[np.float32] = NO_SHARES,
) -> KeywordResult:
    """Rank documents, memories or statements, as `keyword` says, by terms, at least one.

    every: whether all are ``allowed``. population: N. mean: the words of a document on average.
    """
    words = len(terms)
    fixed = k1 * (1 - b)
    per_word = k1 * b / mean
    tail = max(index.documents - index.listed, 0)
    best = np.empty(budget, _U32)
    scores = np.empty(budget + tail, _F32)
    known = np.empty(words, _U32)
    idf = np.empty(words, _F32)
    rows = np.empty(budget, _U32)
    found, met, most, unknown = search_words(
        index.lists,
        (terms, shares),
        index.places,
        fixed,
        per_word,
        allowed,
        every,
        population,
        _scratch.take(index.documents),
        best,
        scores,
        rows,
        known,
        idf,
    )
    of_tail = scores[budget:] if tail else _NO_TAIL
    if found < len(scores):
        best = best[:found]
        scores = scores[:found]
        rows = rows[:found]
    if met < words:
        known = known[:met]
        idf = idf[:met]
    found_list = ArmList(best, scores, rows)
    return KeywordResult(
        found_list, known, idf, fixed, per_word, most, unknown, of_tail, population
    )


_scratch = WordScratch()
_NO_TAIL = np.empty(0, np.float32)
# np.empty takes half as long with a dtype
_U32 = np.dtype(np.uint32)
_F32 = np.dtype(np.float32)


def semantic(
    view: View,
    query: npt.NDArray[np.float32],
    allowed: Mask,
    floor: float,
    budget: int,
    exact: bool,
) -> ArmList:
    """Rank by cosine, down to ``floor`` (TEMPR 3.1.1); `ANY_COSINE` for no threshold.

    With ``exact``, and for agents with few rows, all rows are scanned. Otherwise graphs propose
    rows of the part of a large agent that they cover, and a one-bit comparison proposes rows of the
    rest. If a filter admits few memories, the one-bit comparison proposes all rows. A memory's
    score is the same number on each way.
    """
    if not view.rows:
        return ArmList.empty()
    if exact:
        return scan(view, 0, view.rows, query, allowed, floor, budget)
    graphs = [graph for graph in view.indexes.graphs if graph.end_row <= view.rows]
    if not graphs:
        return compare(view, 0, view.rows, query, allowed, floor, budget)
    admitted = view.share_open if allowed is view.open else share(allowed)
    # a walk makes walk_width / admitted hops; a scan would compare admitted * rows rows
    if admitted * admitted * view.rows < COMPARED * graphs[0].walk_width(admitted, budget):
        return compare(view, 0, view.rows, query, allowed, floor, budget)
    parts = []
    proposed = []
    covered = 0
    wanted = max(PROPOSED, PROPOSED_EACH * budget)
    for graph in graphs:
        if graph.first_row > covered:
            parts.append(compare(view, covered, graph.first_row, query, allowed, floor, budget))
        near = graph.search(
            view.coded,
            allowed,
            query,
            wanted,
            budget=budget,
            share=admitted,
            graphs=len(graphs),
        )
        if near is None:
            return compare(view, 0, view.rows, query, allowed, floor, budget)
        proposed.append(near)
        covered = graph.end_row
    if covered < view.rows:
        parts.append(compare(view, covered, view.rows, query, allowed, floor, budget))
    found = best_passages(view, np.concatenate(proposed), query, allowed, floor, budget)
    return _merge([found, *parts], budget) if parts else found


def scan(
    view: View,
    first_row: int,
    end_row: int,
    query: npt.NDArray[np.float32],
    allowed: Mask,
    floor: float,
    budget: int,
) -> ArmList:
    """Rank the memories of rows [first_row, end_row) by exact cosine."""
    if not view.is_coded:  # then there are few rows
        everything = np.arange(first_row, end_row, dtype=np.uint32)
        return best_passages(view, everything, query, allowed, floor, budget)
    memories, rows, scores = scan_top(
        view.vectors,
        view.four_bits,
        first_row,
        end_row,
        view.memory_of_row,
        view.buffer("first_row"),
        allowed,
        query,
        floor,
        budget,
    )
    return ArmList(memories, scores, rows)


def compare(
    view: View,
    first_row: int,
    end_row: int,
    query: npt.NDArray[np.float32],
    allowed: Mask,
    floor: float,
    budget: int,
) -> ArmList:
    """Rank the memories of rows [first_row, end_row) by the cascade: one bit, four bits, exact.

    If there are few rows, all are compared exactly. The result depends only on the rows, the query
    and ``allowed``.
    """
    if end_row - first_row <= CASCADE_ROWS:
        return scan(view, first_row, end_row, query, allowed, floor, budget)
    proposed, scored = cascade_sizes(budget)
    codes, steps, *_ = view.four_bits
    memories, rows, scores = cascade_top(
        view.vectors,
        codes,
        steps,
        view.one_bit,
        first_row,
        end_row,
        view.memory_of_row,
        view.buffer("first_row"),
        allowed,
        query,
        floor,
        budget,
        proposed,
        scored if view.rows == view.memories else proposed,
    )
    return ArmList(memories, scores, rows)


def cascade_sizes(budget: int) -> tuple[int, int]:
    """Return how many rows one bit proposes for so many wanted, and how many are scored."""
    return max(LIKELY, LIKELY_EACH * budget), SCORED + int(SCORED_EACH * budget)


def best_passages(
    view: View,
    rows: npt.NDArray[np.uint32],
    query: npt.NDArray[np.float32],
    allowed: Mask,
    floor: float,
    budget: int,
) -> ArmList:
    """Return the best memories of ``rows`` that are allowed and reach a cosine of ``floor``."""
    memories, best, scores = best_of_rows(
        view.vectors, rows, view.memory_of_row, allowed, query, floor, budget
    )
    return ArmList(memories, scores, best)


def _merge(parts: list[ArmList], budget: int) -> ArmList:
    """Return the best ``budget`` memories of several lists, each once, with its best row."""
    memories = np.concatenate([part.memories for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    rows = np.concatenate([part.rows for part in parts])
    order = np.lexsort((rows, memories, -scores))
    memories = memories[order]
    scores = scores[order]
    rows = rows[order]
    _, first = np.unique(memories, return_index=True)
    first.sort()
    first = first[:budget]
    return ArmList(memories[first], scores[first], rows[first])
