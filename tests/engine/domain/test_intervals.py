"""Allen's relations against their drawing: every pair of short intervals, one relation each."""

import itertools

import pytest

from recollex_engine.clock import OPEN_END
from recollex_engine.domain.intervals import (
    OPEN_START,
    RELATIONS,
    check_interval,
    overlapping,
    related,
    relation,
    within,
)
from recollex_engine.errors import InputError

SPANS = [(a, b) for a, b in itertools.combinations(range(6), 2)]
DRAWN = {  # the relation of the first to the second, as Allen's figure 2 draws them
    "before": ((0, 1), (2, 3)),
    "meets": ((0, 1), (1, 3)),
    "overlaps": ((0, 2), (1, 3)),
    "finished_by": ((0, 3), (1, 3)),
    "contains": ((0, 3), (1, 2)),
    "starts": ((0, 1), (0, 3)),
    "equals": ((0, 3), (0, 3)),
    "started_by": ((0, 3), (0, 1)),
    "during": ((1, 2), (0, 3)),
    "finishes": ((1, 3), (0, 3)),
    "overlapped_by": ((1, 3), (0, 2)),
    "met_by": ((1, 3), (0, 1)),
    "after": ((2, 3), (0, 1)),
}
INVERSE = dict(zip(RELATIONS, reversed(RELATIONS), strict=True)) | {
    "finished_by": "finishes",
    "finishes": "finished_by",
    "contains": "during",
    "during": "contains",
    "starts": "started_by",
    "started_by": "starts",
    "equals": "equals",
}


def moments(span):
    return set(range(*span))


@pytest.mark.parametrize("name", DRAWN)
def test_a_relation_is_the_drawn_one(name):
    assert relation(*DRAWN[name]) == name
    assert relation(*reversed(DRAWN[name])) == INVERSE[name]


def test_every_pair_has_exactly_one_relation():
    for span, other in itertools.product(SPANS, SPANS):
        found = [name for name in RELATIONS if related(name, other).holds(*span)]
        assert found == [relation(span, other)]


def test_overlap_and_containment_are_those_of_sets_of_moments():
    for span, other in itertools.product(SPANS, SPANS):
        assert overlapping(other).holds(*span) == bool(moments(span) & moments(other))
        assert within(other).holds(*span) == (moments(span) <= moments(other))


def test_a_box_without_an_interval_is_empty():
    assert not related("equals", (1, 3)).is_empty
    assert (related("before", (1, 3)) & related("after", (1, 3))).is_empty


def test_open_ends_are_equal_and_beyond_every_other():
    assert relation((0, OPEN_END), (3, OPEN_END)) == "finished_by"
    assert relation((OPEN_START, 3), (OPEN_START, OPEN_END)) == "starts"
    assert check_interval(None, None, "valid") == (OPEN_START, OPEN_END)


@pytest.mark.parametrize("span", [(3, 3), (3, 2)])
def test_an_interval_ends_after_it_starts(span):
    with pytest.raises(InputError, match="valid must end after it starts"):
        check_interval(*span, "valid")


def test_an_unknown_relation_is_named_with_the_known_ones():
    with pytest.raises(InputError, match="relation must be one of before, meets"):
        related("besides", (1, 2))
