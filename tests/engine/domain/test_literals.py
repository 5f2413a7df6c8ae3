"""Objects of facts: what comes back is what went in, and what has no exact form is refused."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.domain.literals import (
    KINDS,
    MOST_EXACT,
    Mention,
    Source,
    Text,
    from_column,
    to_column,
    to_record,
)
from recollex_engine.errors import InputError

LITERALS = st.one_of(
    st.booleans(),
    st.integers(-MOST_EXACT, MOST_EXACT),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip).map(Text),
    st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=2))])),
)


@settings(deadline=None)
@given(LITERALS)
def test_a_literal_comes_back_from_its_column(value):
    labels = []

    def label(text):
        labels.append(text)
        return len(labels) - 1

    kind, number = to_column(to_record(value), label)
    assert -(2**63) <= number < 2**63
    back = from_column(kind, number, lambda place: labels[place][2:], str)
    assert back == (value.value if isinstance(value, Text) else value)
    assert isinstance(back, bool) == isinstance(value, bool)


def test_equal_numbers_have_one_column_value():
    assert to_column(to_record(5), int) == to_column(to_record(5.0), int)
    assert to_column(to_record(0.0), int) == to_column(to_record(-0.0), int)


@pytest.mark.parametrize("value", [2**53 + 1, float("nan"), float("inf"), None, b"x", ["a"], ""])
def test_what_is_no_object_is_refused(value):
    with pytest.raises(InputError, match="object"):
        to_record(value)


def test_a_naive_time_is_refused():
    with pytest.raises(InputError, match="object has no time zone"):
        to_record(datetime(2020, 1, 1))


@pytest.mark.parametrize("span", [(3, 3), (-1, 2), (1,), "ab", (True, 2), (0.0, 1)])
def test_a_mention_has_a_span_of_characters(span):
    with pytest.raises(InputError, match="mention span"):
        Mention("d", span, "text")


def test_mentions_and_sources_come_back_from_their_labels():
    mention, source = Mention("d=1", (0, 4), 'a "b" é'), Source("file://x")
    assert Mention.from_json(mention.to_json()) == mention
    assert Source.from_json(source.to_json()) == source
    assert KINDS[to_column(to_record(mention), lambda text: 7)[0]] == "mention"
