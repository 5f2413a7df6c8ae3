"""What the tests of rerankers share: the view of an agent of three texts, and their candidates."""

import numpy as np
import pytest

import recollex
from recollex_engine.ranking.reranking import Candidates


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    with recollex.open(
        tmp_path_factory.mktemp("rerankers") / "s", embedder=recollex.GivenVectors(8)
    ) as store:
        agent = store.agent("a")
        agent.retain_many(["Ann moved to Oslo.", "It rains.", "Bob naps."], embedding=np.eye(8)[:3])
        yield agent.engine.view()


@pytest.fixture
def candidates(view):
    places, scores = np.array([2, 0, 1], np.uint32), np.array([3.0, 2.0, 1.0])
    return Candidates("Where does Ann live?", view, places, scores, 0)
