"""The candidates of a recall, their neighbours, and the keyword and semantic evidence of each."""

from typing import TypeAlias

import numpy as np

from recollex_kernels.fusing.inputs import Candidates, Members, Question, Strangers, Talk, Weighed
from recollex_kernels.graph.circles import NONE
from recollex_kernels.machine.bit_masks import Bits, bitmap, listed, mark, place_of
from recollex_kernels.machine.jit import F32, F64, I64, U8, U32, kernel
from recollex_kernels.machine.memory_access import prefetch, prefetch_row
from recollex_kernels.machine.top_k import strongest
from recollex_kernels.vectors.similarity import similarity
from recollex_kernels.words.memory_scores import scores_among


# Which memories stand around one in its document?
@kernel
def neighbours(
    memories: U32, document: U32, said_at: I64, visible: U8, reach: int, window: int
) -> I64:
    """Return the memories around each one in its document: one and two before, one and two after.

    A neighbour has the same document, which is not NONE, is visible, stands at most ``reach``
    places away in recorded order (other documents may be written in between) and was said at most
    ``window`` away from the memory in time.

    Shapes, for n memories, M in all:
        memories  uint32[n]        in [0, M)
        document  uint32[M]        a label, or NONE
        said_at   int64[M]         microseconds
        visible   uint8[M]
        returned  int64[n, 4]      before, after, second before, second after; -1 for none

    Cost: O(n * reach) at worst, O(n) where a document is written in one go.
    """
    found = np.full((memories.shape[0], 4), -1, np.int64)
    for i in range(memories.shape[0]):
        prefetch(document, int(memories[i]))
        prefetch(said_at, int(memories[i]))
        prefetch(visible, int(memories[i]))
    for i in range(memories.shape[0]):
        m = np.int64(memories[i])
        label = document[m]
        if label == NONE:
            continue
        for side in range(2):
            step = -1 if side == 0 else 1
            met = 0
            other = m + step
            while met < 2 and 0 <= other < document.shape[0] and abs(other - m) <= reach:
                if document[other] == label and visible[other] == 1:
                    if abs(said_at[other] - said_at[m]) > window:
                        break
                    found[i, 2 * met + side] = other
                    met += 1
                other += step
    return found


_AHEAD = 16  # rows prefetched ahead: they lie anywhere, and waiting costs most
_SEEN = 32  # rows whose pages are touched before that: a page used for the first time costs as much


Around: TypeAlias = tuple[int, int, int]
"""Where neighbours are looked for: widened, reach, window.

widened  of this many of the best candidates, the neighbours become candidates too
reach, window   as for `neighbours`
"""


@kernel
def _lower(memories: U32, chosen: U8, strangers: Strangers, semantic: F64) -> None:
    """Lower the evidence of the memories ``chosen`` that people of other circles said."""
    speaker, (above, joined, since), end, roots, less = strangers
    if roots.shape[0] == 0:
        return
    for i in range(memories.shape[0]):
        root = speaker[memories[i]]
        if chosen[i] == 0 or root == NONE or since[root] >= end:
            continue
        while joined[root] < end:
            root = above[root]
        place = 0
        while place < roots.shape[0] and roots[place] != root:
            place += 1
        semantic[i] -= less[place]


@kernel
def _weigh(
    bits: Bits, before: U32, memories: U32, known: Weighed, told: F32, question: Question
) -> tuple[F64, F64]:
    """Return the evidence of ``memories``; that of ``known``, some of them, is copied.

    bits, before, memories: a set, and what `listed` returns of it.
    told: the greatest similarity of each of ``memories``, NaN where it is to be computed; or empty.
    """
    asked, scale, vectors, first_row, query, zero, unit, strangers = question
    known_memories, known_keyword, known_semantic = known
    n = memories.shape[0]
    keyword = np.zeros(n, np.float64)
    semantic = np.zeros(n, np.float64)
    new = np.empty(n, np.int64)
    is_new = np.ones(n, np.uint8)
    if strangers[3].shape[0] > 0:
        for i in range(n):
            prefetch(strangers[0], int(memories[i]))
    for j in range(known_memories.shape[0]):
        place = place_of(bits, before, int(known_memories[j]))
        keyword[place] = known_keyword[j]
        semantic[place] = known_semantic[j]
        is_new[place] = 0
    count = 0
    for i in range(n):  # without a branch on which are new
        new[count] = i
        count += is_new[i]
    if asked[-2].shape[0] > 0 and count > 0:
        scores = scores_among(bits, before, memories, new[:count], first_row, asked)
        for j in range(count):
            keyword[new[j]] = np.float64(scores[j]) * scale
    if query.shape[0] == 0:
        _lower(memories, is_new, strangers, semantic)
        return keyword, semantic
    if told.shape[0] > 0:
        left = 0
        for i in new[:count]:
            if np.isnan(told[i]):
                new[left] = i
                left += 1
            else:
                semantic[i] = max((np.float64(told[i]) - zero) / unit, -1.0)
        count = left
    rows = np.empty(count, np.uint32)
    ends = np.empty(count, np.uint32)
    for j in range(count):
        m = np.int64(memories[new[j]])
        rows[j] = first_row[m]
        ends[j] = first_row[m + 1]
    flat = vectors.reshape(-1)
    width = vectors.shape[1]
    for j in range(min(_SEEN, count)):
        prefetch(flat, np.int64(rows[j]) * width)
    for j in range(min(_AHEAD, count)):
        prefetch_row(vectors, rows[j])
    for j in range(count):
        if j + _SEEN < count:
            prefetch(flat, np.int64(rows[j + _SEEN]) * width)
        if j + _AHEAD < count:
            prefetch_row(vectors, rows[j + _AHEAD])
        best = similarity(vectors, rows[j], query)
        for row in range(rows[j] + np.uint32(1), ends[j]):
            best = max(best, similarity(vectors, row, query))
        semantic[new[j]] = max((np.float64(best) - zero) / unit, -1.0)
    _lower(memories, is_new, strangers, semantic)
    return keyword, semantic


