"""Which facts stand after all that they were drawn from? They say nothing new there."""

import numpy as np

from recollex_kernels.machine.jit import I64, U32, kernel

UNREAD = -1
"""What `after_sources` returns if the sources of a memory are not known yet."""


@kernel
def after_sources(memories: U32, head: int, sources: tuple[U32, U32], ids: U32, out: I64) -> int:
    """Write the places of a list in which such facts follow the others; return how many there are.

    A fact among the first ``head`` memories is such a one if each of its sources is the id of a
    memory before it. They stand in their order after the others of the head; what is after the
    head stays. Returns `UNREAD` for a head with a memory whose sources are not known; then ``out``
    means nothing.

    Shapes:
        memories  uint32[n]    best first
        sources   (first, flat): first[m] is 1 + the place in flat of how many sources memory m
                  has, which are behind that; 0 or beyond the end of ``first``: not known
        ids       uint32       the id of each memory
        out       int64[n]     changed in place

    Cost: O(head * sources), and O(head) for each source; 1 us for 40 memories.
    """
    first, flat = sources
    n = memories.shape[0]
    head = min(head, n)
    leading = 0
    behind = 0
    later = np.empty(head, np.int64)
    for place in range(head):
        memory = memories[place]
        if memory >= first.shape[0] or first[memory] == 0:
            return UNREAD
        at = np.int64(first[memory]) - 1
        count = np.int64(flat[at])
        known = 0
        for source in flat[at + 1 : at + 1 + count]:
            for before in memories[:place]:
                if ids[before] == source:
                    known += 1
                    break
        if count > 0 and known == count:
            later[behind] = place
            behind += 1
        else:
            out[leading] = place
            leading += 1
    for place in range(behind):
        out[leading + place] = later[place]
    for place in range(head, n):
        out[place] = place
    return behind
