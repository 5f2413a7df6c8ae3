"""The features of a candidate: each is a kernel that fills one column of the table.

`FEATURES` names them in the order in which they are added. A score is the sum over the features of
weight times column, see `scores_of`. A new feature is one kernel and one line of `FEATURES` here,
and one line of `recollex_engine.ranking.contextual_fusion.Contextual`, which gives it its weight.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from recollex_kernels.fusing.inputs import Cues, Members, Moment, Now, Span, Talk, Texts
from recollex_kernels.graph.association import Associated
from recollex_kernels.machine.exp import exp
from recollex_kernels.machine.jit import F64, I64, U8, U32, U64, kernel
from recollex_kernels.machine.memory_access import prefetch
from recollex_kernels.machine.top_k import best_first, strongest

# How near in time is each memory to the best others?
_BLOCK = 16  # times that are near or far together
_AGREED = 1.5  # weight of the first two anchors
_FAR = 8.0  # widths of a moment beyond which it has ended: e^(-32) is left out


@kernel
def _distinct(said_at: I64) -> tuple[F64, I64]:
    """Return the times without repetitions side by side, and of each memory the place of its own.

    Chats are dated by the minute, and what is near in time stands side by side.
    """
    n = said_at.shape[0]
    times = np.empty(n, np.float64)
    place = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        if i == 0 or said_at[i] != said_at[i - 1]:
            times[count] = said_at[i]
            count += 1
        place[i] = count - 1
    return times[:count], place


@kernel
def _near_blocks(first: F64, last: F64, t: float, far: float, out: I64) -> int:
    """Return how many runs of blocks are not far from ``t``: from out[2 r] to before out[2 r + 1].

    Shapes, for b blocks: first, last float64[b], their earliest and latest; out int64[>= b + 1].
    """
    ends = 0
    inside = False
    for block in range(first.shape[0]):
        is_near = t - last[block] <= far and first[block] - t <= far
        if is_near != inside:
            out[ends] = block
            ends += 1
            inside = is_near
    if inside:
        out[ends] = first.shape[0]
        ends += 1
    return ends // 2


@kernel
def _affinities(times: F64, anchors: F64, width: float) -> F64:
    """Return, for each time, the sum over anchors i from 1 of exp(-(t - t_i)^2 / (2 width^2)) / i.

    An anchor farther than ``_FAR`` widths adds nothing.
    """
    n = times.shape[0]
    blocks = (n + _BLOCK - 1) // _BLOCK
    first = np.empty(blocks, np.float64)
    last = np.empty(blocks, np.float64)
    for block in range(blocks):
        part = times[block * _BLOCK : (block + 1) * _BLOCK]
        first[block] = last[block] = part[0]
        for j in range(part.shape[0]):
            first[block], last[block] = min(first[block], part[j]), max(last[block], part[j])
    near = np.zeros(n, np.float64)
    ends = np.empty(blocks + 2, np.int64)
    exponents = np.empty(n, np.float64)
    powers = np.empty(n, np.int64)
    values = np.empty(n, np.float64)
    for i in range(anchors.shape[0]):
        t = anchors[i]
        weight = 1.0 / (i + 1)
        for run in range(_near_blocks(first, last, t, _FAR * width, ends)):
            low = ends[2 * run] * _BLOCK
            high = min(ends[2 * run + 1] * _BLOCK, n)
            around = times[low:high]
            part = exponents[low:high]
            value = values[low:high]
            for j in range(around.shape[0]):
                z = (around[j] - t) / width
                part[j] = -0.5 * (z * z)
            exp(part, powers[low:high], value)
            total = near[low:high]
            for j in range(part.shape[0]):
                added = weight * value[j]
                total[j] += added if part[j] >= -0.5 * (_FAR * _FAR) else 0.0
    return near


@kernel
def moments(x: F64, said_at: I64, noted: U8, anchors: int, width: float, burst: float) -> F64:
    """Return how near in time each memory is to the best others, in [0, 1].

    Equation, t_i the time of the i-th of the N = min(anchors, n) greatest x (ties: the earlier
    place), w_i = 1/i, W their sum, A the affinity of SATF 3.3, to an anchor by the others alone:
        A(m) = W / (W - w_m) * sum over i = 1..N, i not m, of  w_i * exp(-(t - t_i)^2 / (2 width^2))
        moment(m) = A(m) / max(greatest A, 1.5)
    with w_m = 0 for a memory that is no anchor. An anchor farther than 8 widths adds nothing.
    What was noted in one burst has only the clock in common: for a note,
        e^(-(t - t_i)^2 / (2 width^2)) - e^(-(t - t_i)^2 / (2 burst^2))
    stands in the place of the first of these, so that an anchor of the same burst adds nothing.

    Why W / (W - w_m)? If an anchor counted as near itself, it would gain from being first. If its
    own weight were only left out, it would lose: the best of memories that were all said at once
    would come last. So its affinity is scaled by the weight of the other anchors.

    Why at least 1.5? It is the weight of the first two anchors. If no moment has as much around
    it, the anchors do not agree on a moment, and it counts for less.

    Shapes: x float64[n], said_at int64[n], noted uint8[n], 1 for a note. ``anchors`` at least 1,
    ``width`` and ``burst`` in microseconds.

    Cost: O(n + N u / 16) and 1.5 ns for each pair of an anchor and one of the u times that differ
    from the one before, whose block of 16 is not far.
    """
    best = strongest(x, anchors)
    times, place = _distinct(said_at)
    around = _affinities(times, times[place[best]], width)
    near = around[place]
    if noted.any():
        at_once = _affinities(times, times[place[best]], burst)
        for i in range(near.shape[0]):
            if noted[i] == 1:
                near[i] = max(near[i] - at_once[place[i]], 0.0)
    total = 0.0
    for i in range(best.shape[0]):
        total += 1.0 / (i + 1)
    for i in range(best.shape[0]):
        own = 1.0 / (i + 1)
        others = total - own
        beside = near[best[i]] if noted[best[i]] == 1 else max(near[best[i]] - own, 0.0)
        near[best[i]] = beside * total / others if others > 0 else 0.0
    most = _AGREED
    for j in range(near.shape[0]):
        most = max(most, near[j])
    for j in range(near.shape[0]):
        near[j] /= most
    return near


NONE = np.uint32(0xFFFFFFFF)

Seen: TypeAlias = tuple[Members, F64, I64, Associated, Talk, Texts, U32, Span, Cues, Moment, Now]
"""All that a feature may look at: members, x, memories, received, talk, texts, first_row, span,
cues, moment, when.

