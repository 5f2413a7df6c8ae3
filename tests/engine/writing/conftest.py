"""A store to move to another model."""

from pathlib import Path

import pytest

import recollex
from tests.engine.writing.named_model import LONG, WORDS, Model


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with recollex.open(tmp_path / "s", embedder=Model("a", 32)) as opened:
        agent = opened.agent("a")
        agent.retain_many(
            [f"Number {n} of the {WORDS[n % 8]}." for n in range(40)],
            id=[f"m{n}" for n in range(40)],
        )
        agent.checkpoint()
        agent.retain("The last of the tea." + LONG, id="last")
    return tmp_path / "s"
