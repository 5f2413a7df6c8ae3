import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench.datasets import locomo
from tests.bench.locomo_conversation import CONVERSATION

TINY = [
    {
        "sample_id": "conv-1",
        "conversation": CONVERSATION,
        "qa": [
            {"question": "What did Ann show?", "answer": 2022, "evidence": ["D1:1"], "category": 4},
            {"question": "Both?", "answer": "x", "evidence": ["D1:2; D2:1"], "category": 1},
            {"question": "Nothing?", "answer": "x", "evidence": [], "category": 3},
            {"question": "Nowhere?", "answer": "x", "evidence": ["D9:9", "D"], "category": 3},
            {"question": "A trap?", "adversarial_answer": "y", "evidence": ["D1:2"], "category": 5},
        ],
    }
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "locomo" / "locomo10.json"
    path.parent.mkdir()
    path.write_text(json.dumps(TINY), "utf-8")
    return tmp_path


def test_turns_are_in_time_order_with_captions(data: Path) -> None:
    (conversation,) = locomo.conversations(data)
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


def test_questions_keep_the_evidence_that_exists(data: Path) -> None:
    (conversation,) = locomo.conversations(data)
    assert conversation.questions == (
        locomo.Question("What did Ann show?", "2022", 4, ("D1:1",)),
        locomo.Question("Both?", "x", 1, ("D1:2", "D2:1")),
        locomo.Question("A trap?", "y", 5, ("D1:2",)),
    )


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("D8:6; D9:17", ("D8:6", "D9:17")),
        ("D9:1 D4:4 D4:6", ("D9:1", "D4:4", "D4:6")),
        ("D:11:26", ("D11:26",)),
        ("D30:05", ("D30:5",)),
        ("D1:3-5", ("D1:3", "D1:4", "D1:5")),
        ("D1:3-D1:5", ("D1:3", "D1:4", "D1:5")),
        ("D1:3 - D2:1", ("D1:3", "D2:1")),
        ("D1:3, D1:3", ("D1:3",)),
        ("D", ()),
        ("", ()),
    ],
)
def test_malformed_evidence_is_read(written: str, read: tuple[str, ...]) -> None:
    assert locomo.evidence_ids([written]) == read


def test_the_whole_benchmark_is_read() -> None:
    data = os.environ.get("RECOLLEX_DATA")
    if not data:
        pytest.skip("set RECOLLEX_DATA to a folder with locomo/locomo10.json")
    conversations = locomo.conversations(Path(data))
    assert len(conversations) == 10
    assert sum(len(conversation.turns) for conversation in conversations) == 5882
    assert sum(len(conversation.questions) for conversation in conversations) == 1982
