"""Which processors multiply 8-bit numbers exactly?"""

import pytest
from llvmlite import binding as llvm

from recollex_engine.models import convert


@pytest.mark.parametrize(
    ("machine", "has", "expected"),
    [
        ("x86_64", {"avx2": True, "avx512f": True, "avx512vnni": False}, True),
        ("AMD64", {}, True),
        ("x86_64", {"avx2": True, "avxvnni": True}, False),
        ("x86_64", {"avx512vnni": True}, False),
        ("aarch64", {}, False),
        ("arm64", {}, False),
    ],
)
def test_x86_without_vnni_saturates(monkeypatch, machine, has, expected):
    monkeypatch.setattr(convert.platform, "machine", lambda: machine)
    monkeypatch.setattr(llvm, "get_host_cpu_features", lambda: has)
    assert convert.saturates.__wrapped__() == expected
