"""Stored word pieces change nothing but the time that a reranker takes."""

from dataclasses import replace
from datetime import timedelta

import pytest

import recollex
from recollex_engine.ranking import rerankers
from recollex_engine.ranking.rerankers import CrossEncoderReranker
from recollex_engine.writing.reembedding import reembed
from tests.engine.state.word_pieces.filled_store import (
    QUERY,
    START,
    everything,
    filled,
    plain,
    read,
)

pytestmark = pytest.mark.filterwarnings("ignore::recollex_engine.models.embedder.TruncationWarning")


def scores(view, judge, monkeypatch, dated, stored):
    """Return a judge's scores of everything, and how many texts it tokenised, nothing known."""
    judge._known._scores.clear()
    judge._pairs._remembered.clear()
    asked = []
    with monkeypatch.context() as patch:
        patch.setattr(rerankers, "load_cross_encoder", lambda *_: judge)
        if not stored:
            patch.setattr(rerankers, "find_pieces", lambda *_: None)
        tokens = judge._pairs._tokens
        patch.setattr(judge._pairs, "_tokens", lambda texts: asked.extend(texts) or tokens(texts))
        found = CrossEncoderReranker("judge", dated=dated).scores(everything(view))
    return found.tolist(), len(asked)


@pytest.mark.parametrize("dated", [True, False])
def test_a_cross_encoder_of_the_vocabulary_gives_the_same_scores(
    folder, encoder, judge, monkeypatch, dated
):
    assert judge.vocabulary == encoder.vocabulary
    with recollex.open(folder, read_only=True, embedder=encoder) as store:
        view = store.agent("ann").engine.view()
        with_them, tokenised = scores(view, judge, monkeypatch, dated, True)
        without, all_of_them = scores(view, judge, monkeypatch, dated, False)
    assert with_them == without and len(set(with_them)) > 4
    assert (tokenised, all_of_them) == (0, 8)  # headings are not texts


def test_one_of_another_vocabulary_tokenises(tmp_path, other, judge, monkeypatch):
    assert other.vocabulary not in (None, judge.vocabulary)
    filled(tmp_path / "s", other)
    with recollex.open(tmp_path / "s", read_only=True, embedder=other) as store:
        view = store.agent("ann").engine.view()
        assert view.has_pieces
        with_them, tokenised = scores(view, judge, monkeypatch, True, True)
        assert tokenised == 8
        assert (with_them, 8) == scores(view, judge, monkeypatch, True, False)


def test_recalls_are_the_same_with_them_and_without(folder, encoder, judge, monkeypatch):
    monkeypatch.setattr(rerankers, "load_cross_encoder", lambda *_: judge)
    preset = replace(recollex.presets.tempr, reranker=CrossEncoderReranker("judge"))

    def recalled(agent):
        judge._known._scores.clear()
        found = agent.recall(QUERY, preset=preset, now=START + timedelta(days=9))
        assert not found.trace.errors
        return [(memory.id, memory.score) for memory in found]

    with recollex.open(folder, read_only=True, embedder=encoder) as store:
        agent = store.agent("ann")
        then = list(agent.log())[3].recorded_at
        expected = [recalled(agent), recalled(agent.at(then))]
        assert len(expected[0]) > 3 < len(expected[1])
        monkeypatch.setattr(rerankers, "find_pieces", lambda *_: None)
        assert [recalled(agent), recalled(agent.at(then))] == expected


def test_reembedding_keeps_those_of_either_vocabulary(folder, encoder, other, judge, monkeypatch):
    with recollex.open(folder, read_only=True, embedder=encoder) as store:
        view = store.agent("ann").engine.view()
        rows, before = view.rows, read(view, range(view.rows), encoder)
    assert reembed(folder / "agents" / "ann", "ann", other, lambda: 2**60) == rows
    for again in range(2):
        with recollex.open(folder, embedder=other) as store:
            agent = store.agent("ann")
            if not again:
                agent.retain("the Dog sat")
                agent.checkpoint()
            view = agent.engine.view()
            assert read(view, range(rows + 1), encoder) == [*before, []]
            expected = [[]] * rows + [plain(other, "the Dog sat")]
            assert read(view, range(rows + 1), other) == expected
            with_them, tokenised = scores(view, judge, monkeypatch, False, True)
            assert tokenised == 1
            assert (with_them, 9) == scores(view, judge, monkeypatch, False, False)
            assert agent.verify().ok
