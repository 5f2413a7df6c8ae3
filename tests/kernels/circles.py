"""Circles of speakers for tests of kernels: who is in which, and who is a stranger."""

import numpy as np

from recollex_kernels.graph.circles import NONE, join_circles

PEOPLE = 6


def circle_of(label, end, forest):
    """The root of a speaker's circle among the first memories, by the meaning of the arrays."""
    above, joined, since = forest
    if since[label] >= end:
        return -1
    while joined[label] < end:
        label = int(above[label])
    return label


def circles_of(turn):
    """The sets of at least two speakers whom documents link, by merging sets until none meet."""
    talks = {}
    for document, speaker in turn:
        if int(NONE) not in (document, speaker):
            talks.setdefault(document, set()).add(speaker)
    merged = []
    for people in talks.values():
        apart = [circle for circle in merged if circle.isdisjoint(people)]
        merged = [*apart, set().union(people, *(c for c in merged if c not in apart))]
    return [circle for circle in merged if len(circle) > 1]


def strangers_among(memories, rng):
    """Who says each memory, in circles that some talks have joined, and what each circle loses."""
    speaker = rng.choice(np.array([*range(PEOPLE), int(NONE)], np.uint32), memories)
    document = rng.choice(np.array([6, 7, 8], np.uint32), memories)
    none = np.full(9, NONE, np.uint32)
    above, joined, since = none.copy(), none.copy(), none.copy()
    join_circles(document, speaker, 0, none, np.ones(9, np.uint32), above, joined, since)
    forest = above, joined, since
    end = int(rng.integers(0, memories + 1))
    circles = sorted({circle_of(label, end, forest) for label in range(PEOPLE)} - {-1})
    chosen = rng.choice(circles, int(rng.integers(0, len(circles) + 1)), replace=False)
    return speaker, forest, end, chosen.astype(np.uint32), rng.choice([0.25, 0.5], len(chosen) + 1)


def lost_by(apart, m):
    """What a memory's semantic evidence is lowered by, see `Strangers`."""
    speaker, forest, end, roots, less = apart
    root = -1 if speaker[m] == NONE else circle_of(int(speaker[m]), end, forest)
    if root < 0 or not len(roots):
        return 0.0
    return float(dict(zip(roots.tolist(), less.tolist(), strict=False)).get(root, less[-1]))
