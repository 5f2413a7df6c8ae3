import sys
import types

import numpy as np
import pytest

from recollex.api.store import read_embedder
from recollex_engine.errors import InputError, ModelError
from recollex_engine.models.encoder import load_encoder


class Tensor:
    def __init__(self, values):
        self.values = np.array(values, np.float32)

    def float(self):
        return self

    cpu = float

    def numpy(self):
        return self.values


class FakeModel:
    """Says which way it was asked, in the vector's direction."""

    calls = []  # noqa: RUF012
    weights = 1.0

    def __init__(self, name, local_files_only):
        assert local_files_only  # else the library asks the hub, each time
        if "missing" in name:
            raise OSError(f"no {name} on the hub")
        self.tokenizer = lambda text, add_special_tokens: {"input_ids": text.split()}

    def get_sentence_embedding_dimension(self):
        return 8

    def state_dict(self):
        return {"w": Tensor([self.weights])}

    def _vectors(self, texts, way):
        self.calls.append((way, list(texts)))
        found = np.zeros((len(texts), 8), np.float32)
        found[:, ["query", "document"].index(way)] = 1
        return found

    def encode_query(self, texts, batch_size, normalize_embeddings, show_progress_bar):
        assert normalize_embeddings
        return self._vectors(texts, "query")

    def encode_document(self, texts, batch_size, normalize_embeddings, show_progress_bar):
        return self._vectors(texts, "document")

    encode = encode_document


@pytest.fixture
def fake(monkeypatch):
    library = types.ModuleType("sentence_transformers")
    library.SentenceTransformer = FakeModel
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    monkeypatch.setattr("recollex_engine.models.encoder._loaded", {})
    FakeModel.calls.clear()


def test_a_name_behind_the_prefix_is_run_by_the_library(fake):
    encoder = read_embedder("sentence-transformers:owner/m")()
    encoder.embed(["Ann moved to Oslo."])
    encoder.embed_query("Where is Ann?")
    assert encoder.fingerprint.startswith("sentence-transformers:owner/m@")
    assert [way for way, _ in FakeModel.calls] == ["document", "query"]


def test_texts_come_back_in_order_and_progress_adds_up(fake):
    encoder = load_encoder("sentence-transformers:owner/m")
    assert load_encoder("sentence-transformers:owner/m") is encoder
    done = []
    texts = ["x" * (n % 7) for n in range(70)]
    assert encoder.embed(texts, progress=done.append).shape == (70, 8)
    assert done == [32, 32, 6]
    assert sorted(text for _, batch in FakeModel.calls for text in batch) == sorted(texts)
    assert encoder.count_tokens("a b c") == 3
    vector = encoder.embed_query("a")
    assert encoder.embed_query("a") is vector
    assert not vector.flags.writeable


def test_other_weights_are_another_model(fake, monkeypatch):
    before = load_encoder("sentence-transformers:owner/m").fingerprint
    monkeypatch.setattr("recollex_engine.models.encoder._loaded", {})
    monkeypatch.setattr(FakeModel, "weights", 2.0)
    assert load_encoder("sentence-transformers:owner/m").fingerprint != before


def test_what_is_missing_is_said(fake, monkeypatch):
    with pytest.raises(
        ModelError, match=r"OSError: no missing/m on the hub(?s:.*)hf download missing/m"
    ):
        load_encoder("sentence-transformers:missing/m")
    with pytest.raises(InputError, match="must be a str, got int"):
        load_encoder("sentence-transformers:owner/m").embed([3])
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ModelError, match=r"pip install 'recollex\[sentence-transformers\]'"):
        load_encoder("sentence-transformers:owner/other")
