import json
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

import recollex
from recollex.files.jsonl import Line, read, write
from recollex_engine.errors import InputError
from tests.bindings.word_vectors import WordVectors


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


def test_a_message_of_a_chat_is_a_turn_without_a_time_and_a_speaker() -> None:
    parts = [{"type": "text", "text": "Hello."}]
    (line,) = read(lines({"role": "user", "content": parts}), UTC, "c1")
    said = {"role": "user", "content": parts}
    assert line == Line(1, True, said, {"document_id": "c1"})


def test_a_turn_is_written_with_its_role(tmp_path: Path) -> None:
    turns = [
        {"role": "assistant", "name": "Ann", "content": "Hi.", "id": "1"},
        {"role": "user", "content": "Ho.", "id": "2"},
    ]
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        first, second = store.agent("a"), store.agent("b")
        first.retain_dialogue(turns, document_id="d")
        for line in read([write(memory) for memory in first.list()], UTC):
            second.retain_dialogue([line.fields], **line.shared)
        for memory, again in zip(first.list(), second.list(), strict=True):
            assert (again.text, again.speaker, again.role) == (
                memory.text,
                memory.speaker,
                memory.role,
            )


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
        ("[" * 100_000, "line 2 is not JSON"),
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
