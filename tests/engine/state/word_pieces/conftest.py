"""Two encoders with a vocabulary each, and a cross-encoder with the first's vocabulary."""

import json

import numpy as np
import pytest

from recollex_engine.models.cross_encoder import load_cross_encoder
from recollex_engine.models.encoder import load_encoder
from tests.engine.models.conftest import SIZE, tiny_tensors, write_model
from tests.engine.state.word_pieces.filled_store import filled


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The folders of two encoders with a vocabulary each, and of a judge with the first's."""
    home = tmp_path_factory.mktemp("models")
    rng = np.random.default_rng(11)
    tensors = {f"bert.{name}": tensor for name, tensor in tiny_tensors().items()}
    for name, shape in {
        "bert.pooler.dense.weight": (SIZE, SIZE),
        "bert.pooler.dense.bias": (SIZE,),
        "classifier.weight": (1, SIZE),
        "classifier.bias": (1,),
    }.items():
        tensors[name] = (0.2 * rng.normal(size=shape)).astype(np.float32)
    write_model(home / "judge", tensors)
    write_model(home / "one")
    other = write_model(home / "other", tiny_tensors(8)) / "tokenizer.json"
    said = json.loads(other.read_text())
    said["normalizer"]["lowercase"] = False
    other.write_text(json.dumps(said))
    return home


@pytest.fixture(scope="module")
def environment(folders):
    patch = pytest.MonkeyPatch()
    patch.setenv("RECOLLEX_CACHE", str(folders / "cache"))
    patch.setenv("HF_HUB_OFFLINE", "1")
    yield
    patch.undo()


@pytest.fixture(scope="module")
def encoder(folders, environment):
    return load_encoder(folders / "one")


@pytest.fixture(scope="module")
def other(folders, environment):
    return load_encoder(folders / "other")


@pytest.fixture(scope="module")
def judge(folders, environment):
    return load_cross_encoder(folders / "judge")


@pytest.fixture
def folder(tmp_path, encoder):
    filled(tmp_path / "s", encoder)
    return tmp_path / "s"
