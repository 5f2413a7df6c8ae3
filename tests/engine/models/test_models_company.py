"""A batch of 1, of 64, shuffled, sorted: how far does company move a result, by what runs it?"""

import importlib.util
import random

import numpy as np
import pytest

from recollex_engine.errors import ModelError
from recollex_engine.models import device_session
from recollex_engine.models.cross_encoder import load_cross_encoder
from recollex_engine.models.device_session import DeviceSession

MOVES = {"int8": 0.0, "fp32": 1e-5, "bf16": 0.0, "fp16": 2e-3}
"""What a component of a vector, or a score, may move."""
TEXT = "the garden of our new house was full of rain when Ann said that she had moved to Oslo"
QUESTION = "Where did Ann move to?"


def sentences(count):
    rng, words = random.Random(3), TEXT.split()
    return [f"{n} " + " ".join(rng.choices(words, k=rng.randint(1, 16))) for n in range(count)]


@pytest.fixture(params=MOVES)
def running(request, monkeypatch):
    """Each way of running; the GPU's path is taken on the CPU."""
    if request.param == "bf16" and importlib.util.find_spec("openvino") is None:
        pytest.skip("needs openvino")

    def on_the_cpu(model, longest):
        return DeviceSession(model, longest, "CPUExecutionProvider", "cpu", warm=False)

    monkeypatch.setattr(device_session, "open_device", on_the_cpu)
    monkeypatch.setattr("recollex_engine.models.encoder._loaded", {})
    monkeypatch.setattr("recollex_engine.models.cross_encoder._loaded", {})
    return request.param


def orders(texts):
    yield texts
    yield random.Random(5).sample(texts, len(texts))
    yield sorted(texts, key=len)


def ranks_alike(one, other, most):
    """Whether two lists of scores order alike, but for ties within what may move."""
    place = np.argsort(-one, kind="stable")
    return bool((np.diff(other[place]) <= 2 * most).all())


def test_of_an_encoder(minilm, running):
    try:
        encoder = minilm(running)
    except ModelError as error:
        pytest.skip(str(error))
    texts = sentences(64)
    alone = {text: encoder.embed([text])[0] for text in texts}
    query = encoder.embed_query(QUESTION)
    for order in orders(texts):
        vectors = encoder.embed(order)
        expected = np.array([alone[text] for text in order])
        assert np.abs(vectors - expected).max() <= MOVES[running]
        moved = MOVES[running] * np.abs(query).sum()
        assert ranks_alike(expected @ query, vectors @ query, moved)


def test_of_a_cross_encoder(tmp_path, make_model, make_tensors, running):
    rng = np.random.default_rng(11)
    tensors = make_tensors() | {
        "pooler.dense.weight": (0.2 * rng.normal(size=(32, 32))).astype(np.float32),
        "pooler.dense.bias": np.zeros(32, np.float32),
        "classifier.weight": (0.2 * rng.normal(size=(1, 32))).astype(np.float32),
        "classifier.bias": np.zeros(1, np.float32),
    }
    folder = make_model(tmp_path / "judge", tensors)
    try:
        judge = load_cross_encoder(folder, running)
    except ModelError as error:
        pytest.skip(str(error))

    def scores(texts):
        judge._known._scores.clear()  # none is remembered
        return judge.scores(QUESTION, texts)

    texts = sentences(64)
    alone = {text: scores([text])[0] for text in texts}
    for order in orders(texts):
        expected, found = np.array([alone[text] for text in order]), scores(order)
        assert np.abs(found - expected).max() <= MOVES[running]
        assert ranks_alike(expected, found, MOVES[running])
