"""The subcommand that moves agents to another model."""

from pathlib import Path

import pytest

import recollex
from recollex.api import store as stores
from recollex.cli import main
from tests.bindings.word_vectors import WordVectors


class Renamed(WordVectors):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.fingerprint = f"{name}@1"


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Return tiny models for model names."""
    monkeypatch.setattr(
        "recollex_engine.models.encoder.load_encoder", lambda name="old": Renamed(str(name))
    )
    assert stores.read_embedder("x")().fingerprint == "x@1"


def told(path: Path, *names: str) -> None:
    with recollex.open(path, embedder="old") as store:
        for name in names:
            store.agent(name).retain_many(["Ann lives in Oslo.", "Ben has a puppy."])


def test_every_agent_is_moved_or_the_one_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(tmp_path / "m", "a", "b")
    assert main(["reembed", str(tmp_path / "m"), "--model", "new", "--agent", "b"]) == 0
    assert capsys.readouterr().out == "b: 2 passages embedded with new\n"
    assert main(["reembed", str(tmp_path / "m"), "--model", "new", "--threads", "2"]) == 0
    assert capsys.readouterr().out == (
        "a: 2 passages embedded with new\nb: 0 passages embedded with new\n"
    )
    with recollex.open(tmp_path / "m", embedder="new") as store:
        assert store.agent("a").recall("Where does Ann live")[0].text == "Ann lives in Oslo."
        assert store.agent("b").stats().model == "new@1"


def test_what_is_not_there_and_what_is_held(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reembed", str(tmp_path / "none"), "--model", "new"]) == 1
    assert "there is no store" in capsys.readouterr().err
    told(tmp_path / "m", "a")
    assert main(["reembed", str(tmp_path / "m"), "--model", "new", "--agent", "x"]) == 1
    assert "there is no agent 'x'" in capsys.readouterr().err
    assert main(["reembed", str(tmp_path / "m")]) == 2
    assert "--model" in capsys.readouterr().err
    with recollex.open(tmp_path / "m", embedder="old") as store:
        store.agent("a")
        assert main(["reembed", str(tmp_path / "m"), "--model", "new"]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and "close that writer, then reembed only changes over" in said
