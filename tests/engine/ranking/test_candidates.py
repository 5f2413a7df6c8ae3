from datetime import UTC, datetime

import numpy as np
import pytest

import recollex
from recollex_engine.ranking.arms import ArmList
from recollex_engine.ranking.reranking import Candidates

AT = datetime(2025, 11, 6, 23, 30, tzinfo=UTC)
LONG = " ".join(f"Sentence {n} speaks of the harbour and its boats at length." for n in range(30))


class InTurn(recollex.GivenVectors):
    """The first text has the first axis for a vector, the second the second, and so on."""

    embedded = 0

    def embed(self, texts, threads=1, progress=None):
        axes = [(self.embedded + n) % 8 for n in range(len(texts))]
        self.embedded += len(texts)
        return np.eye(8, dtype=np.float32)[axes]


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    with recollex.open(tmp_path_factory.mktemp("candidates") / "s", embedder=InTurn(8)) as store:
        agent = store.agent("a")
        agent.retain("Alice started working at Google", event_at=AT)
        agent.retain("Zoë naps.", event_at=AT, context="pets")
        agent.retain(LONG, event_at=AT)
        agent.retain_dialogue([{"speaker": "Ann", "text": LONG}], document_id="d")
        assert agent.engine.view().buffer("first_row")[:5].tolist() == [0, 1, 2, 5, 8]
        yield agent


def candidates_of(agent, memories, vector=None, **more):
    scores = np.linspace(1, 0, len(memories))
    return Candidates(
        "q", agent.engine.view(), np.array(memories, np.uint32), scores, 0, vector, **more
    )


def test_texts_are_read_as_they_were_retained(agent):
    found = candidates_of(agent, [1, 0])
    assert found.texts == ["Zoë naps.", "Alice started working at Google"]


def test_dated_texts_are_those_of_tempr(agent):
    assert candidates_of(agent, [0, 1]).dated_texts == [
        "[Date: November 06, 2025 (2025-11-06)] Alice started working at Google",
        "[Date: November 06, 2025 (2025-11-06)] pets: Zoë naps.",
    ]


def test_a_long_memory_is_its_best_passage(agent):
    assert candidates_of(agent, [2]).rows.tolist() == [2]
    found = candidates_of(agent, [0, 2], np.eye(8, dtype=np.float32)[3])
    assert found.rows.tolist() == [0, 3]
    assert found.texts[1] in LONG and len(found.texts[1]) < len(LONG) / 2
    assert candidates_of(agent, [2], np.zeros(8, np.float32)).rows.tolist() == [2]


def test_a_later_passage_tells_its_speaker(agent):
    found = candidates_of(agent, [3], np.eye(8, dtype=np.float32)[6])
    assert found.rows.tolist() == [6]
    assert found.texts[0].startswith("Ann: Sentence")
    assert found.texts[0].removeprefix("Ann: ") in LONG


def test_an_arms_scores_stand_beside_the_memories(agent):
    ranked = ArmList(
        np.array([2, 0], np.uint32), np.array([0.5, 0.25], np.float32), np.empty(0, np.uint32)
    )
    found = candidates_of(agent, [0, 1, 2], arms={"semantic": ranked, "graph": ArmList.empty()})
    assert found.arm("semantic").tolist() == [0.25, 0, 0.5]
    assert found.arm("graph").tolist() == found.arm("keyword").tolist() == [0, 0, 0]
    assert candidates_of(agent, [1]).arm("semantic").tolist() == [0]


def test_the_first_and_the_reordered(agent):
    found = candidates_of(agent, [0, 1, 2])
    assert found.first(2).memories.tolist() == [0, 1]
    assert found.first(9) is found
    turned = found.taken(np.array([2, 0]), np.array([5.0, 4.0]))
    assert (turned.memories.tolist(), turned.scores.tolist()) == ([2, 0], [5, 4])
    assert turned.texts[1] == "Alice started working at Google"


def test_of_nothing_all_is_empty(agent):
    found = candidates_of(agent, [])
    assert (found.texts, found.dated_texts, found.rows.size, len(found)) == ([], [], 0, 0)
    assert found.arm("semantic").size == 0
