"""One server over HTTP for all tests of a file, and a client of it."""

from collections.abc import Iterator

import httpx
import pytest

from tests.bindings.remote.http.http_service import Served, served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("http")) as running:
        yield running


@pytest.fixture(scope="module")
def http(server: Served) -> Iterator[httpx.Client]:
    with server.http() as client:
        yield client
