"""For all tests of kernels: none may write to its inputs."""

import pytest

from tests.kernels.inputs import check_unchanged


@pytest.fixture(autouse=True)
def unchanged_inputs():
    yield
    check_unchanged()
