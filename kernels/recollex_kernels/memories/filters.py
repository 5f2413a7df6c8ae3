"""Masks over memories: each kernel clears the entries of ``out`` that fail its condition.

Every kernel takes columns of n memories and ``out`` uint8[n] of 0 and 1, changed in place by AND,
so conditions combine by calling one after another on a mask that starts as all ones. Kernels with
another ``mask`` do not change it, and cost what they keep.
Cost of the others: O(n), no allocation. Inputs may be read-only maps.
"""

import numpy as np

from recollex_kernels.machine.bit_masks import TILE, count_bits, lowest, marked
from recollex_kernels.machine.jit import I64, U8, U32, U64, kernel

NONE = np.uint32(0xFFFFFFFF)
RUN = 64
"""Memories in recorded order whose times are summed up together."""


@kernel
def mask_open(closed_by_op: U64, op: int, out: U8) -> None:
    """Keep the memories that no operation up to ``op`` has closed.

    Shapes: closed_by_op uint64[n], the number of the closing operation, 0 while open. A memory
    closed by a later operation than ``op`` is still open in that view.
    """
    limit = np.uint64(op)
    for m in range(out.shape[0]):
        c = closed_by_op[m]
        out[m] &= np.uint8((c == 0) | (c > limit))


@kernel
def open_and_last(closed_by_op: U64, op: int, out: U8) -> tuple[int, int]:
    """Set ``out`` to whether each memory is open at ``op``; return (last, later).

    last: the last operation up to ``op`` that closed a memory, 0 without any. later: how many
    memories operations after ``op`` closed.

    Shapes: closed_by_op uint64[n], as for `mask_open`. Each item is read once, so that the results
    agree where another process changes the items meanwhile.
    """
    limit = np.uint64(op)
    last = np.uint64(0)
    later = 0
    for m in range(out.shape[0]):
        c = closed_by_op[m]
        above = c > limit
        out[m] = np.uint8((c == 0) | above)
        later += above
        if not above:
            last = max(last, c)
    return int(last), later


@kernel
def mask_networks(network: U8, bits: int, out: U8) -> None:
    """Keep the memories whose network's bit is set: bit i of ``bits`` admits network i.

    Shapes: network uint8[n], in [0, 64).
    """
    wanted = np.uint64(bits)
    if count_bits(wanted) == 1:  # compares of bytes, six times as fast
        only = np.uint8(lowest(wanted))
        for m in range(out.shape[0]):
            out[m] &= np.uint8(network[m] == only)
        return
    for m in range(out.shape[0]):
        out[m] &= np.uint8((wanted >> np.uint64(network[m])) & np.uint64(1))


@kernel
def mask_overlap(start: I64, end: I64, since: int, until: int, out: U8) -> None:
    """Keep the memories whose interval meets the half-open range [since, until).

    An interval [start, end) meets it if start < until and end > since. An empty interval
    (end <= start) is an instant and meets it if since <= start < until.

    Shapes: start, end int64[n], microseconds; end is exclusive, open end = max int64.
    """
    for m in range(out.shape[0]):
        s = start[m]
        out[m] &= np.uint8((s < until) & ((end[m] > since) | (s >= since)))


@kernel
def extremes_of_runs(start: I64, end: I64) -> I64:
    """Return the earliest start, the latest start and the latest end of each ``RUN`` of memories.

    Shapes: start, end int64[n], n a multiple of ``RUN``; returned int64[3, n / RUN].
    """
    runs = start.shape[0] // RUN
    out = np.empty((3, runs), np.int64)
    for r in range(runs):
        low = r * RUN
        first = start[low]
        latest = start[low]
        last = end[low]
        for m in range(low + 1, low + RUN):
            first = min(first, start[m])
            latest = max(latest, start[m])
            last = max(last, end[m])
        out[0, r] = first
        out[1, r] = latest
        out[2, r] = last
    return out


