"""A small store whose backup has many pieces."""

import pytest

from recollex_engine.backup import agent_backup
from recollex_engine.writing import checkpoint
from tests.engine.faults.small_store import fill, opened


@pytest.fixture
def small(monkeypatch):
    """Many pieces and log files, of few memories."""
    monkeypatch.setattr(agent_backup, "LOG_BYTES", 1000)
    monkeypatch.setattr(agent_backup, "VECTOR_ROWS", 16)
    monkeypatch.setattr(checkpoint, "LOG_BYTES", 3000)


@pytest.fixture
def path(tmp_path, small):
    with opened(tmp_path / "store") as agent:
        for first in range(0, 40, 10):
            fill(agent, first, 10)
            agent.checkpoint()
    return tmp_path / "store"
