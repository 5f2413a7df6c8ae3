"""What is the answer to a question about dated relations? By brute force, on plain tuples.

A relation is (subject, predicate, object, first, last): two whole numbers of one calendar unit,
both included. It is spelled out as the set of all numbers from first to last, and every question is
answered by looking at these sets and by comparing every pair. Nothing here comes from recollex, so
that no error of its intervals, operators or dates can be an error of the gold too.
"""

Relation = tuple[str, str, str, int, int]


def points(relation: Relation) -> set[int]:
    """Return every unit of time in which a relation held.

    >>> sorted(points(("E1", "R1", "E2", 1983, 1985)))
    [1983, 1984, 1985]
    """
    return set(range(relation[3], relation[4] + 1))


def alike(relations: list[Relation], predicate: str, **fixed: str) -> list[Relation]:
    """Return the relations of a predicate whose subject or object is given."""
    place = {"subject": 0, "object": 2}
    return [
        each
        for each in relations
        if each[1] == predicate and all(each[place[name]] == it for name, it in fixed.items())
    ]


def at(chosen: list[Relation], moment: int, asked: int) -> frozenset[str]:
    """Return who or what stands at place ``asked`` (0 or 2) at one point of time."""
    return frozenset(each[asked] for each in chosen if moment in points(each))


def between(chosen: list[Relation], first: int, last: int, asked: int) -> int:
    """Return how many different ones share a point of time with [first, last]."""
    span = set(range(first, last + 1))
    return len({each[asked] for each in chosen if points(each) & span})


def neighbour(
    chosen: list[Relation], anchor: Relation, before: bool, asked: int
) -> frozenset[str] | None:
    """Return what came right before or after a relation; None if two readings differ.

    One reading looks at which began last before it began (or next after), the other at which was
    over last before it began (or began next when it was over). A shared unit of time at the border
    counts as over.
    """
    others = [each for each in chosen if each is not anchor]
    if before:
        begun = [each for each in others if min(points(each)) < min(points(anchor))]
        over = [each for each in others if max(points(each)) <= min(points(anchor))]
        by_start = {each[asked] for each in begun if not any(o[3] > each[3] for o in begun)}
        by_end = {each[asked] for each in over if not any(o[4] > each[4] for o in over)}
    else:
        begun = [each for each in others if min(points(each)) > min(points(anchor))]
        over = [each for each in others if min(points(each)) >= max(points(anchor))]
        by_start = {each[asked] for each in begun if not any(o[3] < each[3] for o in begun)}
        by_end = {each[asked] for each in over if not any(o[3] < each[3] for o in over)}
    return frozenset(by_start) if by_start == by_end else None


def extreme(chosen: list[Relation], first: bool, asked: int) -> frozenset[str] | None:
    """Return the first or the last one; None if by starts and by ends there are different ones."""
    if first:
        found = {one[asked] for one in chosen if not any(o[3] < one[3] for o in chosen)}
        return frozenset(found) if len(found) == 1 else None
    begun = {one[asked] for one in chosen if not any(o[3] > one[3] for o in chosen)}
    ended = {one[asked] for one in chosen if not any(o[4] > one[4] for o in chosen)}
    return frozenset(begun) if begun == ended and len(begun) == 1 else None


def timeline(chosen: list[Relation], asked: int) -> tuple[str, ...] | None:
    """Return all in the order in which they began; None if two began together."""
    order: list[Relation] = []
    for each in chosen:  # insertion by comparing with each
        place = sum(other[3] < each[3] for other in order)
        order.insert(place, each)
    starts = [each[3] for each in order]
    return tuple(each[asked] for each in order) if len(set(starts)) == len(starts) else None
