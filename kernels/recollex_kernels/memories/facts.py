"""Facts: which versions meet all conditions, and their properties, read in one pass."""

from typing import TypeAlias

import numpy as np

from recollex_kernels.machine.jit import F64, I64, U8, U32, U64, kernel
from recollex_kernels.machine.memory_access import copy_bytes, prefetch
from recollex_kernels.memories.filters import NONE

SUBJECT, KIND, OBJECT, PREDICATE, ZONE, START, END, RECORDED, CLOSED, CITED = range(10)
"""Rows of the numbers that `gather_facts` returns."""

Parts: TypeAlias = tuple[U32, U32, U8, I64, U32, U32]
"""What is said: id, subject, kind and number of the object, predicate, zone [N]."""

Times: TypeAlias = tuple[I64, I64, U64, U64, I64]
"""When: start, end, op, closed_by [N]; recorded int64[O], of operation op from 1 on."""

Evidence: TypeAlias = tuple[U64, U32, U32]
"""What it rests on: where the memories of each end [N]; memories [E]; id of each memory [M]."""

Strings: TypeAlias = tuple[U8, I64]
"""Strings by number: heap uint8[], in UTF-8, one after another; where each ends [S]."""

Columns: TypeAlias = tuple[Parts, Times, F64, Evidence, U32, Strings, Strings, Strings]
"""What versions are made of: the columns above, with confidence float64[N] after times; the label
of each entity uint32[]; the strings of ids of facts, of labels and of ids of memories."""


@kernel
def _first(ends: I64, number: int) -> int:
    """Return where a string begins."""
    return int(ends[number - 1]) if number > 0 else 0


@kernel
def _ask_for_strings(strings: Strings, numbers: I64, first: int, end: int, skipped: int) -> int:
    """Prefetch some strings, all but their first bytes; return how many bytes they have."""
    heap, ends = strings
    size = 0
    for i in range(first, end):
        if numbers[i] >= 0:
            start = _first(ends, numbers[i]) + skipped
            prefetch(heap, start)
            size += max(0, ends[numbers[i]] - start)
    return size


@kernel
def _copy_strings(
    strings: Strings,
    numbers: I64,
    first: int,
    end: int,
    skipped: int,
    at: int,
    out: U8,
    out_ends: I64,
) -> int:
    """Write strings to ``out`` from ``at`` on, and where each ends; return the end of the last."""
    heap, ends = strings
    for i in range(first, end):
        if numbers[i] >= 0:
            start = _first(ends, numbers[i]) + skipped
            size = max(0, ends[numbers[i]] - start)
            copy_bytes(out, at, heap, start, size)
            at += size
        out_ends[i] = at
    return at


@kernel
def gather_facts(
    versions: I64,
    columns: Columns,
    before: int,
    entity: int,
    skipped: int,
) -> tuple[I64, F64, U8, I64]:
    """Return numbers of some versions of facts, their confidence, and strings.

    The numbers: in rows that the constants above name; of the operation that closed a version 0 if
    it is later than ``before``; CITED: how many memories it rests on. The strings: of each version
    the id; then of each the first name of the subject; then of each that of the object, empty
    unless its kind is ``entity``; then the ids of the memories. Next, where each ends. The first
    ``skipped`` bytes of names are left out.

    Shapes, for N versions, n asked for (see the tuples):
        versions    int64[n]    in [0, N)
        returned    int64[10, n], float64[n], uint8[], int64[3 n + memories]

    Cost: O(n), 100 bytes here and there for each, and its strings.
    """
    parts, times, confidence, evidence, entity_label, fact_ids, labels, ids = columns
    id, subject, kind, number, predicate, zone = parts
    start, end, op, closed_by, recorded = times
    ends, cited, id_of_memory = evidence
    n = versions.shape[0]
    for i in range(n):  # they lie anywhere, and waiting costs most
        v = versions[i]
        for column in (id, subject, predicate, zone):
            prefetch(column, v)
        for longs in (number, start, end):
            prefetch(longs, v)
        for unsigned in (op, closed_by, ends):
            prefetch(unsigned, v)
        prefetch(kind, v)
        prefetch(confidence, v)
    found = np.empty((10, n), np.int64)
    sure = np.empty(n, np.float64)
    memories = 0
    for i in range(n):
        v = versions[i]
        found[SUBJECT, i] = subject[v]
        found[KIND, i] = kind[v]
        found[OBJECT, i] = number[v]
        found[PREDICATE, i] = predicate[v]
        found[ZONE, i] = zone[v]
        found[START, i] = start[v]
        found[END, i] = end[v]
        sure[i] = confidence[v]
        first = ends[v - 1] if v > 0 else np.uint64(0)
        found[CITED, i] = np.int64(ends[v]) - np.int64(first)
        memories += found[CITED, i]
        prefetch(recorded, int(op[v]) - 1)
        prefetch(fact_ids[1], id[v])
        prefetch(entity_label, subject[v])
        if kind[v] == entity:
            prefetch(entity_label, number[v])
        prefetch(cited, int(first))
    numbers = np.full(3 * n + memories, -1, np.int64)
    to = 3 * n
    for i in range(n):
        v = versions[i]
        closed = np.int64(closed_by[v])
        found[RECORDED, i] = recorded[np.int64(op[v]) - 1]
        found[CLOSED, i] = closed if closed <= before else 0
        numbers[i] = id[v]
        numbers[n + i] = entity_label[subject[v]]
        prefetch(labels[1], numbers[n + i])
        if kind[v] == entity:
            numbers[2 * n + i] = entity_label[number[v]]
            prefetch(labels[1], numbers[2 * n + i])
        first = np.int64(ends[v]) - found[CITED, i]
        for place in range(first, first + found[CITED, i]):
            numbers[to] = id_of_memory[cited[place]]
            prefetch(ids[1], numbers[to])
            to += 1
    size = _ask_for_strings(fact_ids, numbers, 0, n, 0)
    size += _ask_for_strings(labels, numbers, n, 3 * n, skipped)
    size += _ask_for_strings(ids, numbers, 3 * n, to, 0)
    strings = np.empty(size, np.uint8)
    stops = np.empty(to, np.int64)
    at = _copy_strings(fact_ids, numbers, 0, n, 0, 0, strings, stops)
    at = _copy_strings(labels, numbers, n, 3 * n, skipped, at, strings, stops)
    _copy_strings(ids, numbers, 3 * n, to, 0, at, strings, stops)
    return found, sure, strings, stops


# Which versions of facts meet all conditions? One pass over candidates, until there are enough.
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
