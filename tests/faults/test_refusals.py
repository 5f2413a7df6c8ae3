"""Some calls of two workloads are refused; `python -m tests.faults.refusals` refuses more."""

import pytest

from tests.faults.refusals import KINDS, run


@pytest.mark.parametrize(("name", "durability"), [("mixed", "always"), ("erase", "off")])
def test_a_refused_call_loses_nothing_acknowledged(name, durability):
    assert run(name, durability, 160, seed=2, kinds=KINDS) == []
