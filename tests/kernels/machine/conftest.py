import shutil

import pytest

from tests.kernels.machine.toy_kernel import PREPARED, ask, toy_package


@pytest.fixture
def source(tmp_path):
    return toy_package(tmp_path / "source")


@pytest.fixture(scope="session")
def first_cache(tmp_path_factory):
    """A cache that holds the toy, compiled by another process from another folder."""
    folder = tmp_path_factory.mktemp("first")
    cache = folder / "cache"
    assert ask(toy_package(folder / "source"), RECOLLEX_CACHE=str(cache)) == (42, False)
    return cache


@pytest.fixture
def cache(first_cache, tmp_path):
    """A copy of `first_cache`."""
    return shutil.copytree(first_cache, tmp_path / "cache")


@pytest.fixture(scope="session", autouse=True)
def _prepared_process_ends():
    yield
    PREPARED.close()
