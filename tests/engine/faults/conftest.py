"""A store whose agent holds transactions in a checkpoint and after it."""

import pytest

from tests.engine.faults.small_store import Model, answers, contents, fill, opened, text, vectors


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def folder(path):
    return path / "agents" / "a"


@pytest.fixture
def held(path):
    """Three transactions in a checkpoint and two after it; a memory replaced, one forgotten."""
    with opened(path) as agent:
        fill(agent, 0, 20)
        fill(agent, 20, 20)
        agent.forget("m3")
        agent.checkpoint()
        fill(agent, 40, 5)
        agent.retain("Memory 8 was another.", id="m8", embedding=vectors(8, 1)[0])
        result = contents(agent), answers(agent)
    return result


@pytest.fixture
def embedded(path):
    """As `held`, by a model; its 'always' means that what is written is on the disk."""
    with opened(path, embedder=Model()) as agent:
        agent.retain_many([text(n) for n in range(10)], id=[f"m{n}" for n in range(10)])
        said = " ".join(text(n) for n in range(60))  # several passages
        agent.retain_dialogue([{"speaker": "Ann", "text": said, "id": "long"}], document_id="d")
        agent.checkpoint()
        agent.retain_many([text(n) for n in range(10, 14)], id=[f"m{n}" for n in range(10, 14)])
        assert agent.stats().passages > agent.stats().memories
        return contents(agent), answers(agent)
