"""A store of small memories, and what its recalls answer before and after damage."""

import errno
import os
from contextlib import contextmanager

import numpy as np

import recollex

D = 32
PAGE = 10_000
WORDS = "tea ink owl fig oak bay elm jam kit log map net pen rug sun van".split()  # noqa: SIM905


def vectors(first, count):
    return np.random.default_rng(first).normal(size=(count, D)).astype(np.float32)


def text(n):
    return f"Memory {n} of {WORDS[n % 16]} and {WORDS[n * 7 % 13]}."


class Model:
    """A model in miniature: its vectors depend on the text alone."""

    dimension = D
    fingerprint = "miniature"
    thresholds = recollex.GivenVectors(D).thresholds

    def __init__(self):
        self.embedded = []

    def embed(self, texts, threads=1, progress=None):
        self.embedded += texts
        return np.concatenate([self.embed_query(text)[None] for text in texts])

    def embed_query(self, text):
        vector = np.random.default_rng(list(text.encode())).normal(size=D)
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    def count_tokens(self, text):
        return len(text.split())


@contextmanager
def opened(path, **options):
    with recollex.open(path, **{"embedder": recollex.GivenVectors(D), **options}) as store:
        yield store.agent("a")


def fill(agent, first, count):
    ids = [f"m{n}" for n in range(first, first + count)]
    texts = [text(n) for n in range(first, first + count)]
    return agent.retain_many(texts, id=ids, embedding=vectors(first, count))


def refuse(*_):
    """Fail, in place of a flush, as a device that fails does."""
    raise OSError(errno.EIO, os.strerror(errno.EIO))


class RefusedFlush:
    """A flush that was begun and fails, in place of `begun_flush.BegunFlush`."""

    is_whole = True

    def wait(self):
        refuse()


class SlowFlush:
    """A flush that was begun, and one of the test before it has ended."""

    is_whole = True

    def __init__(self, begun, wait):
        self._begun, self._wait = begun, wait

    def wait(self):
        self._wait()
        self._begun.wait()


def begin_nothing(_):
    """Begin no flush, as a system does that cannot, in place of `begun_flush.begin_flush`."""
    return None


def contents(agent):
    found, page = [], agent.list(limit=PAGE)
    while page:
        found += [(memory.id, memory.text) for memory in page]
        page = agent.list(limit=PAGE, after=page[-1].id)
    return found


def answers(agent, exact=True):
    """Recalls as ids and scores: the same before and after whatever happened to the files."""
    return [
        [
            (memory.id, memory.score)
            for memory in agent.recall(query, query_embedding=v, exact=exact)
        ]
        for query, v in zip(("tea ink", "owl", "Memory 7"), vectors(999, 3), strict=True)
    ]


def assert_holds(agent, held):
    assert contents(agent) == held[0]
    assert answers(agent) == held[1]
    assert agent.verify().problems == ()
