import json
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from recollex_engine.errors import CorruptError, ModelError
from recollex_engine.models.safetensors_file import read_tensors

shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
arrays = hnp.arrays(
    st.sampled_from([np.float32, np.float16, np.float64]),
    shapes,
    elements=st.integers(-100, 100).map(float),
)
once = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@once
@given(st.dictionaries(st.text(min_size=1, max_size=8), arrays, max_size=4))
def test_what_was_written_is_read_as_float32(tmp_path, make_safetensors, tensors):
    tensors.pop("__metadata__", None)
    make_safetensors(tmp_path / "w", tensors)
    found = read_tensors(tmp_path / "w")
    assert found.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert found[name].dtype == np.float32
        assert found[name].shape == tensor.shape
        assert np.array_equal(found[name], tensor.astype(np.float32))


def test_bfloat16_is_the_upper_half_of_a_float(tmp_path, make_safetensors):
    values = np.array([1.0, -2.5, 0.15625], dtype=np.float32)
    make_safetensors(tmp_path / "w", {"x": (values.view(np.uint32) >> 16).astype(np.uint16)})
    assert np.array_equal(read_tensors(tmp_path / "w")["x"], values)


def test_integers_are_left_out(tmp_path, make_safetensors):
    make_safetensors(tmp_path / "w", {"ids": np.arange(3), "x": np.ones(2, np.float32)})
    assert list(read_tensors(tmp_path / "w")) == ["x"]


@once
@given(st.integers(0, 200))
def test_a_torn_file_is_an_error_of_ours(tmp_path, make_safetensors, cut):
    make_safetensors(tmp_path / "whole", {"x": np.ones((3, 4), np.float32)})
    whole = (tmp_path / "whole").read_bytes()
    (tmp_path / "torn").write_bytes(whole[: min(cut, len(whole) - 1)])
    with pytest.raises((CorruptError, ModelError), match="torn"):
        read_tensors(tmp_path / "torn")


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]},
        {"dtype": "F32", "shape": [2], "data_offsets": [-8, 0]},
        {"dtype": "F32", "shape": [2], "data_offsets": [-8, 8]},
        {"dtype": "F32", "shape": [2], "data_offsets": [0, 16]},
        {"dtype": "F32", "shape": [2]},
        {"dtype": "F32", "shape": ["a"], "data_offsets": [0, 8]},
        7,
    ],
)
def test_a_header_that_contradicts_the_bytes_is_refused(tmp_path, entry):
    header = json.dumps({"x": entry}).encode()
    (tmp_path / "w").write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))
    with pytest.raises(CorruptError):
        read_tensors(tmp_path / "w")


def test_what_is_no_whole_file_says_how_to_fetch_it_again(tmp_path):
    (tmp_path / "w").write_bytes(b"not tensors at all")
    with pytest.raises(CorruptError, match=f"hf download OWNER/NAME w --local-dir {tmp_path}"):
        read_tensors(tmp_path / "w")
    (tmp_path / "w").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    with pytest.raises(CorruptError, match=f"git -C {tmp_path} lfs pull"):
        read_tensors(tmp_path / "w")
