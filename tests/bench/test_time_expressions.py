"""The questions that were written for the table of time expressions are read as labelled."""

import json

import pytest

from bench.tables.time_expressions import LABELS, WRITTEN_ON, ranges, to_micros
from recollex_engine.dates.time_range import find_range

WRITTEN: list[tuple[str, str]] = json.loads(LABELS.read_text("utf-8"))["written"]


@pytest.mark.parametrize(("question", "label"), WRITTEN)
def test_a_dotted_ordinal_or_abbreviated_date_is_read(question: str, label: str) -> None:
    found = find_range(question, to_micros(WRITTEN_ON))
    if label == "none":
        assert found is None
    else:
        assert found is not None and (found.start, found.end) in ranges(label)


def test_sixty_questions_have_a_date_and_ten_a_number_that_is_none() -> None:
    labels = [label for _, label in WRITTEN]
    assert len(labels) - labels.count("none") == 60 and labels.count("none") == 10
