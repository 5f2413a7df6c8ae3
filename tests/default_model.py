"""The default model, for tests that need a real one."""

import pytest

import recollex
from recollex_engine.errors import ModelError


def default_model() -> recollex.Encoder:
    """Return the model; skip the test where its weights are not installed."""
    try:
        return recollex.load_encoder()
    except ModelError as error:
        pytest.skip(f"the default model is not at hand: {error}")
