"""Modules beside the tests whose assertions are shown in full when they fail."""

import pytest

pytest.register_assert_rewrite(
    "tests.engine.model_comparison",
    "tests.engine.state.word_pieces.filled_store",
    "tests.engine.writing.named_model",
)
