"""Where words are searched depends on what the model takes, and what is found does not."""

import threading

import recollex
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
