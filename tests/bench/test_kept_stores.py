import numpy as np
import pytest

import recollex
from bench.lib.kept_stores import AGENT, ids, kept, made_up_store


@pytest.fixture
def fill():
    filled = []

    def retain(agent):
        filled.append(agent)
        vectors = np.eye(8, dtype=np.float32)[:2]
        agent.retain_many(["Bob moved to Oslo.", "Ann plays the cello."], embedding=vectors)

    retain.filled = filled
    return retain


def test_a_store_is_made_once_and_opened_again(tmp_path, fill):
    embedder = recollex.GivenVectors(8)
    for _ in range(2):
        with kept(tmp_path / "stores", "two", embedder, fill) as agent:
            assert [memory.text for memory in agent.list()][1] == "Ann plays the cello."
            assert len(ids(agent)) == agent.stats().memories == 2
    assert len(fill.filled) == 1
    assert [path.name for path in (tmp_path / "stores").iterdir()] == ["two"]


def test_a_store_of_another_version_is_made_anew(tmp_path, fill):
    embedder = recollex.GivenVectors(8)
    with kept(tmp_path, "two", embedder, fill):
        pass
    (tmp_path / "two" / "store.json").write_text('{"format": 999999}')
    with kept(tmp_path, "two", embedder, fill) as agent:
        assert agent.stats().memories == 2
    assert len(fill.filled) == 2


def test_what_could_not_be_filled_is_not_taken_for_a_store(tmp_path):
    def fail(agent):
        raise RuntimeError("the disk is on fire")

    with (
        pytest.raises(RuntimeError, match="fire"),
        kept(tmp_path, "two", recollex.GivenVectors(8), fail),
    ):
        pass
    assert not (tmp_path / "two").exists()


def test_made_up_memories_keep_their_order(tmp_path):
    with made_up_store(tmp_path, 300) as agent:
        assert agent.name == AGENT and agent.stats().memories == 300
        assert [memory.id for memory in agent.list(limit=300)] == ids(agent)
