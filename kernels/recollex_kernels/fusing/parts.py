"""The parts of a candidate's score, which depend on its context (see `parts_of`)."""

import numpy as np

from recollex_kernels.fusing._moments import moments
from recollex_kernels.fusing.inputs import Cues, Members, Moment, Span, Talk, Texts
from recollex_kernels.graph.association import Associated
from recollex_kernels.machine.exp import exp
from recollex_kernels.machine.jit import F64, I64, U8, U32, U64, kernel
from recollex_kernels.machine.prefetch import prefetch
from recollex_kernels.machine.top_k import best_first

NONE = np.uint32(0xFFFFFFFF)
PARTS = (
    "keyword",
    "semantic",
    "before",
    "after",
    "before_two",
    "document",
    "question",
    "answer",
    "brevity",
    "speaker",
    "association",
    "moment",
    "in_range",
    "dated",
    "recency",
    "present",
    "role",
    "passages",
)
"""The parts of a score, in the order in which they are added."""
_KEYWORD = 0
_SEMANTIC = 1
_BESIDE = 2
_DOCUMENT = 5
_QUESTION = 6
_ANSWER = 7
_BREVITY = 8
SPEAKER = 9
_ASSOCIATION = 10
_MOMENT = 11
_IN_RANGE = 12
_DATED = 13
RECENCY = 14
PRESENT = 15
_ROLE = 16
_PASSAGES = 17
CIRCUMSTANTIAL = np.array([_QUESTION, _ANSWER, SPEAKER, _ASSOCIATION, _MOMENT, RECENCY], np.int64)
"""The parts that say nothing of a memory's own content: who said it, when, after what."""


@kernel
def best_of_document(documents: U32, scores: F64) -> F64:
    """Return, for each entry, the greatest score among those of its document; 0 without one.

    Shapes, for n entries: documents uint32[n], a label or NONE; scores float64[n].

    Cost: O(n), by a hash table of at most 4n places.
    """
    n = documents.shape[0]
    bits = 2
    while (1 << bits) < 2 * n:
        bits += 1
    mask = (1 << bits) - 1
    keys = np.full(1 << bits, NONE, np.uint32)
    best = np.zeros(1 << bits, np.float64)
    at = np.full(n, -1, np.int64)
    i = 0
    while i < n:
        first = i
        label = documents[i]
        most = scores[i]
        i += 1
        while i < n and documents[i] == label:  # most stand next to their own
            most = max(most, scores[i])
            i += 1
        if label == NONE:
            continue
        place = ((np.int64(label) * 2654435769) >> 7) & mask  # Knuth's multiplicative hash
        while keys[place] != NONE and keys[place] != label:
            place = (place + 1) & mask
        if keys[place] == NONE or most > best[place]:
            best[place] = most
        keys[place] = label
        at[first:i] = place
    out = np.zeros(n, np.float64)
    for i in range(n):
        if at[i] >= 0:
            out[i] = best[at[i]]
    return out


@kernel
def asks(memories: U32 | I64, text: U8, text_offset: U64) -> U8:
    """Return, for each memory, 1 if its text ends with a question mark, white space aside.

    Question marks are ``?``, the full-width one and the Arabic one, in UTF-8. A memory of -1
    gives 0.

    Shapes: memories int64[n]; text uint8[], all texts one after another; text_offset uint64[M+1].

    Cost: O(n).
    """
    out = np.zeros(memories.shape[0], np.uint8)
    for i in range(memories.shape[0]):
        if memories[i] < 0:
            continue
        first = np.int64(text_offset[memories[i]])
        end = np.int64(text_offset[memories[i] + 1])
        if end > first and 32 < text[end - 1] < 0x80:  # most texts; no branch on the byte
            out[i] = np.uint8(text[end - 1] == 0x3F)
            continue
        while end > first and text[end - 1] in (32, 9, 10, 13):
            end -= 1
        if end > first and text[end - 1] == 0x3F:
            out[i] = 1
        if end - first >= 3 and text[end - 3] == 0xEF and text[end - 2] == 0xBC:
            out[i] = np.uint8(text[end - 1] == 0x9F)
        if end - first >= 2 and text[end - 2] == 0xD8 and text[end - 1] == 0x9F:
            out[i] = 1
    return out


