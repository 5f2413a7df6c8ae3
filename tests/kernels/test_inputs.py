"""A kernel that writes to its inputs fails its test."""

import numpy as np
import pytest

from tests.kernels import inputs
from tests.kernels.inputs import check_unchanged, frozen, kept


def test_an_input_that_was_written_to_is_named():
    first, second = frozen([1, 2], np.uint32), kept(np.zeros((2, 3), np.float16))
    frozen([], np.uint8)
    check_unchanged()
    kept(first)
    kept(second)
    second[1, 2] = 1
    with pytest.raises(AssertionError, match="inputs were written to"):
        check_unchanged()
    check_unchanged()  # they were let go


def test_many_inputs_are_compared_before_the_test_ends(monkeypatch):
    monkeypatch.setattr(inputs, "MOST", 100)
    frozen(range(20), np.uint32)[3] = 0
    with pytest.raises(AssertionError, match="inputs were written to"):
        frozen(range(20), np.uint32)
