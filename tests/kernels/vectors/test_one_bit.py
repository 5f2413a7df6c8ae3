import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.vectors._one_bit import transform
from tests.kernels.unit_vectors import turned

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")


def transformed(values):
    """The sums and differences of the halves, then those of each half."""
    values, span = values.copy(), len(values) // 2
    while span:
        pairs = values.reshape(-1, 2, span)
        values = np.stack((pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]), 1).reshape(-1)
        span //= 2
    return values


def splitmix64(seed):
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) % 2**64
        word = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
        yield word ^ (word >> 31)


def naively_turned(row):
    words, values = splitmix64(0x9E3779B97F4A7C15), row.copy()
    size = 1 << (len(row).bit_length() - 1)
    for number in range(4):
        for low in range(0, len(row), 64):
            word = next(words)
            for place in range(low, min(low + 64, len(row))):
                values[place] *= -1 if word >> (place - low) & 1 else 1
        part = slice(0, size) if number % 2 == 0 else slice(len(row) - size, None)
        values[part] = transformed(values[part]) * np.float32(1 / np.sqrt(size))
    return values


@given(st.integers(0, 10**6), st.sampled_from([8, 16, 32, 64, 256, 512]), st.integers(0, 9))
def test_a_transform_is_that_by_halves_to_the_bit(seed, size, first):
    rng = np.random.default_rng(seed)
    values = (rng.standard_normal(size + 12) * 10.0 ** rng.integers(-9, 9)).astype(np.float32)
    values[rng.integers(size)] = -0.0
    scale, end = np.float32(rng.random()), first + size
    expected = values.copy()
    expected[first:end] = transformed(values[first:end]) * scale
    transform(values, first, size, scale)
    assert values.view(np.uint32).tolist() == expected.view(np.uint32).tolist()


@given(st.integers(0, 10**6), st.sampled_from([8, 24, 40, 64, 72, 384, 520]))
def test_a_turn_flips_signs_and_transforms_to_the_bit(seed, width):
    row = np.random.default_rng(seed).standard_normal(width).astype(np.float32)
    expected = naively_turned(row)
    assert turned(row).view(np.uint32).tolist() == expected.view(np.uint32).tolist()


@pytest.mark.parametrize("width", [8, 40, 384, 520])
def test_a_turn_is_orthogonal_and_mixes_all_components(width):
    matrix = np.array([turned(row) for row in np.eye(width)])
    assert np.allclose(matrix @ matrix.T, np.eye(width), atol=1e-5)
    assert np.abs(matrix).max() < 1 if width > 8 else True
