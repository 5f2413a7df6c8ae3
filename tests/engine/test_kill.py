"""Kill the writer at any moment: what it acknowledged is there, and nothing is half there.

`make test-faults` kills a thousand (tests/faults/kills.py).
"""

import pytest

from tests.faults.kills import storm, warm_up


@pytest.mark.parametrize("durability", ["always", "off"])
def test_killed_at_any_moment_nothing_acknowledged_is_lost(tmp_path, durability):
    warm_up()
    said, segments, stats = storm(tmp_path / "s", durability, 10, seed=1)
    assert said > 15 and segments and stats.forgotten