For m members, n candidates, M memories in all (see `inputs` for the tuples):
    x          float64[m]     share * keyword + semantic of each member
    memories   int64[n]       the candidates, ascending
    received   candidates, each once, and their activation
    first_row  uint32[M+1]    rows of memory m are first_row[m]:first_row[m + 1]
"""


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
def keyword(seen: Seen, out: F64) -> None:
    """Write the candidate's own keyword evidence."""
    _, own, _, places, _ = seen[0]
    for i in range(out.shape[0]):
        out[i] = own[places[i]]


@kernel
def semantic(seen: Seen, out: F64) -> None:
    """Write the candidate's own semantic evidence."""
    _, _, own, places, _ = seen[0]
    for i in range(out.shape[0]):
        out[i] = own[places[i]]


@kernel
def _lend(seen: Seen, side: int, out: F64) -> None:
    """Write the x of each candidate's neighbour on a side: 0 before, 1 after, 2 second before."""
    beside = seen[0][4]
    x = seen[1]
    for i in range(out.shape[0]):
        out[i] = x[beside[i, side]] if beside[i, side] >= 0 else 0.0


@kernel
def before(seen: Seen, out: F64) -> None:
    """Write the x of what stands before it in its document; 0 without such a memory."""
    _lend(seen, 0, out)


@kernel
def after(seen: Seen, out: F64) -> None:
    """Write the x of what stands after it in its document; 0 without such a memory."""
    _lend(seen, 1, out)


