"""A store that is opened to be read alone."""

from pathlib import Path

import pytest

import recollex


def test_a_reader_of_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    folder, vectors = tmp_path / "memoyr", recollex.GivenVectors(8)
    with (
        pytest.warns(UserWarning, match="memoyr does not exist"),
        recollex.open(folder, read_only=True, embedder=vectors) as reader,
    ):
        assert reader.agents() == []
        with recollex.open(folder, embedder=vectors) as writer:
            writer.agent("ann").retain("Tea.", embedding=[1.0] * 8)
        assert reader.agents() == ["ann"]
