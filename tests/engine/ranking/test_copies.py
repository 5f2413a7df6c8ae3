"""Asked for the latest or the first, the copy of a text that was said then comes back."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollex
from tests.bindings.word_vectors import WordVectors

BUDGET = "The budget meeting is moved, says Leila."
SAID = {
    "march": (BUDGET, 3),
    "kitchen": ("We painted the kitchen green.", 1),
    "may": (BUDGET, 5),
    "june": ("The budget meeting is moved, says Leila!", 6),
    "april": (BUDGET, 4),
    "shed": ("The garden shed has a new roof.", 7),
}


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[recollex.Agent]:
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        agent = store.agent("a")
        for month, (id, (text, said)) in enumerate(SAID.items(), 1):
            at, recorded = datetime(2024, said, 1, tzinfo=UTC), datetime(2025, month, 1, tzinfo=UTC)
            agent.retain(text, id=id, event_at=at, recorded_at=recorded)
        yield agent


def first(agent: recollex.Agent, question: str, **options: object) -> recollex.Memory:
    recall = agent.recall(question, explain=True, **options)  # type: ignore[arg-type]
    assert not recall.trace.errors
    for memory in recall:
        assert sum(memory.parts.values()) == pytest.approx(memory.score)
    scores = [memory.score for memory in recall]
    assert scores == sorted(scores, reverse=True)
    assert len({memory.text.rstrip(".!") for memory in recall}) == len(recall)
    return recall[0]


@pytest.mark.parametrize(
    ("question", "copy"),
    [
        ("What is the latest on Leila's budget meeting?", "june"),
        ("Show the last message on Leila's budget meeting", "june"),
        ("What was first said of Leila's budget meeting?", "march"),
    ],
)
def test_the_copy_that_the_question_wants_comes_back(agent, question, copy):
    found = first(agent, question)
    assert found.id == copy
    assert set(found.collapsed) == {"march", "april", "may", "june"} - {copy}


def test_as_of_a_time_the_latest_is_the_latest_of_that_time(agent):
    asked = "What is the latest on Leila's budget meeting?"
    cut = datetime(2025, 3, 15, tzinfo=UTC)  # march, kitchen and may were recorded
    assert first(agent, asked, as_recorded=cut).id == "may"


def test_without_such_words_the_order_stays(agent):
    plain = agent.recall("What is said of Leila's budget meeting?", explain=True)
    assert all("copy" not in memory.parts for memory in plain)
