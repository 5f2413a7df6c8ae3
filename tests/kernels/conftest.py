"""For all tests of kernels: none may write to its inputs."""

import pytest

import recollex_engine  # noqa: F401 - keeps compiled kernels on disk
from tests.kernels.inputs import check_unchanged


@pytest.fixture(autouse=True)
def unchanged_inputs():
    yield
    check_unchanged()
