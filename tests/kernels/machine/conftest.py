import pytest

from tests.kernels.machine.toy_kernel import toy_package


@pytest.fixture
def source(tmp_path):
    return toy_package(tmp_path / "source")
