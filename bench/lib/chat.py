"""Memories of chat messages: the Ubuntu IRC log with MiniLM's vectors, or made-up messages.

The log is ``FOLDER/irc/messages.jsonl.gz``; each line is a message (at, speaker, text), and each
day is a document. Made-up messages are sentences of words drawn from a Zipf distribution, said by
40 people; their vectors come from their words. Questions are the texts of later messages; every
fifth of them is about last week.

The log was made from the timestamped Ubuntu IRC logs in ``data/`` of
github.com/jkkummerfeld/irc-disentanglement. SHA-256 of the file:
a0756acab83fbc9c4d558eab497144662bf0798d5794a69a45df15363cd5c3bb.
"""

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recollex
from bench.lib.kept_stores import kept

MOST = 200_000
"""The greatest number of messages remembered; later ones are left to ask with."""
LEAST_WORDS = 4
BATCH = 2_000
SEED = 11


@dataclass(frozen=True)
class Message:
    """One line of a chat."""

    at: datetime
    speaker: str
    text: str


class WordVectors:
    """An embedder: a text's vector is the mean of its words' random vectors."""

    dimension = 384
    fingerprint = "bench-words-384"
    thresholds = recollex.GivenVectors(384).thresholds

    def __init__(self) -> None:
        self._words: dict[str, NDArray[np.float32]] = {}

    def _word(self, word: str) -> NDArray[np.float32]:
        if word not in self._words:
            rng = np.random.default_rng(list(word.encode()))
            self._words[word] = rng.standard_normal(self.dimension).astype(np.float32)
        return self._words[word]

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return float32[dimension] of length 1."""
        vector = np.sum([self._word(word) for word in text.split()], axis=0, dtype=np.float32)
        unit: NDArray[np.float32] = vector / np.linalg.norm(vector)
        return unit

    def embed(
        self,
        texts: Sequence[str],
        threads: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> NDArray[np.float32]:
        """Return float32[len(texts), dimension]."""
        if progress is not None:
            progress(len(texts))
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def count_tokens(self, text: str) -> int:
        """Return the number of words."""
        return len(text.split())


def path_in(data: Path) -> Path:
    """Return the path of the log in the folder of the data sets; it may not exist."""
    return data / "irc" / "messages.jsonl.gz"


def messages(data: Path) -> Iterator[Message]:
    with gzip.open(path_in(data), "rt", encoding="utf-8") as lines:
        for line in lines:
            message = json.loads(line)
            if message["text"].strip():
                at = datetime.fromisoformat(message["at"])
                yield Message(at, message["speaker"], message["text"])


def made_up() -> Iterator[Message]:
    """Yield endless messages, the same ones every time."""
    rng = np.random.default_rng(SEED)
    words = np.array([f"w{number:x}" for number in range(20_000)])
    weights = 1 / np.arange(1, len(words) + 1)
    weights /= weights.sum()
    at = datetime(2024, 1, 1, tzinfo=UTC)
    while True:
        at += timedelta(seconds=int(rng.integers(5, 300)))
        text = " ".join(rng.choice(words, int(rng.integers(3, 25)), p=weights))
        yield Message(at, f"Person{int(rng.integers(0, 40))}", text)


def retain(agent: recollex.Agent, lines: list[Message]) -> None:
    """Retain messages; the document of a message is its day."""
    for day, said in groupby(lines, key=lambda message: message.at.date()):
        turns = [{"speaker": m.speaker, "text": m.text, "at": m.at} for m in said]
        for first in range(0, len(turns), BATCH):
            agent.retain_dialogue(turns[first : first + BATCH], document_id=day.isoformat())


def questions(lines: list[Message], now: datetime, count: int, embedder: Any) -> list[Any]:
    """Return the arguments of recalls, their vectors included."""
    long = [line for line in lines if len(line.text.split()) >= LEAST_WORDS][:count]
    asked = []
    for place, line in enumerate(long):
        text = f"{line.text} last week?" if place % 5 == 4 else line.text
        vector = embedder.embed_query(text)
        asked.append({"query": text, "query_embedding": vector, "now": now})
    return asked


@contextmanager
def chat_store(
    folder: Path, data: Path, rows: int, embedder: Any, count: int
) -> Iterator[tuple[recollex.Agent, list[Message], list[Any]]]:
    """Yield an agent with the first ``rows`` messages, these messages, and ``count`` questions."""
    lines = list(islice(messages(data), rows + count * 20))
    first, rest = lines[:rows], lines[rows:]
    asked = questions(rest, first[-1].at, count, embedder)
    with kept(folder, f"irc-{rows}", embedder, lambda agent: retain(agent, first)) as agent:
        yield agent, first, asked