@kernel
def overlap_of_runs(
    firsts: I64,
    latests: I64,
    lasts: I64,
    start: I64,
    end: I64,
    since: int,
    until: int,
    mask: U8,
    out: U8,
) -> None:
    """Set ``out`` to ``mask`` narrowed as by `mask_overlap`; runs outside the range are skipped.

    Shapes: firsts, latests, lasts int64[r], from `extremes_of_runs`, perhaps of more than the n
    memories; start, end int64[n]; mask, out uint8[n]; out holds zeros.

    Cost: O(n / RUN), and O(RUN) for each run that may meet the range.
    """
    n = out.shape[0]
    for low in range(0, n, RUN):
        high = min(low + RUN, n)
        r = low // RUN
        if high - low == RUN and (firsts[r] >= until or (lasts[r] <= since and latests[r] < since)):
            continue
        if high - low == RUN and firsts[r] >= since and latests[r] < until:  # all of it meets it
            for i in range(RUN):
                out[np.uint64(low + i)] = mask[np.uint64(low + i)]
            continue
        part = out[low:high]
        part[:] = mask[low:high]
        mask_overlap(start[low:high], end[low:high], since, until, part)


@kernel
def mask_within(
    start: I64, end: I64, least: int, latest: int, earliest: int, last: int, out: U8
) -> None:
    """Keep the memories with least <= start <= latest and earliest <= end <= last.

    Shapes: start, end int64[n]; out uint8[n].

    Cost: O(n / 64), and O(64) for each 64 that have one still kept.
    """
    n = out.shape[0]
    for low in range(0, n, TILE):
        high = min(low + TILE, n)
        if high - low == TILE and marked(out, low) == 0:
            continue
        starts = start[low:high]
        ends = end[low:high]
        part = out[low:high]
        for m in range(part.shape[0]):  # of their own length, so several are compared at once
            s = starts[m]
            e = ends[m]
            inside = (s >= least) & (s <= latest) & (e >= earliest) & (e <= last)
            part[m] &= np.uint8(inside)


@kernel
def mask_holding(start: I64, end: I64, at: int, out: U8) -> None:
    """Keep the memories that had begun by ``at`` and had not ended: start <= at < end.

    Shapes: start, end int64[n], microseconds; end is exclusive, open end = max int64.
    """
    for m in range(out.shape[0]):
        out[m] &= np.uint8((start[m] <= at) & (end[m] > at))


@kernel
def mask_labels(offsets: U64 | I64, labels: U32, wanted: U32, out: U8) -> None:
    """Keep the memories that carry every wanted label (tags, entities).

    Shapes, for L labels in all, W wanted:
        offsets  int64 or uint64[n+1]  labels of memory m are labels[offsets[m]:offsets[m+1]]
        labels   uint32[L]             in any order within a memory, may repeat
        wanted   uint32[W]             W = 0 keeps every memory

    Cost: O(labels of the memories still kept * W).
    """
    for m in range(out.shape[0]):
        if out[m] == 0:
            continue
        first = np.int64(offsets[m])
        end = np.int64(offsets[m + 1])
        own = labels[first:end]
        for want in wanted:
            found = False
            for label in own:
                if label == want:
                    found = True
                    break
            if not found:
                out[m] = 0
                break


@kernel
def keep_listed(listed: U32, mask: U8, out: U8) -> None:
    """Set ``out`` to the mask of the listed memories: those of ``mask``, before its end.

    Shapes: listed uint32[], ascending; mask, out uint8[n]; out holds zeros.

    Cost: O(listed), whatever n is.
    """
    for i in range(listed.shape[0]):
        m = np.uint64(listed[i])
        if m >= np.uint64(mask.shape[0]):
            return
        out[m] = mask[m]


@kernel
def keep_chain(head: int, previous: U32, memory: U32, mask: U8, out: U8) -> None:
    """Set ``out`` to the mask of the memories along a chain: those of ``mask``, before its end.

    Shapes: ``head`` an entry, or NONE; previous, memory uint32[], of each entry the one before and
    its memory; mask, out uint8[n]; only entries of the chain change in ``out``.

    Cost: O(entries of the chain).
    """
    entry = np.uint32(head)
    while entry != NONE:
        m = memory[entry]
        if m < mask.shape[0]:
            out[m] = mask[m]
        entry = previous[entry]


@kernel
def mask_equal(values: U32, wanted: int, out: U8) -> None:
    """Keep the memories whose value is ``wanted`` (a document, a context).

    Shapes: values uint32[n].
    """
    want = np.uint32(wanted)
    for m in range(out.shape[0]):
        out[m] &= np.uint8(values[m] == want)
