import pytest

from tests.faults.checking import empty_folder


@pytest.fixture
def root():
    with empty_folder() as place:
        yield place
