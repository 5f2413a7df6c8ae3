"""The contract of `contract.Contract`: the embedded API, and the client over a socket and HTTP."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollex
from tests.bindings.contract import Contract
from tests.bindings.http import http_service
from tests.bindings.serving import serving
from tests.bindings.word_vectors import WordVectors


class TestEmbedded(Contract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Any]:
        with recollex.open(tmp_path / "memory", embedder=WordVectors()) as store:
            yield store


class TestSocket(Contract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Any]:
        here = recollex.open(tmp_path / "memory", embedder=WordVectors())
        address = f"unix://{tmp_path / 'memory.sock'}"
        with serving(here, address=address), recollex.connect(address) as store:
            yield store


class TestHttp(Contract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Any]:
        with (
            http_service.served(tmp_path / "memory", embedder=WordVectors()) as running,
            recollex.connect(running.url) as store,
        ):
            yield store