@kernel
def before_two(seen: Seen, out: F64) -> None:
    """Write the x of the second memory before it; 0 in a monologue.

    That is where the first one has the speaker of the candidate.
    """
    ids, _, _, places, beside = seen[0]
    speaker = seen[4][2]
    _lend(seen, 2, out)
    for i in range(out.shape[0]):
        if beside[i, 0] >= 0:
            own = speaker[ids[places[i]]]
            if own != NONE and own == speaker[ids[beside[i, 0]]]:
                out[i] = 0.0


@kernel
def document(seen: Seen, out: F64) -> None:
    """Write the greatest x among the members of its document, see `best_of_document`."""
    ids, _, _, places, _ = seen[0]
    best = best_of_document(seen[4][0][ids], seen[1])
    for i in range(out.shape[0]):
        out[i] = best[places[i]]


@kernel
def question(seen: Seen, out: F64) -> None:
    """Write 1 if it ends with a question mark, see `asks`."""
    text, text_offset, _, _ = seen[5]
    out[:] = asks(seen[2], text, text_offset)


@kernel
def answer(seen: Seen, out: F64) -> None:
    """Write 1 if the member before it ends with a question mark."""
    ids, _, _, _, beside = seen[0]
    text, text_offset, _, _ = seen[5]
    earlier = np.empty(out.shape[0], np.int64)
    for i in range(out.shape[0]):
        earlier[i] = -1 if beside[i, 0] < 0 else np.int64(ids[beside[i, 0]])
    out[:] = asks(earlier, text, text_offset)


@kernel
def brevity(seen: Seen, out: F64) -> None:
    """Write what a text of so many words is worth; the last entry for more words."""
    memories = seen[2]
    _, _, words, worth = seen[5]
    for i in range(out.shape[0]):
        out[i] = worth[min(np.int64(words[memories[i]]), worth.shape[0] - 1)]


@kernel
def speaker(seen: Seen, out: F64) -> None:
    """Write 1 if its speaker is one of ``named``."""
    memories = seen[2]
    said_by = seen[4][2]
    named = seen[8][0]
    for i in range(out.shape[0]):
        for s in range(named.shape[0]):
            if said_by[memories[i]] == named[s]:
                out[i] = 1.0


@kernel
def association(seen: Seen, out: F64) -> None:
    """Write its activation, 0 where it received none."""
    associated, activation = seen[3]
    places = np.searchsorted(seen[2], associated)
    for i in range(associated.shape[0]):
        out[places[i]] = activation[i]


@kernel
def moment(seen: Seen, out: F64) -> None:
    """Write how near in time it is to the best others, see `moments`; a note has no speaker."""
    places = seen[0][3]
    said_at = seen[4][1]
    noted = (seen[4][2][seen[2]] == NONE).astype(np.uint8)
    anchors, width, burst = seen[9]
    out[:] = moments(seen[1][places], said_at[seen[2]], noted, anchors, width, burst)


@kernel
def in_range(seen: Seen, out: F64) -> None:
    """Write 1 if its event overlaps [start, end)."""
    memories = seen[2]
    event_start, event_end, start, end = seen[7]
    for i in range(out.shape[0]):
        since = event_start[memories[i]]
        until = event_end[memories[i]]
        out[i] = 1.0 if since < end and (until > start or since >= start) else 0.0


@kernel
def dated(seen: Seen, out: F64) -> None:
    """Write 1 if its event does not start when it was said."""
    memories = seen[2]
    said_at = seen[4][1]
    event_start = seen[7][0]
    for i in range(out.shape[0]):
        out[i] = 1.0 if event_start[memories[i]] != said_at[memories[i]] else 0.0


@kernel
def recency(seen: Seen, out: F64) -> None:
    """Write e^(-max(now - said_at, 0) / recent)."""
    memories = seen[2]
    said_at = seen[4][1]
    now, recent = seen[10]
    ages = np.empty(out.shape[0], np.float64)
    for i in range(out.shape[0]):
        ages[i] = -max(now - said_at[memories[i]], 0) / recent
    exp(ages, np.empty(out.shape[0], np.int64), out)


@kernel
def role(seen: Seen, out: F64) -> None:
    """Write 1 if its speaker has the role that is asked about.

    0 for all where no candidate's speaker has another role.
    """
    memories = seen[2]
    of = seen[4][3]
    asked = seen[8][1]
    with_other = False
    for i in range(out.shape[0]):
        with_other |= of[memories[i]] != 0 and of[memories[i]] != asked
    if asked != 0 and with_other:
        for i in range(out.shape[0]):
            out[i] = 1.0 if of[memories[i]] == asked else 0.0


