"""What the tests of the tables share."""

from pathlib import Path

import pytest

from bench.lib.kept_vectors import KeptVectors
from tests.bench.made_up_bank import LetterEncoder


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KeptVectors:
    """The vectors of `LetterEncoder`, in a cache of the test's own."""
    monkeypatch.setenv("RECOLLEX_CACHE", str(tmp_path))
    return KeptVectors(LetterEncoder(), tmp_path / "vectors")  # type: ignore[arg-type]
