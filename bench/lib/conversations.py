"""LoCoMo's ten conversations as one memory of 5,882 turns, and the questions about them.

A session of a conversation is a document. Questions are asked a minute after the last turn of
their conversation. LoCoMo (Maharana et al., ACL 2024) is read from ``FOLDER/locomo/locomo10.json``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recollex
from bench.datasets import locomo
from bench.datasets.bank import Bank
from bench.lib.kept_stores import kept
from bench.lib.kept_vectors import KeptVectors


@dataclass(frozen=True)
class Asked:
    """A question, when it is asked, and the ids of the turns that prove its answer."""

    text: str
    now: datetime
    evidence: frozenset[str]

    def fields(self) -> dict[str, Any]:
        """Return what `Agent.recall` takes."""
        return {"query": self.text, "now": self.now}


class FreshQueries:
    """An embedder that keeps the vectors of passages, and runs the model for every query.

    `Encoder.embed_query` would remember the vector of a query that is asked again.
    """

    def __init__(self) -> None:
        self._kept = KeptVectors()
        self.dimension = self._kept.dimension
        self.fingerprint = self._kept.fingerprint
        self.thresholds = self._kept.thresholds
        self.embed = self._kept.embed
        self.count_tokens = self._kept.count_tokens

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return float32[dimension] of length 1; MiniLM puts no prefix before either kind."""
        vector: NDArray[np.float32] = self._kept.encoder.embed([text])[0]
        return vector


def available(data: Path) -> bool:
    return (data / "locomo" / "locomo10.json").exists()


def turns(bank: Bank) -> list[dict[str, Any]]:
    """Return a conversation's turns as `Agent.retain_dialogue` takes them, with unique ids."""
    return [
        {name: value for name, value in turn.items() if name != "document"}
        | {"id": f"{bank.name}/{turn['id']}"}
        for turn in bank.turns
    ]


def asked(bank: Bank) -> list[Asked]:
    """Return the questions about a conversation that have evidence."""
    return [
        Asked(q.text, q.asked_at, frozenset(f"{bank.name}/{id}" for id in q.evidence))
        for q in bank.queries
        if q.evidence
    ]


def retain(agent: recollex.Agent, banks: list[Bank]) -> None:
    for bank in banks:
        said = list(zip(turns(bank), bank.turns, strict=True))
        for document in dict.fromkeys(turn["document"] for turn in bank.turns):
            part = [fields for fields, turn in said if turn["document"] == document]
            agent.retain_dialogue(part, document_id=f"{bank.name}/{document}")


@contextmanager
def conversation_store(
    folder: Path, data: Path, embedder: Any
) -> Iterator[tuple[recollex.Agent, list[Bank], list[Asked]]]:
    """Yield an agent that remembers all conversations, these, and all questions about them."""
    banks = locomo.load(data)
    with kept(folder, "locomo", embedder, lambda agent: retain(agent, banks)) as agent:
        yield agent, banks, [question for bank in banks for question in asked(bank)]
