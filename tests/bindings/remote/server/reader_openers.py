"""Functions that open a store in a reader process: whole stores, and some that fail."""

import os
import time
from typing import Any

import recollex
from tests.bindings.remote.http.http_service import HashedWords
from tests.bindings.serving import DIMENSION
from tests.bindings.word_vectors import WordVectors


def whole(path: str) -> recollex.Store:
    """Open a store as `tests.bindings.serving.given` does, for reading."""
    return recollex.open(
        path, embedder=recollex.GivenVectors(DIMENSION, links=False), read_only=True
    )


def words(path: str) -> recollex.Store:
    """Open a store whose vectors are those of `WordVectors`."""
    return recollex.open(path, embedder=WordVectors(), read_only=True)


def hashed(path: str) -> recollex.Store:
    """Open a store whose vectors are those of `HashedWords`."""
    return recollex.open(path, embedder=HashedWords(), read_only=True)


def deadly(path: str) -> recollex.Store:
    """Open a store; a call of history ends the process."""

    def history(self: Any, id: str) -> None:
        os._exit(3)

    setattr(recollex.Agent, "history", history)  # noqa: B010
    return whole(path)


def slow(path: str) -> recollex.Store:
    """Open a store that takes a second for a history, and fails for a log."""

    def history(self: Any, id: str) -> list[Any]:
        time.sleep(1.0)
        return []

    def log(self: Any, since: Any = None, until: Any = None, op: Any = None) -> None:
        raise RuntimeError("nobody foresaw it")

    setattr(recollex.Agent, "history", history)  # noqa: B010
    setattr(recollex.Agent, "log", log)  # noqa: B010
    return whole(path)