@kernel
def weigh(candidates: Candidates, end: int, question: Question) -> Weighed:
    """Return every memory that was found once, ascending, its keyword and its semantic evidence.

    Equation:
        keyword(m)  = (BM25 of m) * scale
        semantic(m) = max((greatest similarity of a row of m and the query - zero) / unit, -1)
                      - less(m)
    each 0 where there are no terms, or ``query`` is empty; less(m) is 0 but for a memory of another
    circle than the named people's, see `Strangers`.

    Shapes: see `Candidates` and `Question`; memories in [0, end).

    Cost: O(end / 64), a similarity for each row that is not ``near``, and `scores_among`.
    """
    found, (near, likeness) = candidates
    first_row = question[3]
    bits = bitmap(end)
    for i in range(found.shape[0]):
        mark(bits, int(found[i]))
    memories, before = listed(bits)
    nothing = np.empty(0, np.float64)
    told = np.full(memories.shape[0], np.nan, np.float32)
    for i in range(near.shape[0]):
        m = np.int64(near[i])
        if first_row[m + 1] - first_row[m] == 1:
            told[place_of(bits, before, int(m))] = likeness[i]
    none = memories[:0], nothing, nothing
    keyword, semantic = _weigh(bits, before, memories, none, told, question)
    return memories, keyword, semantic


@kernel
def surround(
    weighed: Weighed,
    share: float,
    associated: U32,
    talk: Talk,
    allowed: U8,
    around: Around,
    question: Question,
) -> Members:
    """Return all members: the candidates and their neighbours, with evidence and places.

    Candidates are those ``weighed``, ``associated``, and the allowed neighbours of the ``widened``
    best of both by  share * keyword + semantic  (ties: the lower memory). Members are the
    candidates and their neighbours (see `neighbours`), which need not be allowed.

    Shapes, for M memories of the view:
        weighed            from `weigh`
        associated         uint32[]   in any order
        allowed            uint8[M]
        the rest           see `Talk`, `Around`, `Question`

    Cost: O(M / 64), a similarity for each row of what `weigh` has not seen, and the neighbours'.
    """
    found = weighed[0]
    document, said_at, _, _, visible = talk
    widened, reach, window = around
    end = document.shape[0]
    untold = np.empty(0, np.float32)
    bits = bitmap(end)
    for i in range(found.shape[0]):
        mark(bits, int(found[i]))
    for i in range(associated.shape[0]):
        mark(bits, int(associated[i]))
    memories, before = listed(bits)
    keyword, semantic = _weigh(bits, before, memories, weighed, untold, question)
    best = memories[strongest(share * keyword + semantic, widened)]
    near = neighbours(best, document, said_at, visible, reach, window).ravel()
    for i in range(near.shape[0]):
        if near[i] >= 0 and allowed[near[i]] == 1:
            mark(bits, near[i])
    candidates, _ = listed(bits)
    beside = neighbours(candidates, document, said_at, visible, reach, window)[:, :3].copy()
    every = beside.ravel()
    for i in range(every.shape[0]):
        if every[i] >= 0:
            mark(bits, every[i])
    members, before = listed(bits)
    known = memories, keyword, semantic
    keyword, semantic = _weigh(bits, before, members, known, untold, question)
    for i in range(every.shape[0]):
        if every[i] >= 0:
            every[i] = place_of(bits, before, every[i])
    places = np.empty(candidates.shape[0], np.int64)
    for i in range(candidates.shape[0]):
        places[i] = place_of(bits, before, int(candidates[i]))
    return members, keyword, semantic, places, beside
