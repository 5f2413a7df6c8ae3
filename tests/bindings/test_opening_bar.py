import shutil

import numpy as np

import recollex
from recollex.api import progress
from recollex_engine.log import reader as watching


def told_of_an_opening(folder, **options):
    """Return what a listener was told while an agent was opened and asked how much it holds."""
    heard = []
    with (
        progress.reporting_to(lambda done, total: heard.append((done, total))),
        recollex.open(folder, embedder=recollex.GivenVectors(8), **options) as store,
    ):
        assert store.agent("ann").stats().memories == 300
    return heard


def test_an_opening_that_reads_much_of_the_log_says_how_far_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "PAUSE", 0)
    monkeypatch.setattr(watching, "LONG", 300)
    with recollex.open(tmp_path / "store", embedder=recollex.GivenVectors(8)) as store:
        texts = [f"word{number}" for number in range(300)]
        store.agent("ann").retain_many(texts, embedding=np.ones((300, 8)))
    assert told_of_an_opening(tmp_path / "store") == []  # a checkpoint holds them
    shutil.copytree(tmp_path / "store", tmp_path / "copy")
    for folder, read_only in (("store", False), ("copy", True)):
        (tmp_path / folder / "agents/ann/MANIFEST").unlink()
        heard = told_of_an_opening(tmp_path / folder, read_only=read_only)
        assert heard and heard[-1][0] == heard[-1][1] >= 300


def test_a_short_one_says_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "PAUSE", 0)
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
        store.agent("ann").retain_many(["tea"] * 300, embedding=np.ones((300, 8)))
    (tmp_path / "agents/ann/MANIFEST").unlink()
    assert told_of_an_opening(tmp_path) == []
