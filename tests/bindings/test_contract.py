"""The contract of `contract.Contract`: the embedded API, and the client over a socket and HTTP."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import recollex
from tests.bindings.contract import Contract
from tests.bindings.remote.http import http_service
from tests.bindings.serving import serving
from tests.bindings.word_vectors import WordVectors

Stopping = Callable[[Callable[[], object]], None]


@pytest.fixture(scope="module")
def stopping() -> Iterator[Stopping]:
    """Stops servers beside the next tests: an HTTP server waits for two tenths of a second."""
    stopped: list[Future[Any]] = []
    with ThreadPoolExecutor(4) as threads:
        yield lambda stop: stopped.append(threads.submit(stop))
    for each in stopped:
        each.result()


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
    def store(self, tmp_path: Path, stopping: Stopping) -> Iterator[Any]:
        server = ExitStack()
        running = server.enter_context(
            http_service.served(tmp_path / "memory", embedder=WordVectors())
        )
        try:
            with recollex.connect(running.url) as store:
                yield store
        finally:
            stopping(server.close)
