"""A text that was said again comes back once, and tells which memories say the same."""

from pathlib import Path

import numpy as np
import pytest

import recollex
from recollex import presets
from tests.bindings.line_tokens import line_tokens


def test_equal_texts_come_back_once_with_their_ids(tmp_path: Path) -> None:
    vector = np.ones(16)
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(16)) as store:
        agent = store.agent("a")
        texts = ["I take the red pill.", "The bus is late.", *["I take the red pill."] * 2]
        agent.retain_many(texts, id=["a", "b", "c", "d"], embedding=np.tile(vector, (4, 1)))
        recall = agent.recall("Which pill do I take?", query_embedding=vector)
        assert [memory.text for memory in recall] == texts[:2]
        assert sorted([recall[0].id, *recall[0].collapsed]) == ["a", "c", "d"]
        assert recall[1].collapsed == ()
        assert recall.tokens == line_tokens(recall)


@pytest.mark.parametrize("name", ["tempr", "satf"])
def test_papers_return_each(tmp_path: Path, name: str) -> None:
    assert getattr(presets, name).diversity is None
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(16)) as store:
        agent = store.agent("a")
        agent.retain_many(["I take the red pill."] * 3, embedding=np.ones((3, 16)))
        recall = agent.recall("Which pill?", query_embedding=np.ones(16), preset=name)
        assert len(recall) == 3


def test_a_text_that_is_said_all_the_time_comes_back_once(tmp_path: Path) -> None:
    """Also the repetitions that no arm would place among the best 40."""
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(16)) as store:
        agent = store.agent("a")
        texts = [*["I take the red pill."] * 70, *(f"The bus {n} is late." for n in range(20))]
        agent.retain_many(texts, id=[str(n) for n in range(90)], embedding=np.ones((90, 16)))
        recall = agent.recall("Which pill do I take?", query_embedding=np.ones(16))
        found = [memory.text for memory in recall]
        assert len(found) == len(set(found)) == 21
        assert len(recall[0].collapsed) == len(recall[0].repeated_at) == 69
