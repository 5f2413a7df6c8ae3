"""The table of operators: each operator between times of different precision, case by case."""

from datetime import UTC, date, datetime, timedelta

import pytest

from recollex_engine.clock import OPEN_END, to_micros
from recollex_engine.domain.intervals import OPEN_START, read_end, read_period, read_start
from recollex_engine.errors import InputError


def at(written):
    """A moment by its ISO form, of the first moment of a day without a time."""
    return to_micros(datetime.fromisoformat(written).replace(tzinfo=UTC), "written")


# A fact that was true from 1950 to 1953, in whole years: [1950-01-01, 1954-01-01).
START, END = at("1950-01-01"), at("1954-01-01")
OPERATORS = ("lt", "le", "eq", "ge", "gt")
TABLE = [
    # the time, then which operators its start meets, and which its end meets
    ("1949", "ge gt", "ge gt"),
    ("1950", "le eq ge", "ge gt"),
    ("1952", "lt le", "ge gt"),  # it did not end before 1952, and began before it
    ("1953", "lt le", "le eq ge"),
    ("1954", "lt le", "lt le"),
    ("1950-01", "le eq ge", "ge gt"),
    ("1950-02", "lt le", "ge gt"),
    ("1949-12", "ge gt", "ge gt"),
    ("1953-11", "lt le", "ge gt"),
    ("1953-12", "lt le", "le eq ge"),
    ("1954-01", "lt le", "lt le"),
    ("1950-01-01", "le eq ge", "ge gt"),
    ("1950-01-02", "lt le", "ge gt"),
    ("1953-12-30", "lt le", "ge gt"),
    ("1953-12-31", "lt le", "le eq ge"),
    ("1954-01-01", "lt le", "lt le"),
    ("1949-W52", "le eq ge", "ge gt"),  # 26 December 1949 to 1 January 1950
    ("1950-W01", "lt le", "ge gt"),
    ("1953-W53", "lt le", "le eq ge"),  # 28 December 1953 to 3 January 1954
    ("1950-01-01T00:00:00Z", "le eq ge", "ge gt"),
    ("1950-01-01T00:00:00.000001+00:00", "lt le", "ge gt"),
    ("1949-12-31T23:59:59Z", "ge gt", "ge gt"),
    ("1950-01-01T01:00+01:00", "le eq ge", "ge gt"),
    ("1953-12-31T23:59:59.999999Z", "lt le", "ge gt"),
    ("1954-01-01T00:00:00Z", "lt le", "le eq ge"),  # the end as it is recorded
    ("1954-01-01T00:00:01Z", "lt le", "lt le"),
]


@pytest.mark.parametrize(("written", "of_start", "of_end"), TABLE)
def test_the_table(written, of_start, of_end):
    def met(read, value):
        holding = []
        for operator in OPERATORS:
            least, greatest = read({operator: written})
            if least <= value <= greatest:
                holding.append(operator)
        return " ".join(holding)

    assert met(read_start, START) == of_start
    assert met(read_end, END) == of_end


# An instant of 3 May 1952 at noon, as an event of a log is recorded.
NOON = at("1952-05-03T12:00:00")


@pytest.mark.parametrize("written", ["1952", "1952-05", "1952-05-03", "1952-W18"])
def test_an_instant_begins_and_ends_in_its_periods(written):
    for operator, expected in zip(OPERATORS, (False, True, True, True, False), strict=True):
        for read, value in ((read_start, NOON), (read_end, NOON + 1)):
            least, greatest = read({operator: written})
            assert (least <= value <= greatest) == expected, (operator, read)


@pytest.mark.parametrize("written", ["0001", "1952", "9999", "1952-05-03", "1952-05-03T12:00Z"])
def test_what_is_open_lies_beyond_every_time(written):
    for operator, expected in zip(OPERATORS, (True, True, False, False, False), strict=True):
        least, greatest = read_start({operator: written})
        assert (least <= OPEN_START <= greatest) == expected
        least, greatest = read_end({operator: written})
        expected = operator in ("ge", "gt")
        assert (least <= OPEN_END <= greatest) == expected


def test_exists_tells_what_is_open():
    for value, known in ((OPEN_START, False), (START, True)):
        for asked in (True, False):
            least, greatest = read_start({"exists": asked})
            assert (least <= value <= greatest) == (asked == known)
    for value, known in ((OPEN_END, False), (END, True)):
        for asked in (True, False):
            least, greatest = read_end({"exists": asked})
            assert (least <= value <= greatest) == (asked == known)


def test_a_plain_time_must_be_equal_and_several_operators_must_all_hold():
    assert read_start("1952") == read_start({"eq": "1952"})
    assert read_end(datetime(1952, 1, 1, tzinfo=UTC)) == (at("1952-01-01"), at("1952-01-01"))
    assert read_start({"ge": "1950", "lt": "1952"}) == (at("1950-01-01"), at("1952-01-01") - 1)
    least, greatest = read_start({"gt": "1952", "lt": "1950"})
    assert least > greatest


def test_periods_are_those_of_the_calendar():
    days = [date(2023, 1, 1) + timedelta(n) for n in range(800)]
    for written, form in (("2024", "%Y"), ("2024-02", "%Y-%m"), ("2024-W01", "%G-W%V")):
        held = [day for day in days if day.strftime(form) == written]
        start, end = read_period(written, "start")
        assert start == at(held[0].isoformat())
        assert end == at((held[-1] + timedelta(1)).isoformat())
    last = at("9999-12-31")
    assert read_period("9999-12-31", "start") == (last, last + 86_400_000_000)
    assert read_period("9999", "start")[1] == last + 86_400_000_000
    assert read_period("2024-02-30T00:00Z", "start") is None


@pytest.mark.parametrize("written", ["2024-13", "2023-02-29", "2023-W53", "0000", "2024-00"])
def test_a_time_that_the_calendar_lacks_is_refused(written):
    with pytest.raises(InputError, match=f"start.*not a time of the calendar: '{written}'"):
        read_start({"ge": written})


def test_what_is_no_condition_is_refused_with_what_is():
    with pytest.raises(InputError, match=r"start has no operator '\$gt', did you mean 'gt'"):
        read_start({"$gt": "2024"})
    with pytest.raises(InputError, match="There are lt, le, eq, ge, gt, exists"):
        read_start({"between": "2024"})
    with pytest.raises(InputError, match="end has no operator"):
        read_end({})
    with pytest.raises(InputError, match=r"end\['exists'\] must be True or False, got 1"):
        read_end({"exists": 1})
    with pytest.raises(InputError, match=r"start\['ge'\] is not ISO 8601: 'May'"):
        read_start({"ge": "May"})
    with pytest.raises(InputError, match="start has no time zone"):
        read_start("2024-05-04T10:00")
    with pytest.raises(InputError, match=r"start\['ge'\] must be a datetime or ISO 8601, got int"):
        read_start({"ge": 2024})
