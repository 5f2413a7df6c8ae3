"""Which versions of facts meet all conditions? One pass over candidates, until there are enough."""

from typing import TypeAlias

import numpy as np

from recollex_kernels.machine.jit import I64, U8, U32, U64, kernel
from recollex_kernels.memories.filters import NONE

RUN = 64
"""Candidates in the order of a column whose extremes of another column are kept."""

_OPEN = np.int64(2**63 - 1)  # the greatest bound; its negative is the least

Facts: TypeAlias = tuple[U64, I64, I64, U32, U32, U8, I64]
"""Columns of versions: closed by, start, end, subject, predicate, kind and number of the object."""


@kernel
def extremes_in_order(values: I64, order: U32) -> I64:
    """Return the least and the greatest value of each whole ``RUN`` of candidates.

    Shapes: values int64[n]; order uint32[m], in [0, n); returned int64[2, m / RUN].
    """
    runs = order.shape[0] // RUN
    out = np.empty((2, runs), np.int64)
    for r in range(runs):
        least = greatest = values[order[r * RUN]]
        for i in range(r * RUN + 1, (r + 1) * RUN):
            value = values[order[i]]
            least = min(least, value)
            greatest = max(greatest, value)
        out[0, r] = least
        out[1, r] = greatest
    return out


@kernel
def first_at_least(values: I64 | U32, order: U32, bound: int) -> int:
    """Return the first place in ``order``, which sorts ``values``, of a value >= ``bound``.

    Shapes: values int64[n] or uint32[n]; order uint32[m]. Cost: O(log m).
    """
    low = 0
    high = order.shape[0]
    while low < high:
        middle = (low + high) // 2
        if values[order[middle]] < bound:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def walk_chain(head: int, previous: U32, out: U32) -> int:
    """Write the entries of a chain, newest first, until ``out`` is full; return how many.

    Shapes: head an entry, or NONE; previous uint32[n]; out uint32[m]. Cost: O(entries written).
    """
    entry = np.uint32(head)
    found = 0
    while entry != NONE and found < out.shape[0]:
        out[found] = entry
        found += 1
        entry = previous[entry]
    return found


@kernel
def _among(value: int, wanted: I64) -> bool:
    """Return whether a value is one of ``wanted``, or if any will do, as it is empty."""
    for i in range(wanted.shape[0]):
        if wanted[i] == value:
            return True
    return bool(wanted.shape[0] == 0)


@kernel
def select_facts(
    facts: Facts,
    wanted: I64,
    subjects: I64,
    objects: I64,
    order: U32,
    extremes: I64,
    bounds: I64,
    most: int,
    out: U32,
) -> int:
    """Write the first ``most`` candidates that meet all conditions, in order; return how many.

    Shapes, for n versions and m candidates:
        facts     seven columns of at least n versions, see `Facts`
        wanted    int64[8]: operation, n, least and greatest start, least and greatest end,
                  predicate or -1, kind of the object or -1
        subjects, objects  int64[]: the version has one of them; empty: any
        order     uint32[m]: the candidates; empty: all versions, by their numbers
        extremes  int64[2, r], from `extremes_in_order`, or int64[2, 0]
        bounds    int64[5]: the first place and the end of those looked at; 1 to look backwards;
                  least and greatest that ``extremes`` must hold
        out       uint32[]: nothing is written beyond its end

    A version meets the operation if it was not closed by it, or by an earlier one.

    Cost: O(candidates looked at), less the runs outside ``bounds``.
    """
    closed, start, end, subject, predicate, kind, number = facts
    op = np.uint64(wanted[0])
    count = wanted[1]
    of_predicate = wanted[6]
    of_kind = wanted[7]
    start_low = wanted[2]
    start_high = wanted[3]
    end_low = wanted[4]
    end_high = wanted[5]
    first = bounds[0]
    last = bounds[1] - 1
    backwards = bounds[2] == 1
    low = bounds[3]
    high = bounds[4]
    runs = extremes.shape[1]
    listed = order.shape[0] > 0
    step = -1 if backwards else 1
    timed = max(start_low, end_low) > -_OPEN or min(start_high, end_high) < _OPEN
    found = 0
    room = out.shape[0]
    at = last if backwards else first
    while first <= at <= last and found < most:
        run = at // RUN
        final = max(first, run * RUN) if backwards else min(last, run * RUN + RUN - 1)
        if run < runs and (extremes[0, run] > high or extremes[1, run] < low):
            at = final + step
            continue
        for i in range(at, final + step, step):
            v = np.uint64(order[np.uint64(i)]) if listed else np.uint64(i)
            if v >= np.uint64(count):
                continue
            if of_predicate >= 0 and predicate[v] != of_predicate:
                continue
            if timed:
                s = start[v]
                if s < start_low or s > start_high:
                    continue
                e = end[v]
                if e < end_low or e > end_high:
                    continue
            c = closed[v]
            if c != 0 and c <= op:
                continue
            if of_kind >= 0 and kind[v] != of_kind:
                continue
            if not (_among(int(subject[v]), subjects) and _among(int(number[v]), objects)):
                continue
            if found < room:
                out[found] = np.uint32(v)
            found += 1
            if found >= most:
                break
        at = final + step
    return found
