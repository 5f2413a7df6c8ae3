"""A bank of five turns with three questions, and an encoder that counts letters."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.datasets.bank import Bank, Query, Split, Turn
from recollex_engine.models.description import PAPER_THRESHOLDS

START = datetime(2024, 5, 1, 12, tzinfo=UTC)
_SAID = ["We planted tulips", "Nice", "The tulips froze", "My bicycle was stolen", "Oh no"]


class LetterEncoder:
    """Counts letters."""

    dimension = 32  # the letters, and what fills a whole number of blocks of eight
    fingerprint = "letters"
    thresholds = PAPER_THRESHOLDS

    def embed(
        self, texts: Sequence[str], threads: int = 1, progress: Any = None
    ) -> NDArray[np.float32]:
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        counts = np.array([text.lower().count(chr(97 + n)) for n in range(32)], np.float32)
        return counts / np.linalg.norm(counts)

    def count_tokens(self, text: str) -> int:
        return len(text.split())


def made_up_bank(name: str, split: Split, last: str, evidence: str) -> Bank:
    """Return the bank; its last question is ``last``, and the turn ``evidence`` answers it."""
    turns = tuple(
        Turn(
            id=f"t{n}",
            text=text,
            document=f"d{n // 2}",
            speaker="AnnBen"[n % 2 * 3 :][:3],
            at=START + timedelta(days=n),
        )
        for n, text in enumerate(_SAID)
    )
    asked = START + timedelta(days=9)
    queries = (
        Query("a", "Who planted tulips?", frozenset({"t0"}), "first", asked, 3, split),
        Query("b", "no evidence", frozenset(), "first", asked, 3, split),
        Query("c", last, frozenset({evidence}), "second", asked, 5, split),
    )
    return Bank("made", name, "Ann", turns, queries, "turn")
