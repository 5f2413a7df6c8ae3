"""Any number of memories and questions, made up the same way every time.

A text has about 100 characters; its words follow a Zipf-Mandelbrot law over 200,000 words. Vectors
lie in 1,000 uneven clusters with a falling spectrum, as those of a text encoder do. Every 50
memories are a document. A memory names two entities, drawn by Zipf from one name for each 50
memories. Tags mark a thousandth, a hundredth, a tenth and half of the memories. 70 % are of the
world, 20 % of the agent, 10 % opinions. Events are spread evenly over three years. Batches are
independent, so that a rival can get the same ones without keeping them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEED = 7
DIMENSION = 384
WORDS = 200_000
CENTRES = 1_000
BATCH = 2_000
DOCUMENT = 50
START = datetime(2023, 1, 1, tzinfo=UTC)
SPAN = timedelta(days=3 * 365)
END = START + SPAN
TAGS = {"thousandth": 0.001, "hundredth": 0.01, "tenth": 0.1, "half": 0.5}
QUESTIONS = 10_000_019
"""The number of the first batch of questions; batches of memories have smaller numbers."""


@dataclass(frozen=True)
class Batch:
    """Memories; memory n is entry n of every field."""

    texts: list[str]
    words: list[list[int]]
    vectors: NDArray[np.float32]
    entities: list[list[str]]
    tags: list[list[str]]
    networks: list[str]
    documents: list[str]
    event_at: list[datetime]

    def __len__(self) -> int:
        return len(self.texts)

    def fields(self) -> dict[str, Any]:
        """Return what `Agent.retain_many` takes."""
        return {
            "texts": self.texts,
            "embedding": self.vectors,
            "entities": self.entities,
            "tags": self.tags,
            "network": self.networks,
            "document_id": self.documents,
            "event_at": self.event_at,
        }


@dataclass(frozen=True)
class Question:
    """A question: its words, and a vector near that of some memory."""

    words: list[int]
    vector: NDArray[np.float32]

    @property
    def text(self) -> str:
        """The words, written as in the memories."""
        return text_of(self.words)

    def fields(self) -> dict[str, Any]:
        """Return what `Agent.recall` takes."""
        return {"query": self.text, "query_embedding": self.vector, "now": END}


def text_of(words: list[int]) -> str:
    return " ".join(f"t{word}" for word in words)


def name(number: int) -> str:
    """Return a name of seven letters; names of near numbers differ much.

    Similar names would be compared by entity resolution. Numbers below 26 ** 7 have different
    names, because the factor shares no divisor with 26.
    """
    number = (number + 1) * 2_971_215_073 % 26**7
    letters = [chr(ord("a") + number // 26**place % 26) for place in range(7)]
    return "".join(letters).capitalize()


@cache
def _shares() -> NDArray[np.float64]:
    weights = (np.arange(1, WORDS + 1) + 2.7) ** -1.05
    shares: NDArray[np.float64] = np.cumsum(weights / weights.sum())
    return shares


@cache
def _clusters() -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float64]]:
    """Return the centres, the spread of each along every axis, and their cumulated shares."""
    rng = np.random.default_rng(SEED)
    spectrum = (np.arange(1, DIMENSION + 1) ** -0.7).astype(np.float32)
    spectrum /= np.linalg.norm(spectrum)
    turned = np.linalg.qr(rng.standard_normal((DIMENSION, DIMENSION)))[0].astype(np.float32)
    centres = (rng.standard_normal((CENTRES, DIMENSION)).astype(np.float32) * spectrum) @ turned
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    spreads = np.stack([spectrum[rng.permutation(DIMENSION)] for _ in range(CENTRES)])
    return centres, spreads, np.cumsum(rng.dirichlet(np.ones(CENTRES)))


def vectors(number: int, count: int) -> NDArray[np.float32]:
    """Return the vectors of batch ``number``: float32[count, 384] of length 1."""
    rng = np.random.default_rng([SEED, number, 1])
    centres, spreads, shares = _clusters()
    cluster = np.minimum(np.searchsorted(shares, rng.random(count)), CENTRES - 1)
    drawn = rng.standard_normal((count, DIMENSION), dtype=np.float32)
    drawn = centres[cluster] + drawn * spreads[cluster] * np.float32(0.8)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn


def words(number: int, count: int) -> list[list[int]]:
    """Return the words of batch ``number``, one list for each text; word 0 is the most frequent."""
    rng = np.random.default_rng([SEED, number, 2])
    lengths = np.clip(rng.poisson(20, count), 4, 60)
    drawn = np.searchsorted(_shares(), rng.random(int(lengths.sum())))
    parts = np.split(np.minimum(drawn, WORDS - 1), np.cumsum(lengths)[:-1])
    return [part.tolist() for part in parts]


def batches(rows: int) -> Iterator[Batch]:
    """Yield ``rows`` memories in batches of 2,000."""
    names = max(20, rows // 50)
    step = SPAN / rows
    for number, first in enumerate(range(0, rows, BATCH)):
        count = min(BATCH, rows - first)
        rng = np.random.default_rng([SEED, number, 3])
        named = (rng.zipf(1.3, size=(count, 2)) - 1) % names
        tagged = rng.random((count, len(TAGS))) < list(TAGS.values())
        network = np.searchsorted([0.7, 0.9], rng.random(count), side="right")
        drawn = words(number, count)
        yield Batch(
            texts=[text_of(line) for line in drawn],
            words=drawn,
            vectors=vectors(number, count),
            entities=[[name(a), name(b)] for a, b in named.tolist()],
            tags=[
                [tag for tag, held in zip(TAGS, row, strict=True) if held]
                for row in tagged.tolist()
            ],
            networks=[("world", "agent", "opinion")[kind] for kind in network.tolist()],
            documents=[f"document {row // DOCUMENT}" for row in range(first, first + count)],
            event_at=[START + row * step for row in range(first, first + count)],
        )


def questions(rows: int, count: int) -> list[Question]:
    """Return questions of 3 to 8 words of one text, which is made like ``rows`` memories.

    Each has a frequent word (among the 100 most frequent), a rare one (beyond the 3,000th), and
    others beyond the 30th: stop words are removed from a question before the search.
    """
    rng = np.random.default_rng([SEED, QUESTIONS, rows])
    found: list[Question] = []
    number = QUESTIONS
    while len(found) < count:
        near = vectors(number, BATCH)
        for place, line in enumerate(words(number, BATCH)):
            own = sorted(set(line))
            common = [word for word in own if word < 100]
            rare = [word for word in own if word >= 3_000]
            others = [word for word in own if word >= 30]
            if not common or not rare or len(others) < 7 or len(found) == count:
                continue
            asked = [int(rng.choice(common)), int(rng.choice(rare))]
            rest = [word for word in rng.permutation(others).tolist() if word not in asked]
            asked += rest[: int(rng.integers(1, 7))]
            found.append(Question(asked, near[place]))
        number += 1
    return found
