"""What `make bench-micro` collects: a call of every kernel that the engine imports."""

import pytest

from bench.lib.kernel_calls import record

pytestmark = pytest.mark.slow  # half a minute


def test_every_kernel_is_called_and_can_be_called_again() -> None:
    found = record()  # raises an error if a kernel was not called
    assert len(found) > 50
    for name, call in found.items():
        call.again()
        assert call.nbytes() > 0, name
