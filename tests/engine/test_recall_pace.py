"""Where words are searched depends on what the model takes, and what is found does not."""

import threading
import time

import recollex
from recollex_engine import recall
from tests.bindings.word_vectors import WordVectors

TEXTS = [f"The {colour} boat sails to port {n}." for n in range(30) for colour in ("red", "blue")]


class Slow(WordVectors):
    """A model that takes as long as a real one."""

    def embed_query(self, text):
        time.sleep(0.002)
        return super().embed_query(text)


def asked(tmp_path, embedder, monkeypatch, times=40):
    """Return the answers to one question, and the threads that read it."""
    threads = []
    read = recall.read_cues
    monkeypatch.setattr(
        recall, "read_cues", lambda text: threads.append(threading.current_thread()) or read(text)
    )
    monkeypatch.setattr(recall, "_model", recall.Pace())
    with recollex.open(tmp_path, embedder=embedder) as store:
        alice = store.agent("alice")
        if not alice.stats().memories:
            alice.retain(TEXTS)
        return [list(alice.recall("a red boat")) for _ in range(times)], tuple(threads)


def test_words_are_searched_beside_a_model_that_takes_long(tmp_path, monkeypatch):
    slow, beside = asked(tmp_path, Slow(), monkeypatch)
    quick, here = asked(tmp_path, WordVectors(), monkeypatch)
    assert all(each == slow[0] for each in slow + quick)
    assert threading.main_thread() not in beside
    assert here[-1] is threading.main_thread()
