"""A cache of a cross-encoder's recent scores, which evicts the least recently used."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import Generic, TypeVar

from recollex_engine import fork

Score = TypeVar("Score")


class ScoreCache(Generic[Score]):
    """Scores of one model by question and text, at most ``most`` of them.

    The text is what the model reads for a memory, with its date and context. So a corrected memory
    is another text, and equal memories of two agents share a score. Keys are digests of 128 bits:
    an entry takes about 200 bytes, however long the texts are.

    Threads: any number.

    >>> cache = ScoreCache[float](2)
    >>> cache.put("who?", ["Ann", "Bob", "Eve"], [0.1, 0.2, 0.3])
    >>> cache.get("who?", ["Ann", "Bob", "Eve"])
    [None, 0.2, 0.3]
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._scores: OrderedDict[bytes, Score] = OrderedDict()
        self._changing = fork.lock()

    def get(self, query: str, texts: Sequence[str]) -> list[Score | None]:
        """Return the score of each text, or None if it is not cached. Cost: 1 us a text."""
        keys = _keys(query, texts)
        with self._changing:
            found = [self._scores.get(key) for key in keys]
            for key, score in zip(keys, found, strict=True):
                if score is not None:
                    self._scores.move_to_end(key)
        return found

    def put(self, query: str, texts: Sequence[str], scores: Sequence[Score]) -> None:
        """Store the scores of texts."""
        with self._changing:
            for key, score in zip(_keys(query, texts), scores, strict=True):
                self._scores[key] = score
                self._scores.move_to_end(key)
            while len(self._scores) > self._most:
                self._scores.popitem(last=False)


def _keys(query: str, texts: Sequence[str]) -> list[bytes]:
    before = hashlib.blake2b(query.encode("utf-8", "surrogatepass"), digest_size=16)
    before.update(b"\xff")  # marks the end of the question: UTF-8 never has this byte
    keys = []
    for text in texts:
        digest = before.copy()
        digest.update(text.encode("utf-8", "surrogatepass"))
        keys.append(digest.digest())
    return keys
