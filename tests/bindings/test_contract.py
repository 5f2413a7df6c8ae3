"""The contract of `contract.Contract`, held by the embedded API."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollex
from tests.bindings.contract import Contract
from tests.bindings.word_vectors import WordVectors


class TestEmbedded(Contract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Any]:
        with recollex.open(tmp_path / "memory", embedder=WordVectors()) as store:
            yield store
