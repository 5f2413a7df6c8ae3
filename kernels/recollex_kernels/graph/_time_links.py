"""Which memories are the nearest in time? Temporal links are computed, not stored."""

import numpy as np

from recollex_kernels.graph.links import Times
from recollex_kernels.machine.jit import F32, U8, U32, kernel

NONE = np.uint32(0xFFFFFFFF)
_FLOOR = np.float32(0.3)  # the least weight of a temporal link


@kernel
def near_in_time(
    memory: np.int64,
    times: Times,
    window_us: int,
    hub: int,
    allowed: U8,
    end: int,
    out_memories: U32,
    out_weights: F32,
) -> int:
    """Return how many temporal neighbours were written to ``out_memories``, nearest first."""
    time_order, time_rank, event_at = times
    n = 0
    if memory >= time_rank.shape[0] or time_rank[memory] == NONE:
        return n
    size = np.int64(time_order.shape[0])
    when = event_at[memory]
    left = right = np.int64(time_rank[memory])
    next_left = next_right = True
    seen_left = seen_right = before = 0
    while n < out_memories.shape[0]:
        if next_left:  # the next allowed memory before, -1 if none is within the window
            next_left = False
            left -= 1
            while left >= 0:
                m = time_order[left]
                if m < end:
                    if seen_left == hub or when - event_at[m] >= window_us:
                        left = np.int64(-1)
                        break
                    seen_left += 1
                    if allowed[m] != 0:
                        break
                left -= 1
        if next_right:  # and after, ``size`` if none is
            next_right = False
            right += 1
            while right < size:
                m = time_order[right]
                if m < end:
                    if seen_right == hub or event_at[m] - when >= window_us:
                        right = size
                        break
                    seen_right += 1
                    if allowed[m] != 0:
                        break
                right += 1
        if left >= 0 and right < size:
            closer = (when - event_at[time_order[left]]) - (event_at[time_order[right]] - when)
            next_left = bool(closer < 0 or (closer == 0 and before < n - before))
        elif left >= 0 or right < size:
            next_left = bool(left >= 0)
        else:
            break
        next_right = not next_left
        before += next_left
        m = time_order[left if next_left else right]
        far = np.float64(abs(event_at[m] - when)) / np.float64(window_us)
        out_memories[n] = m
        out_weights[n] = max(_FLOOR, np.float32(1.0 - far))
        n += 1
    return n
