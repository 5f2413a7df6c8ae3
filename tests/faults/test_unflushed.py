"""A flush fails, the agent is opened again, and a later flush succeeds: what it covers stays.

The system takes bytes that it failed to write for written, so a later flush alone does not help.
"""

import errno
import warnings

import pytest

import recollex
from recollex_engine.errors import RecollexError
from tests.engine.faults.small_store import D, contents, fill
from tests.faults.checking import laid_out, opened
from tests.faults.recorder import recording, refusal
from tests.faults.states import LOST, states
from tests.faults.workloads import KEY


def write(path, durability, key, first):
    """Retain ten memories and make a checkpoint; return whether a call failed."""
    embedder = recollex.GivenVectors(D)
    try:
        with recollex.open(path, embedder=embedder, key=key, durability=durability) as store:
            agent = store.agent("a")
            fill(agent, first, 10)
            agent.checkpoint()
    except (RecollexError, OSError):
        return True
    return False


@pytest.mark.parametrize("checkpoints", [0, 1])
@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
@pytest.mark.parametrize("durability", ["off", "always"])
@pytest.mark.parametrize("file", ["vectors.f16", "00000001.jsonl"])
def test_what_a_failed_flush_lost_is_written_again(root, file, durability, key, checkpoints):
    armed = []

    def refuse(path):
        if armed and path.endswith(file):
            held.fails_at[held.calls + 1] = refusal(errno.EIO)  # this flush, which is noted

    with recording(root) as held, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for n in range(checkpoints):
            assert not write(root / "s", durability, key, 100 + 10 * n)
        held.before_sync = refuse
        armed.append(file)
        assert write(root / "s", durability, key, 0)
        armed.clear()
        assert not write(root / "s", durability, key, 10)
    chosen = {(len(held.events), LOST)}
    (state,) = states(held.start, held.events, 1, chosen=chosen)
    with laid_out(state.tree) as place, opened(place / "s", durability="off") as agent:
        ids = {id for id, _ in contents(agent)}
        assert {f"m{n}" for n in range(10, 20)} <= ids
        assert agent.verify().problems == ()
