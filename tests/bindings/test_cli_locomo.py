import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollex.cli import locomo
from recollex_engine.errors import InputError

TINY = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_2_date_time": "12:05 am on 1 March, 2023",
            "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "Good night."}],
            "session_10_date_time": "9:00 am on 2 April, 2023",
            "session_10": [{"speaker": "Ann", "dia_id": "D10:1", "text": "Hello again."}],
            "session_1_date_time": "1:56 pm on 8 February, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "Look!", "blip_caption": "a red kite"},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Nice."},
            ],
            "session_11_date_time": "9:00 am on 3 April, 2023",  # a session that was not held
        },
        "qa": [],
    }
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "locomo10.json"
    path.write_text(json.dumps(TINY), "utf-8")
    return path


def test_turns_are_in_time_order_with_captions(file: Path) -> None:
    (conversation,) = locomo.load(file)
    assert locomo.load(file.parent) == [conversation]  # the folder will do
    assert [turn["id"] for turn in conversation.turns] == ["D1:1", "D1:2", "D2:1", "D10:1"]
    assert conversation.turns[0] == {
        "id": "D1:1",
        "speaker": "Ann",
        "text": "Look!",
        "at": datetime(2023, 2, 8, 13, 56, tzinfo=UTC),
        "caption": "a red kite",
    }
    assert conversation.turns[1]["at"] == datetime(2023, 2, 8, 13, 56, 1, tzinfo=UTC)
    assert conversation.turns[2]["at"] == datetime(2023, 3, 1, 0, 5, tzinfo=UTC)


@pytest.mark.parametrize("content", ["{", "{}", '[{"qa": []}]', "[3]"])
def test_another_file_is_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(content, "utf-8")
    with pytest.raises(InputError, match=r"other\.json"):
        locomo.load(path)
