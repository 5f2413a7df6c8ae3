import numpy as np
import pytest

from recollex_engine.models.bert import read_bert
from recollex_engine.models.convert import saturates
from recollex_engine.models.onnx_graph import float_graph, int8_graph, quantise
from recollex_engine.models.session import open_session
from tests.engine.models.bert_oracle import encoded


def oracle(tensors, ids, heads, pooling="mean"):
    """The vector of a text, or of each of its tokens, in float64."""
    x = encoded({name: tensor.astype(float) for name, tensor in tensors.items()}, ids, 0, heads)
    if pooling == "tokens":
        return x / np.linalg.norm(x, axis=1, keepdims=True)
    vector = x[0] if pooling == "cls" else x.mean(axis=0)
    return vector / np.linalg.norm(vector)


TEXTS = [[2, 3], [2, 5, 12, 13, 14, 3], [2, *range(5, 40), 3], [2, *([9] * 62), 3]]


@pytest.mark.parametrize("pooling", ["mean", "cls", "tokens"])
def test_the_float_graph_is_the_equations(tmp_path, make_model, make_tensors, pooling):
    bert = read_bert(make_model(tmp_path / "m"))
    session = open_session(float_graph(bert, pooling, True))
    for ids in TEXTS:
        mask = np.ones((1, len(ids)), dtype=np.int64)
        (found,) = session.run(None, {"input_ids": np.array([ids]), "attention_mask": mask})
        expected = oracle(make_tensors(), ids, 4, pooling)
        assert np.abs(found[0] - expected).max() <= 1e-5


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_padding_behind_the_mask_is_not_seen(tmp_path, make_model, make_tensors, pooling):
    bert = read_bert(make_model(tmp_path / "m"))
    session = open_session(float_graph(bert, pooling, True))
    ids = np.array([[*text, *[0] * (64 - len(text))] for text in TEXTS])
    mask = np.array([[n < len(text) for n in range(64)] for text in TEXTS]).astype(np.int64)
    (found,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
    for vector, text in zip(found, TEXTS, strict=True):
        assert np.abs(vector - oracle(make_tensors(), text, 4, pooling)).max() <= 1e-5


def test_taps_are_the_inputs_of_the_linears_that_follow_a_norm(tmp_path, make_model):
    bert = read_bert(make_model(tmp_path / "m"))
    session = open_session(float_graph(bert, "mean", True, taps=True))
    ids = np.array([TEXTS[1]])
    taps = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[1:]
    assert [tap.shape for tap in taps] == [(1, len(TEXTS[1]), bert.dimension)] * 4
    for tap, part in zip(taps, [bert.embedding_norm, bert.layers[0].attention_norm], strict=False):
        plain = (tap - part.shift) / part.scale
        assert np.abs(plain.mean(axis=2)).max() < 1e-5


EXACT = pytest.param(True, marks=pytest.mark.skipif(saturates(), reason="this processor saturates"))


@pytest.mark.parametrize("signed", [False, EXACT])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("spread", [1, 8])
def test_the_int8_graph_is_near_the_equations(
    tmp_path, make_model, make_tensors, pooling, spread, signed
):
    bert = read_bert(make_model(tmp_path / "m"))
    spreads = np.ones(bert.dimension, dtype=np.float32)
    spreads[3] = spread
    graph = int8_graph(bert, pooling, True, dict.fromkeys(range(4), spreads), signed)
    session = open_session(graph)
    for ids in TEXTS:
        (found,) = session.run(None, {"input_ids": np.array([ids])})
        assert found[0] @ oracle(make_tensors(), ids, 4, pooling) > 0.99


def test_the_int8_graph_takes_no_second_text(tmp_path, make_model):
    session = open_session(
        int8_graph(read_bert(make_model(tmp_path / "m")), "mean", True, {}, True)
    )
    assert [part.name for part in session.get_inputs()] == ["input_ids"]
    with pytest.raises(Exception, match="Got: 2 Expected: 1"):
        session.run(None, {"input_ids": np.array([[2, 3], [2, 3]])})


def test_quantised_columns_are_within_half_a_step():
    weight = np.random.default_rng(1).normal(size=(50, 9)).astype(np.float32)
    weight[:, 4] = 0
    weight[:, 5] *= 100
    columns, scales = quantise(weight)
    assert columns.dtype == np.int8
    assert (np.abs(columns * scales - weight) <= scales * 0.5001).all()
    assert (np.abs(columns).max(axis=0) == np.where(np.arange(9) == 4, 0, 127)).all()


def test_the_oracle_agrees_on_minilm(minilm):
    from recollex_engine.models.safetensors_file import read_tensors
    from recollex_engine.models.weights import find_weights

    encoder = minilm("fp32")
    tensors = read_tensors(find_weights("all-MiniLM-L6-v2").folder / "model.safetensors")
    for text in ("Where did Ann move to?", "On 14 May it rained in Oslo, and the cat stayed in."):
        ids = encoder._tokenizer.encode(text).ids
        assert np.abs(encoder.embed_query(text) - oracle(tensors, ids, 12)).max() <= 1e-5
