"""A reranker that is not asked about what cannot be shown: the answer is the same to the bit."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex
from recollex import presets
from recollex_engine.errors import RerankError
from recollex_engine.ranking import reranking
from recollex_engine.ranking.reranking import Candidates, Combination, rerank
from tests.bindings.word_vectors import WordVectors

FEW = st.sampled_from([0.0, 0.25, 0.25, 0.5, 1.0])


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    rng = np.random.default_rng(3)
    words = "tea ink owl fig oak bay elm jam kit log".split()  # noqa: SIM905
    with recollex.open(
        tmp_path_factory.mktemp("early") / "s", embedder=WordVectors(), durability="off"
    ) as store:
        agent = store.agent("a")
        texts = [
            f"The tea of {n} " + " ".join(rng.choice(words, rng.choice([1, 5, 40, 300]))) + "."
            for n in range(110)
        ]
        agent.retain_many(texts)
        yield agent


@dataclass
class Judge:
    """Gives each memory the score of its number."""

    table: list[float]
    combination: Combination
    independent: bool = True
    name: str = "judge"
    asked: int = 0

    def scores(self, candidates: Candidates):
        self.asked += len(candidates)
        return np.array([self.table[m % len(self.table)] for m in candidates.memories.tolist()])


def ask(agent, judge, tokens, overflow, depth=None, **changes):
    preset = replace(presets.default, reranker=judge, overflow=overflow, depth=depth, **changes)
    found = agent.recall("the tea of the owl", preset=preset, max_tokens=tokens)
    assert not found.trace.errors
    return found


@settings(max_examples=150, deadline=None)
@given(
    table=st.lists(FEW, min_size=1, max_size=110),
    form=st.sampled_from(["add", "multiply"]),
    weight=st.sampled_from([0.0, 0.05, 0.3, 1.0]),
    tokens=st.integers(1, 1200),
    overflow=st.sampled_from(["skip", "stop"]),
    depth=st.sampled_from([None, 7, 40]),
    block=st.sampled_from([1, 5, 16]),
)
def test_what_is_shown_is_what_all_scores_would_show(
    agent, table, form, weight, tokens, overflow, depth, block
):
    judge = Judge(table, Combination(form, weight))
    full = ask(agent, replace(judge, independent=False), tokens, overflow, depth)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reranking, "BLOCK", block)
        early = ask(agent, judge, tokens, overflow, depth)
    assert list(early) == list(full) and early.tokens == full.tokens
    assert early.trace.judged == judge.asked <= full.trace.judged


def test_it_stops_early_where_little_is_shown(agent):
    judge = Judge([0.5, 0.25, 1.0], Combination("add", 0.05))
    assert ask(agent, judge, 20, "stop").trace.judged < 50
    full = ask(agent, judge, 100_000, "skip")
    assert full.trace.judged == len(full) > 90


@pytest.mark.parametrize(
    ("judge", "changes"),
    [
        (Judge([0.5], Combination("replace")), {}),
        (Judge([0.5], Combination("add", 0.0), independent=False), {}),
        (Judge([0.5], Combination("add", 0.0)), {"diversity": presets.Diversity()}),
    ],
)
def test_where_nothing_bounds_a_score_all_are_judged(agent, judge, changes):
    few = ask(agent, judge, 20, "stop", **changes)
    assert few.trace.judged == ask(agent, judge, 100_000, "skip", **changes).trace.judged > 90


def test_a_preset_without_a_reranker_judges_none(agent):
    assert agent.recall("tea").trace.judged is None


def test_scores_out_of_bounds_are_an_error(agent):
    view = agent.engine.view()
    candidates = Candidates("q", view, np.arange(3, dtype=np.uint32), np.array([3.0, 2, 1]), 0)
    with pytest.raises(RerankError, match=r"lie in \[0, 1\]"):
        rerank(candidates, Judge([2.0], Combination("add")), settled=lambda lead, others: False)


def test_a_question_longer_than_the_model_reads_is_told_in_the_trace(tmp_path):
    class Short(WordVectors):
        def unread(self, text: str) -> int:
            return max(0, len(text.split()) - 5)

    with recollex.open(tmp_path / "s", embedder=Short()) as store:
        agent = store.agent("a")
        agent.retain("The tea of the owl.")
        assert agent.recall("the tea of the owl").trace.truncated == {}
        assert agent.recall("the tea of the owl and of me").trace.truncated == {"query": 3}
