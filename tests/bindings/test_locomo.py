import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollex.imports import locomo
from recollex_engine.errors import InputError
from tests.locomo_conversation import CONVERSATION

TINY = [{"sample_id": "conv-1", "conversation": CONVERSATION, "qa": []}]


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
