import numpy as np
import pytest

import recollex
from recollex_engine.errors import InputError, ModelError
from recollex_engine.models.description import PAPER_THRESHOLDS
from recollex_engine.models.embedder import checked


class Made:
    """An embedder whose vectors have one length and whose description may say another."""

    fingerprint = "made-1"
    thresholds = PAPER_THRESHOLDS

    def __init__(self, dimension, length=None, query=None, number=1.0):
        self.dimension = dimension
        self.length = dimension if length is None else length
        self.query = self.length if query is None else query
        self.number = number

    def _vectors(self, count, length):
        found = np.zeros((count, length), np.float32)
        found[:, 0] = self.number
        return found

    def embed(self, texts, threads=1, progress=None):
        return self._vectors(len(texts), self.length)

    def embed_query(self, text):
        return self._vectors(1, self.query)[0]

    def count_tokens(self, text):
        return len(text.split())


@pytest.mark.parametrize("dimension", [0, 4, 7, 12, 383, 8200, -8, True, 8.0, "8", None])
def test_a_dimension_that_similarity_cannot_read_is_refused_before_anything_is_written(
    tmp_path, dimension
):
    with recollex.open(tmp_path / "store", embedder=Made(8)) as store:
        store.agent("old").retain("Ann moved to Oslo.")
    made = Made(8)
    made.dimension = dimension
    with recollex.open(tmp_path / "store", embedder=made) as store:
        for name in ("old", "new"):
            with pytest.raises(InputError, match=r"multiple of 8 in \[8, 8192\], got"):
                store.agent(name).retain("Bob likes tea.")
    assert not (tmp_path / "store" / "agents" / "new").exists()
    with pytest.raises(InputError, match="multiple of 8"):
        recollex.GivenVectors(dimension)


@pytest.mark.parametrize("dimension", [8, 24, 8192])
def test_a_dimension_of_whole_blocks_is_taken(tmp_path, dimension):
    with recollex.open(tmp_path, embedder=Made(dimension)) as store:
        agent = store.agent("ann")
        agent.retain_many(["Ann moved to Oslo.", "Bob likes tea."])
        assert len(agent.recall("Where does Ann live?")) == 2


def test_a_model_is_looked_at_once():
    class Counting(Made):
        looks = 0

        @property
        def dimension(self):
            Counting.looks += 1
            return 8

        @dimension.setter
        def dimension(self, value):
            pass

    made = Counting(8)
    load = checked(lambda: made)
    assert load() is load()
    before = Counting.looks
    load()
    assert Counting.looks == before


@pytest.mark.parametrize(("length", "number"), [(16, 1.0), (1, 1.0), (8, float("nan"))])
def test_vectors_of_another_shape_or_not_finite_are_not_stored(tmp_path, length, number):
    made = Made(8, length, number=number)
    with recollex.open(tmp_path, embedder=made) as store:
        with pytest.raises(ModelError, match=r"made-1 must return finite floats of shape \(1, 8\)"):
            store.agent("ann").retain("Ann moved to Oslo.")
        assert store.agents() == []


def test_a_query_of_another_length_is_not_compared_and_the_words_still_answer(tmp_path):
    with recollex.open(tmp_path, embedder=Made(8, query=16)) as store:
        agent = store.agent("ann")
        agent.retain("Ann moved to Oslo.")
        found = agent.recall("Who moved to Oslo?")
        assert "must have shape (8,), got (16,)" in found.trace.errors["embed"]
        assert len(found) == 1
