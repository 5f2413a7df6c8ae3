import json
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from recollex.api.jsonl import Line, read
from recollex_engine.errors import InputError


def lines(*objects: object) -> list[str]:
    return [json.dumps(item) for item in objects]


def test_a_memory_and_a_turn_are_told_apart() -> None:
    memory = {"text": "Tea at four.", "event_at": "2024-05-01T16:00:00+02:00", "tags": ["tea"]}
    turn = {"speaker": "Ann", "text": "Hello.", "at": "2024-05-01", "document_id": "c2"}
    read_memory, read_turn = read(lines(memory, turn), ZoneInfo("Europe/Paris"), "c1")
    at = datetime(2024, 5, 1, 14, tzinfo=UTC)
    fields = {"text": "Tea at four.", "event_at": at, "tags": ["tea"]}
    assert read_memory == Line(1, False, fields, {})
    midnight = datetime(2024, 5, 1, tzinfo=ZoneInfo("Europe/Paris"))
    said = {"speaker": "Ann", "text": "Hello.", "at": midnight}
    assert read_turn == Line(2, True, said, {"document_id": "c2"})


def test_empty_lines_are_passed_over_and_counted() -> None:
    (line,) = read(["\n", "  \n", '{"text": "Tea."}\n'], UTC)
    assert line.number == 3


def test_null_is_absent() -> None:
    (line,) = read(lines({"text": "Tea.", "context": None}), UTC)
    assert line.fields == {"text": "Tea."}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("{", "line 2 is not JSON"),
        ("[1]", "line 2 must be a JSON object, got list"),
        ('{"context": "call"}', "line 2 has no 'text'"),
        ('{"text": "Tea.", "at": "2024-05-01"}', "line 2 has no 'speaker'"),
        ('{"speaker": "Ann", "text": "Tea.", "at": "2024-05-01"}', "line 2 has no 'document_id'"),
        ('{"text": "Tea.", "contxt": "call"}', "did you mean 'context'"),
        ('{"text": 3}', "line 2: 'text' must be a string, got 3"),
        ('{"text": "Tea.", "tags": ["a", 2]}', "'tags' must be a list of strings"),
        ('{"text": "Tea.", "metadata": []}', "'metadata' must be an object"),
        ('{"text": "Tea.", "event_at": "noon"}', "line 2: 'event_at' must be written as"),
    ],
)
def test_an_error_names_its_line(wrong: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        list(read(['{"text": "Tea."}', wrong], UTC))
    assert said in str(caught.value)
