import pytest


@pytest.fixture
def tmp_path(tmp_path):
    """The folder of a log, for one test alone: the file HEAD lies beside it."""
    folder = tmp_path / "log"
    folder.mkdir()
    return folder
