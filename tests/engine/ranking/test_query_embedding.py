"""Where words are searched depends on what the model takes, and what is found does not."""

import threading
from dataclasses import replace

import pytest

import recollex
from recollex import presets
from recollex_engine.ranking.query_embedding import WORTH, LatencyEstimate
from recollex_engine.recall import word_search
from tests.bindings.word_vectors import WordVectors

TEXTS = [f"The {colour} boat sails to port {n}." for n in range(30) for colour in ("red", "blue")]


class Steady(LatencyEstimate):
    """A model that always took as long."""

    def __init__(self, average):
        self.average = average

    def add(self, spent):
        pass


def asked(tmp_path, average, monkeypatch, times=4):
    """Return the answers to one question, and the threads that read it."""
    threads = []
    read = word_search.read_question
    monkeypatch.setattr(
        word_search,
        "read_question",
        lambda *asked: threads.append(threading.current_thread()) or read(*asked),
    )
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        alice = store.agent("alice")
        object.__setattr__(alice.engine.context, "latency", Steady(average))
        if not alice.stats().memories:
            alice.retain_many(TEXTS)
        return [list(alice.recall("a red boat")) for _ in range(times)], set(threads)


def test_words_are_searched_beside_a_model_that_takes_long(tmp_path, monkeypatch):
    slow, beside = asked(tmp_path, 2 * WORTH, monkeypatch)
    quick, here = asked(tmp_path, WORTH / 2, monkeypatch)
    assert all(each == slow[0] for each in slow + quick)
    assert threading.main_thread() not in beside
    assert here == {threading.main_thread()}


def test_what_a_model_took_moves_the_average_a_tenth_of_the_way_and_an_outlier_not_far():
    estimate = LatencyEstimate()
    assert estimate.average > WORTH  # unknown: it may be slow
    for _ in range(50):
        estimate.add(10.0)
    assert estimate.average < WORTH
    before = estimate.average
    estimate.add(1e9)
    assert estimate.average <= before + WORTH


class Asked(WordVectors):
    """Notes the questions that are embedded."""

    def __init__(self):
        super().__init__()
        self.questions = []

    def embed_query(self, text):
        self.questions.append(text)
        return super().embed_query(text)


WORDS = replace(presets.default, arms=("keyword",))
BOTH = "Do Ann and Bo like tea?"


@pytest.mark.parametrize(
    "preset", [WORDS, replace(WORDS, fusion=presets.ReciprocalRank(), divides=False)]
)
def test_a_question_that_is_searched_by_words_alone_is_not_embedded(tmp_path, preset):
    with recollex.open(tmp_path, embedder=(model := Asked())) as store:
        alice = store.agent("alice")
        alice.retain_many(["Ann likes tea.", "Bo said that he likes tea.", "Ann has a dog."])
        model.questions.clear()
        found = alice.recall(BOTH, preset=preset)
        assert len(found) == 3 and not found.trace.errors
        assert model.questions == []
        alice.recall(BOTH, preset=preset, pack="subgraph")
        assert model.questions  # the entry points of the subgraph are near the question


def test_the_parts_of_a_question_are_searched_by_words_alone(tmp_path):
    with recollex.open(tmp_path, embedder=(model := Asked())) as store:
        alice = store.agent("alice")
        alice.retain_many([f"Ann likes tea, and Ann likes {word}." for word in ("jam", "rye")])
        alice.retain(
            "Bo has, as all the neighbours remember, always had some of the tea of the others."
        )
        model.questions.clear()
        whole = alice.recall(BOTH, preset=replace(WORDS, divides=False))
        parts = alice.recall(BOTH, preset=WORDS)
        assert "parts" in parts.trace.stages and not parts.trace.errors
        assert model.questions == []
        assert ["Bo " in each.text for each in whole] == [False, False, True]
        assert ["Bo " in each.text for each in parts] == [False, True, False]


@pytest.mark.parametrize(
    "options",
    [
        {"arms": ("keyword", "semantic")},
        {"arms": ("temporal",)},
        {"self_anchoring": presets.SelfAnchoring()},
        {"reranker": presets.MemoraHeuristic()},
        {"diversity": presets.Diversity(balance=0.5)},
    ],
)
def test_what_compares_vectors_embeds_the_question(tmp_path, options):
    with recollex.open(tmp_path, embedder=(model := Asked())) as store:
        alice = store.agent("alice")
        alice.retain("Ann likes tea.")
        model.questions.clear()
        alice.recall("Who likes tea?", preset=replace(WORDS, **options))
        assert model.questions == ["Who likes tea?"]