@kernel
def _add(part: F64, number: int, table: F64, scores: F64) -> None:
    """Add a part to the scores, and keep it where there is a table."""
    for i in range(part.shape[0]):
        scores[i] += part[i]
    if table.shape[0] > 0:
        table[number] = part


@kernel
def _lent(x: F64, members: Members, speaker: U32, side: int, out: F64) -> None:
    """Write the x of each candidate's neighbour on a side; 0 without one.

    side: 0 before, 1 after, 2 before_two. The last one is 0 where the neighbour between has the
    speaker of the candidate.
    """
    ids, _, _, places, beside = members
    for i in range(places.shape[0]):
        out[i] = x[beside[i, side]] if beside[i, side] >= 0 else 0.0
        if side == 2 and beside[i, 0] >= 0:
            own = speaker[ids[places[i]]]
            if own != NONE and own == speaker[ids[beside[i, 0]]]:
                out[i] = 0.0


@kernel
def parts_of(
    members: Members,
    share: float,
    received: Associated,
    talk: Talk,
    texts: Texts,
    first_row: U32,
    span: Span,
    cues: Cues,
    moment: Moment,
    ages: F64,
    present: int,
    weights: F64,
    tabled: bool,
) -> tuple[F64, F64, I64]:
    """Return the parts of each candidate's score, weighed; their sum; the order, best first.

    With x = share * keyword + semantic, each part is its weight times
        keyword, semantic                     the candidate's own
        before, after  x of the neighbour, 0 without one
        before_two   x of the second neighbour before; 0 without one, and in a monologue: where the
                     first one has the speaker of the candidate
        document     the greatest x among the members of its document, see `best_of_document`
        question     1 if it ends with a question mark, see `asks`
        answer       1 if the member before it does
        brevity      brevity[words], the last entry for more words
        speaker      1 if its speaker is one of ``named``
        association  its activation, 0 where it is not ``associated``
        moment       see `moments`
        in_range     1 if its event overlaps [start, end)
        dated        1 if its event does not start when it was said
        recency      e^(-its age)
        present      1 if its document is the label ``present``; -1 is no document
        role         1 if its speaker has the role that is asked about; 0 for all where no
                     candidate's speaker has another role
        passages     ln(number of its rows) if its speaker has a role; 0 for all unless candidates'
                     speakers have several roles
    A part whose weight is 0 is not computed. The sum runs in this order. Ties: the newer memory.

    Shapes, for n candidates, P = 18 parts (see `inputs` for the tuples):
        first_row uint32[M+1]    rows of memory m are first_row[m]:first_row[m + 1]
        received  candidates, each once, and their activation
        ages      float64[n], at least 0; of no length where recency has no weight
        weights   float64[P]     in the order of `PARTS`
        returned  float64[P, n], float64[n], int64[n]; the first float64[0, 0] unless ``tabled``
    """
    ids, keyword, semantic, places, beside = members
    document, said_at, speaker, role, _ = talk
    text, text_offset, words, brevity = texts
    event_start, event_end, start, end = span
    named, asked_role = cues
    associated, activation = received
    n = places.shape[0]
    memories = ids[places]
    for i in range(n):
        m = int(memories[i])
        prefetch(text_offset, m + 1)
        prefetch(words, m)
        prefetch(speaker, m)
        prefetch(role, m)
        if weights[_IN_RANGE] != 0 or weights[_DATED] != 0:
            prefetch(event_start, m)
    asked = np.empty(n, np.int64)
    for i in range(n):
        asked[i] = -1 if beside[i, 0] < 0 else np.int64(ids[beside[i, 0]])
    x = share * keyword + semantic
    own = x[places]
    when = said_at[memories]
    for i in range(n):  # neighbours stand beside each other, and so do the ends of their texts
        prefetch(text, int(np.int64(text_offset[memories[i] + 1]) - 1))
    best = best_of_document(document[ids], x)
    at_once = np.zeros(n, np.float64)
    fresh = np.zeros(n, np.float64)
    if weights[_MOMENT] != 0:
        at_once = moments(own, when, moment[0], moment[1])
    if weights[RECENCY] != 0:
        exp(-ages, np.empty(n, np.int64), fresh)
    activated = np.zeros(n, np.float64)
    at_associated = np.searchsorted(memories, associated)
    for i in range(associated.shape[0]):
        activated[at_associated[i]] = activation[i]
    questions = asks(memories, text, text_offset)
    answers = asks(asked, text, text_offset)
    table = np.zeros((weights.shape[0], n) if tabled else (0, 0), np.float64)
    scores = np.zeros(n, np.float64)
    part = np.empty(n, np.float64)
    for i in range(n):
        part[i] = weights[_KEYWORD] * keyword[places[i]]
    _add(part, _KEYWORD, table, scores)
    for i in range(n):
        part[i] = weights[_SEMANTIC] * semantic[places[i]]
    _add(part, _SEMANTIC, table, scores)
    for side in range(3):
        _lent(x, members, speaker, side, part)
        _add(weights[_BESIDE + side] * part, _BESIDE + side, table, scores)
    for i in range(n):
        part[i] = weights[_DOCUMENT] * best[places[i]]
    _add(part, _DOCUMENT, table, scores)
    _add(weights[_QUESTION] * questions, _QUESTION, table, scores)
    _add(weights[_ANSWER] * answers, _ANSWER, table, scores)
    for i in range(n):
        size = min(np.int64(words[memories[i]]), brevity.shape[0] - 1)
        part[i] = weights[_BREVITY] * brevity[size]
    _add(part, _BREVITY, table, scores)
    if named.shape[0] > 0:
        for i in range(n):
            part[i] = 0.0
            for s in range(named.shape[0]):
                if speaker[memories[i]] == named[s]:
                    part[i] = weights[SPEAKER]
        _add(part, SPEAKER, table, scores)
    _add(weights[_ASSOCIATION] * activated, _ASSOCIATION, table, scores)
    if weights[_MOMENT] != 0:
        _add(weights[_MOMENT] * at_once, _MOMENT, table, scores)
    if weights[_IN_RANGE] != 0:
        for i in range(n):
            since = event_start[memories[i]]
            until = event_end[memories[i]]
            inside = since < end and (until > start or since >= start)
            part[i] = weights[_IN_RANGE] if inside else 0.0
        _add(part, _IN_RANGE, table, scores)
    if weights[_DATED] != 0:
        for i in range(n):
            part[i] = weights[_DATED] if event_start[memories[i]] != when[i] else 0.0
        _add(part, _DATED, table, scores)
    if weights[RECENCY] != 0:
        _add(weights[RECENCY] * fresh, RECENCY, table, scores)
    if weights[PRESENT] != 0:
        for i in range(n):
            stands = np.int64(document[memories[i]]) == present
            part[i] = weights[PRESENT] if stands else 0.0
        _add(part, PRESENT, table, scores)
    one = np.uint8(0)
    with_other = False
    several = False
    for i in range(n):
        own_role = role[memories[i]]
        with_other |= own_role != 0 and own_role != asked_role
        several |= one != 0 and own_role != 0 and own_role != one
        one = own_role if one == 0 else one
    if weights[_ROLE] != 0 and asked_role != 0 and with_other:
        for i in range(n):
            part[i] = weights[_ROLE] if role[memories[i]] == asked_role else 0.0
        _add(part, _ROLE, table, scores)
    if weights[_PASSAGES] != 0 and several:
        for i in range(n):
            m = int(memories[i])
            rows = np.float64(first_row[m + 1] - first_row[m])
            part[i] = weights[_PASSAGES] * np.log(rows) if role[m] != 0 else 0.0
        _add(part, _PASSAGES, table, scores)
    return table, scores, n - 1 - best_first(scores[::-1].copy())
