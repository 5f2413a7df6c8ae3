"""Circles of speakers: who is linked by talks, at any time of an agent (a union-find forest)."""

from typing import TypeAlias

import numpy as np

from recollex_kernels.machine.jit import U32, kernel

NONE = np.uint32(0xFFFFFFFF)

Circles: TypeAlias = tuple[U32, U32, U32]
"""Which speakers are linked by talks, at any time: above, joined, since; each uint32[labels].

above   the next label towards the root of its circle
joined  the memory with which it was put below that one; NONE for a root
since   the memory with which it first had company; NONE before that

Among the first n memories a speaker has company if ``since`` is below n, and the root of its circle
is met by going ``above`` while ``joined`` is below n. Two speakers are in one circle if they have
one root.
"""


@kernel
def join_circles(
    document: U32,
    speaker: U32,
    first: int,
    out_talker: U32,
    out_size: U32,
    out_above: U32,
    out_joined: U32,
    out_since: U32,
) -> int:
    """Join the circles of those who spoke in one document, from memory ``first`` on.

    Returns how many more circles of at least two speakers there are. A smaller circle is put below
    a greater one, so a root is at most log2(n) steps away. Nothing that was known of fewer memories
    changes.

    Shapes, for M memories and labels below L:
        document, speaker  uint32[M]   a label, or NONE
        out_talker         uint32[L]   of a document, who spoke in it last; NONE
        out_size           uint32[L]   of a root, how many are in its circle
        out_above, out_joined, out_since   see `Circles`
    The out arrays hold what was made of the memories before ``first``; at first sizes are 1, the
    others NONE.

    Cost: O(M - first), and two walks to a root where the speaker changes.
    """
    more = 0
    for m in range(first, speaker.shape[0]):
        d = document[m]
        s = speaker[m]
        if d == NONE or s == NONE:
            continue
        other = out_talker[d]
        out_talker[d] = s
        if other in (NONE, s):
            continue
        a = np.int64(s)
        b = np.int64(other)
        while out_joined[a] != NONE:
            a = np.int64(out_above[a])
        while out_joined[b] != NONE:
            b = np.int64(out_above[b])
        if a == b:
            continue
        if out_size[a] > out_size[b]:
            a, b = b, a
        more += 1 - (out_since[a] != NONE) - (out_since[b] != NONE)
        out_above[a] = np.uint32(b)
        out_size[b] += out_size[a]
        out_joined[a] = np.uint32(m)
        out_since[a] = min(out_since[a], np.uint32(m))
        out_since[b] = min(out_since[b], np.uint32(m))
    return more