@kernel
def passages(seen: Seen, out: F64) -> None:
    """Write ln(number of its rows) if its speaker has a role.

    0 for all unless candidates' speakers have several roles.
    """
    memories = seen[2]
    of = seen[4][3]
    first_row = seen[6]
    one = np.uint8(0)
    several = False
    for i in range(out.shape[0]):
        own = of[memories[i]]
        several |= one != 0 and own != 0 and own != one
        one = own if one == 0 else one
    if several:
        for i in range(out.shape[0]):
            m = int(memories[i])
            rows = np.float64(first_row[m + 1] - first_row[m])
            out[i] = np.log(rows) if of[m] != 0 else 0.0


FEATURES: Mapping[str, Callable[[Seen, F64], None]] = {
    "keyword": keyword,
    "addressed_keyword": keyword,
    "semantic": semantic,
    "before": before,
    "after": after,
    "before_two": before_two,
    "document": document,
    "question": question,
    "addressed_question": question,
    "answer": answer,
    "brevity": brevity,
    "speaker": speaker,
    "association": association,
    "moment": moment,
    "in_range": in_range,
    "dated": dated,
    "recency": recency,
    "role": role,
    "passages": passages,
}
"""Each feature and the kernel that fills its column, in the order in which they are added."""
NAMES = tuple(FEATURES)
SPEAKER = NAMES.index("speaker")
IN_RANGE = NAMES.index("in_range")
DATED = NAMES.index("dated")


def _filler() -> Callable[[Seen, F64, F64], None]:
    """Return the kernel that fills the columns of all features that have a weight.

    A kernel cannot loop over kernels, so its lines are written here, one for each of `FEATURES`::

        def fill(seen, weights, columns):
            if weights[0] != 0: f0(seen, columns[0])
    """
    lines = ["def fill(seen, weights, columns):"]
    lines += [f"    if weights[{n}] != 0: f{n}(seen, columns[{n}])" for n in range(len(FEATURES))]
    made: dict[str, Any] = {f"f{n}": each for n, each in enumerate(FEATURES.values())}
    made["__name__"] = __name__
    exec("\n".join(lines), made)
    function: Callable[[Seen, F64, F64], None] = made["fill"]
    return kernel(function)


fill = _filler()


@kernel
def scores_of(seen: Seen, weights: F64) -> tuple[F64, F64, I64]:
    """Return what each feature adds to each candidate's score; the scores; the order, best first.

    The sum runs in the order of `FEATURES`. A feature whose weight is 0 is not computed. Ties: the
    newer memory.

    Shapes, for n candidates, P features:
        weights   float64[P]
        returned  float64[P, n], float64[n], int64[n]
    """
    _ask_for(seen, weights)
    n = seen[2].shape[0]
    table = np.zeros((weights.shape[0], n), np.float64)
    fill(seen, weights, table)
    scores = np.zeros(n, np.float64)
    for f in range(weights.shape[0]):
        if weights[f] != 0:
            for i in range(n):
                table[f, i] *= weights[f]
                scores[i] += table[f, i]
    return table, scores, n - 1 - best_first(scores[::-1].copy())


@kernel
def _ask_for(seen: Seen, weights: F64) -> None:
    """Prefetch what the columns read of each candidate."""
    memories = seen[2]
    _, _, said_by, of_role, _ = seen[4]
    text, text_offset, words, _ = seen[5]
    event_start = seen[7][0]
    n = memories.shape[0]
    for i in range(n):
        m = int(memories[i])
        prefetch(text_offset, m + 1)
        prefetch(words, m)
        prefetch(said_by, m)
        prefetch(of_role, m)
        if weights[IN_RANGE] != 0 or weights[DATED] != 0:
            prefetch(event_start, m)
    for i in range(n):  # neighbours stand beside each other, and so do the ends of their texts
        prefetch(text, int(np.int64(text_offset[memories[i] + 1]) - 1))
