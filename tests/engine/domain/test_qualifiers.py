"""The valid time of a fact, as REMem writes it: at the precision at which it was said."""

from datetime import UTC, datetime

import pytest

from recollex_engine.domain.qualifiers import qualifiers


def day(written: str | None) -> datetime | None:
    return None if written is None else datetime.fromisoformat(written).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("start", "end", "uncertainty", "written"),
    [
        ("2020-01-01", "2021-01-01", None, {"point_in_time": "2020"}),
        ("2019-01-01", None, None, {"start_time": "2019-01-01"}),
        ("2019-01-01", None, "parsed: since 2019", {"start_time": "2019"}),
        ("2019-01-01", None, "start to the month", {"start_time": "2019-01"}),
        (None, "2010-01-01", "parsed: before 2010", {"end_time": "2009"}),
        (
            *("2010-05-01", "2016-01-01", "parsed: from May 2010 to 2015"),
            {"start_time": "2010-05", "end_time": "2015"},
        ),
        (
            *("2021-06-01", "2021-09-01", "parsed: summer 2021"),
            {"start_time": "2021-06-01", "end_time": "2021-08-31"},
        ),
        (
            *("2026-11-16", "2026-11-23", "parsed: last week"),
            {"start_time": "2026-11-16", "end_time": "2026-11-22"},
        ),
        ("2015-01-01", "2016-01-01", "approximate: around 2015", {"point_in_time": "2015"}),
        (None, "0001-01-01", None, {"end_time": "0001-01-01"}),
        (None, "0001-01-01", "end to the year", {"end_time": "0001"}),
        ("9999-12-31", None, "start to the month", {"start_time": "9999-12"}),
        ("9999-12-31", None, None, {"start_time": "9999-12-31"}),
    ],
)
def test_a_bound_is_as_precise_as_it_was_said(
    start: str | None, end: str | None, uncertainty: str | None, written: dict[str, str]
) -> None:
    assert qualifiers(day(start), day(end), uncertainty) == written
