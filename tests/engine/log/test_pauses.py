"""A long transaction is read with pauses, so that a backup in a thread lets a writer write."""

from recollex_engine.log import reader
from recollex_engine.log.reader import LogFollower
from tests.engine.faults.small_store import fill, opened


def test_a_pause_comes_within_a_transaction(tmp_path):
    with opened(tmp_path / "store") as agent:
        fill(agent, 0, 4 * reader.BURST)
    told = []
    follower = LogFollower(
        tmp_path / "store" / "agents" / "a" / "log",
        verify=True,
        pause=lambda: told.append(follower.position.op),
    )
    largest = max(len(transaction.operations) for transaction in follower.read_new())
    follower.close()
    assert largest >= 4 * reader.BURST
    assert told == [1] * 4
