import numpy as np
import pytest

from recollex_engine.errors import InputError, ModelError, RerankError
from recollex_engine.models.cross_encoder import PairScores
from recollex_engine.ranking import rerankers as module
from recollex_engine.ranking.rerankers import CrossEncoderReranker, FunctionReranker
from recollex_engine.ranking.reranking import rerank


def test_a_function_is_given_the_question_and_the_texts(candidates):
    asked = []

    def function(query, texts):
        asked.append((query, texts))
        return [len(text) for text in texts]

    found = rerank(candidates, FunctionReranker(function))
    assert asked == [("Where does Ann live?", ["Bob naps.", "Ann moved to Oslo.", "It rains."])]
    assert (found.order.tolist(), found.scores.tolist()) == ([1, 0, 2], [18, 9, 9])
    rerank(candidates, FunctionReranker(function, dated=True))
    assert all(text.startswith("[Date: ") for text in asked[1][1])


def test_a_function_cannot_spoil_the_texts(candidates):
    def function(query, texts):
        texts.clear()
        return np.arange(3, dtype=np.float32)

    assert FunctionReranker(function).scores(candidates).tolist() == [0, 1, 2]
    assert len(candidates.texts) == 3


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([1.0], "expected 3 scores"),
        ([1.0, 2.0, float("nan")], "must be finite, got nan for text 2"),
        (["a", "b", "c"], "not numbers"),
        ([10**400, 0, 0], "not numbers"),
        (None, "expected 3 scores"),
    ],
)
def test_a_function_that_answers_nonsense_is_an_error(candidates, answer, message):
    with pytest.raises(RerankError, match=message):
        FunctionReranker(lambda query, texts: answer).scores(candidates)


def test_a_function_that_fails_is_an_error_that_says_how(candidates):
    with pytest.raises(RerankError, match="reranker 'mine': ZeroDivisionError: ") as caught:
        FunctionReranker(lambda query, texts: 1 / 0, name="mine").scores(candidates)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


class Judge:
    vocabulary = "wordpiece-0"

    def score_pairs(self, query, texts, threads, stored):
        assert stored is None  # the store has none
        self.asked = (query, texts, threads)
        return PairScores(np.array([0.25, 0.5, 0.125]), 2)


def test_a_cross_encoder_reads_dated_texts(candidates, monkeypatch):
    judge = Judge()
    loaded = []
    monkeypatch.setattr(
        module, "load_cross_encoder", lambda *arguments: loaded.append(arguments) or judge
    )
    found = rerank(candidates, CrossEncoderReranker("mine", "fp32", threads=2))
    assert loaded == [("mine", "fp32")]
    assert found.order.tolist() == [1, 0, 2]
    assert judge.asked == ("Where does Ann live?", candidates.dated_texts, 2)
    assert candidates.trace.truncated == {"rerank": 2}
    CrossEncoderReranker(dated=False).scores(candidates)
    assert candidates.trace.truncated == {"rerank": 4}
    assert judge.asked == ("Where does Ann live?", candidates.texts, 1)


def test_a_cross_encoder_that_is_not_there_says_what_to_type(candidates, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    with pytest.raises(ModelError, match="hf download cross-encoder/ms-marco-MiniLM-L-6-v2"):
        CrossEncoderReranker().scores(candidates)
    with pytest.raises(InputError, match="threads must lie in"):
        CrossEncoderReranker(threads=0)
