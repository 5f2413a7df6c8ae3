"""An ONNX graph that others drew, run as it is."""

import json
import shutil

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from recollex_engine.errors import ModelError
from recollex_engine.models.convert import converted
from recollex_engine.models.cross_encoder import load_cross_encoder

QUERY = "what did ann say ?"
TEXTS = ["ann moved to oslo", "bob sat", "", "the cat ran , ann sat . " * 6, "it is raining"]


@pytest.fixture
def judge(tmp_path, make_model, make_tensors):
    rng = np.random.default_rng(11)
    tensors = make_tensors() | {
        "pooler.dense.weight": (0.2 * rng.normal(size=(32, 32))).astype(np.float32),
        "pooler.dense.bias": np.zeros(32, np.float32),
        "classifier.weight": (0.2 * rng.normal(size=(1, 32))).astype(np.float32),
        "classifier.bias": np.zeros(1, np.float32),
    }
    return make_model(tmp_path / "judge", tensors)


@pytest.fixture
def ready(judge, tmp_path):
    """``ready(change, under)``: a folder with the graph, changed, as a hub has it."""

    def make(change=lambda model: None, under="."):
        folder = tmp_path / "ready"
        (folder / under).mkdir(parents=True)
        for name in ("config.json", "tokenizer.json"):
            shutil.copyfile(judge / name, folder / name)
        model = onnx.load(converted(judge, "fp32", scoring=True).folder / "model.onnx")
        change(model)
        onnx.save(model, folder / under / "model.onnx")
        return folder

    return make


def as_column(model):
    """Give float32[batch, 1], as exporters do."""
    before = model.graph.output[0].name
    axes = helper.make_tensor("axes1", TensorProto.INT64, [1], [1])
    model.graph.initializer.append(axes)
    model.graph.node.append(helper.make_node("Unsqueeze", [before, "axes1"], ["logits"]))
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("logits", TensorProto.FLOAT, None))


def two_labels(model):
    as_column(model)
    model.graph.node.append(helper.make_node("Concat", ["logits", "logits"], ["two"], axis=1))
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("two", TensorProto.FLOAT, None))


def without_types(model):
    """Take no token types: some families have none."""
    del model.graph.input[2]
    shape = helper.make_node("Shape", ["input_ids"], ["shape"])
    model.graph.node.insert(0, helper.make_node("ConstantOfShape", ["shape"], ["token_type_ids"],
        value=helper.make_tensor("zero", TensorProto.INT64, [1], [0])))  # fmt: skip
    model.graph.node.insert(0, shape)


@pytest.mark.parametrize("under", [".", "onnx"])
@pytest.mark.parametrize("precision", ["int8", "fp32"])
def test_it_judges_as_the_weights_do(judge, ready, under, precision):
    found = load_cross_encoder(ready(as_column, under), precision)
    expected = load_cross_encoder(judge, "fp32").scores(QUERY, TEXTS)
    for threads in (1, 2):
        assert np.abs(found.scores(QUERY, TEXTS, threads) - expected).max() <= 1e-5
    assert found.fingerprint.startswith("ready@") and found.fingerprint.endswith("-onnx")
    assert found.max_length == 62  # of 64 positions


def test_a_family_without_token_types_is_fed_none(ready):
    scores = load_cross_encoder(ready(without_types), "fp32").scores(QUERY, TEXTS)
    assert scores.std() > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (two_labels, "gives 2 numbers for a pair, a cross-encoder gives 1"),
        (
            lambda model: model.graph.input.append(
                helper.make_tensor_value_info("pixels", TensorProto.FLOAT, [1])
            ),
            "cannot be run on input_ids, token_type_ids, attention_mask",
        ),
    ],
)
def test_what_is_no_cross_encoder_is_refused(ready, change, message):
    with pytest.raises(ModelError, match=message):
        load_cross_encoder(ready(change))


def test_what_is_missing_or_broken_is_said(ready, tmp_path):
    folder = ready()
    (folder / "config.json").write_text(json.dumps({}))
    assert load_cross_encoder(folder).max_length == 512
    (folder / "model.onnx").write_bytes(b"nonsense")
    with pytest.raises(ModelError, match="onnxruntime cannot load the model"):
        load_cross_encoder(folder, "fp32")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"has a graph, model\.onnx, and no tokenizer\.json"):
        load_cross_encoder(folder, "bf16")
