"""The stores of encrypted agents have several segments, graphs and log files."""

import pytest

from recollex_engine.writing import checkpoint, maintenance, reembedding
from recollex_engine.writing import checkpoint as graphs


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Several segments, graphs and log files of a few hundred memories."""
    monkeypatch.setattr(checkpoint, "SEGMENT_ROWS", 128)
    monkeypatch.setattr(checkpoint, "LOG_BYTES", 60_000)
    monkeypatch.setattr(graphs, "GRAPH_ROWS", 128)
    monkeypatch.setattr(graphs, "GRAPH_STEP", 64)
    monkeypatch.setattr(reembedding, "BATCH", 32)
    monkeypatch.setattr(maintenance, "CLOSING_TAIL", 1 << 20)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store"
