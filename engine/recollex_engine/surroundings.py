"""What does an agent share with the others of its store?"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import Clock
from recollex_engine.durability import Durability
from recollex_engine.recall import QueryEmbedder

Progress = Callable[[int], None]
"""Told how many more memories are done."""


class Embedder(QueryEmbedder, Protocol):
    """A model that turns texts into vectors."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    @property
    def fingerprint(self) -> str:
        """Names the model and its weights; an agent keeps to one."""

    def embed(
        self, texts: Sequence[str], threads: int = 1, progress: Progress | None = None
    ) -> npt.NDArray[np.float32]:
        """Return float32[n, dimension], each row of length 1, of passages."""

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the model's own tokenizer sees."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an agent shares with the others of its store; ``create`` makes its folder.

    ``flushed`` is told how many seconds each flush of a log took.
    """

    create: Callable[[], None]
    embedder: Callable[[], Embedder]
    clock: Clock
    durability: Durability
    read_only: bool
    language: str
    threads: int
    background: Executor
    building: Executor
    flushed: Callable[[float], None] | None = None
