"""Makes one test of each kernel that an agent's work calls."""

import pytest

from bench.lib.kernel_calls import record


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize a test that takes a ``call`` with the largest call of each kernel."""
    if "call" in metafunc.fixturenames:
        found = record()
        metafunc.parametrize("call", [found[name] for name in sorted(found)], ids=sorted(found))
