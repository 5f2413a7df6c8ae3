from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from recollex.files.imports.triples import read_period, read_valid
from recollex_engine.clock import to_micros
from recollex_engine.errors import InputError


def at(*parts: int) -> int:
    return to_micros(datetime(*parts, tzinfo=UTC), "t")  # type: ignore[arg-type,misc]


@pytest.mark.parametrize(
    ("written", "start", "end", "precision"),
    [
        ("1999", at(1999, 1, 1), at(2000, 1, 1), "year"),
        ("2002-02", at(2002, 2, 1), at(2002, 3, 1), "month"),
        ("2002-12", at(2002, 12, 1), at(2003, 1, 1), "month"),
        ("2024-02-29", at(2024, 2, 29), at(2024, 3, 1), "day"),
        ("1950-1953", at(1950, 1, 1), at(1954, 1, 1), "year"),
        ("2002-02/2002-04", at(2002, 2, 1), at(2002, 5, 1), "month"),
        ("2002-02-03 to 2002-04", at(2002, 2, 3), at(2002, 5, 1), "month"),
        ("2024-05-04T09:30:00Z", at(2024, 5, 4, 9, 30), at(2024, 5, 4, 9, 30, 1), "second"),
    ],
)
def test_a_time_lasts_as_long_as_it_is_precise(
    written: str, start: int, end: int, precision: str
) -> None:
    assert read_period(written) == (start, end, precision)


@pytest.mark.parametrize("written", ["", "soon", "2002-13", "2002-02-30", "1953-1950", "9999"])
def test_what_is_no_time_is_refused(written: str) -> None:
    with pytest.raises(InputError):
        read_period(written)


def test_days_begin_in_the_zone() -> None:
    start, end, _ = read_period("2024-05-04", ZoneInfo("Asia/Shanghai"))
    assert (start, end) == (at(2024, 5, 3, 16), at(2024, 5, 4, 16))


def test_a_start_begins_and_an_end_ends_what_is_written() -> None:
    assert read_valid("2002-02", None, None) == (at(2002, 2, 1), at(2002, 3, 1), "to the month")
    assert read_valid(None, "2002", None) == (at(2002, 1, 1), None, "start to the year")
    assert read_valid(None, None, "2002-05-03") == (None, at(2002, 5, 4), "end to the day")
    assert read_valid(None, "2002-01-01T00:00Z", "2003-01-01T00:00Z") == (
        at(2002, 1, 1),
        at(2003, 1, 1),
        None,
    )
    assert read_valid(None, None, None) == (None, None, None)
