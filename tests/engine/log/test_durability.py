import errno
import threading

import pytest

from recollex_engine.errors import ClosedError, InputError, StoreFullError
from recollex_engine.log.durability import GroupCommit
from tests.waiting import until


class Disk:
    """Counts flushes and says what they covered; may be slow or fail."""

    def __init__(self):
        self.written = self.flushes = 0
        self.covered = []
        self.failure = None
        self.gate = threading.Event()
        self.gate.set()
        self.began = threading.Event()

    def write(self, commits):
        self.written += 1
        commits.wrote(self.written)
        return self.written

    def flush(self):
        op = self.written
        self.flushes += 1
        self.began.set()
        assert self.gate.wait(10)
        if self.failure:
            raise self.failure
        self.covered.append(op)
        return op


def test_always_returns_after_a_flush_that_covers_the_operation():
    disk = Disk()
    commits = GroupCommit("always", disk.flush, "x")
    commits.wait(disk.write(commits))
    assert disk.covered == [1]
    commits.wait(1)
    assert disk.flushes == 1
    commits.close()


def test_those_who_come_during_a_flush_share_the_next_one():
    disk = Disk()
    commits = GroupCommit("always", disk.flush, "x")
    disk.gate.clear()
    leader = threading.Thread(target=commits.wait, args=(disk.write(commits),))
    leader.start()
    assert disk.began.wait(10)
    ops = [disk.write(commits) for _ in range(20)]
    followers = [threading.Thread(target=commits.wait, args=(op,)) for op in ops]
    for follower in followers:
        follower.start()
    disk.gate.set()
    for thread in (leader, *followers):
        thread.join(10)
        assert not thread.is_alive()
    assert disk.covered == [1, 21]
    commits.close()
    assert disk.flushes == 2


def test_a_failure_reaches_leader_followers_and_all_later_calls():
    disk = Disk()
    commits = GroupCommit("always", disk.flush, "x")
    disk.gate.clear()
    disk.failure = OSError(errno.EIO, "broken")
    caught = []

    def wait(op):
        try:
            commits.wait(op)
        except StoreFullError as error:
            caught.append(error)

    threads = [threading.Thread(target=wait, args=(disk.write(commits),)) for _ in range(5)]
    for thread in threads:
        thread.start()
    assert disk.began.wait(10)
    disk.gate.set()
    for thread in threads:
        thread.join(10)
    assert len(caught) == 5
    assert {error.errno for error in caught} == {errno.EIO}
    assert disk.flushes == 1
    disk.failure = None
    with pytest.raises(StoreFullError, match="broken"):
        commits.check()
    commits.close()


def test_how_long_a_flush_took_is_told():
    disk, took = Disk(), []
    commits = GroupCommit("always", disk.flush, "x", took.append)
    commits.wait(disk.write(commits))
    commits.wait(1)
    assert len(took) == 1 and 0 < took[0] < 10
    disk.failure = OSError(errno.EIO, "broken")
    with pytest.raises(StoreFullError):
        commits.wait(disk.write(commits))
    assert len(took) == 1
    commits.close()


def test_an_interrupted_flush_is_no_failure():
    disk = Disk()
    commits = GroupCommit("always", disk.flush, "x")
    disk.failure = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        commits.wait(disk.write(commits))
    disk.failure = None
    commits.wait(1)
    assert disk.covered == [1]
    commits.close()


def flushing():
    """Return whether there is a thread that flushes in the background."""
    return any(thread.name == "flush x" for thread in threading.enumerate())


def test_interval_flushes_in_the_background_and_its_thread_ends():
    disk = Disk()
    disk.gate.clear()
    commits = GroupCommit("interval", disk.flush, "x")
    commits.wait(disk.write(commits))
    assert disk.covered == []
    disk.gate.set()
    until(lambda: disk.covered and not flushing())
    assert disk.covered == [1]
    disk.write(commits)
    commits.close()
    assert disk.covered == [1, 2]
    assert not flushing()


def test_a_failure_in_the_background_poisons():
    disk = Disk()
    commits = GroupCommit("interval", disk.flush, "x")
    disk.failure = OSError(errno.EIO, "broken")
    disk.gate.clear()
    commits.wait(disk.write(commits))
    disk.gate.set()
    until(lambda: disk.flushes and not flushing())
    with pytest.raises(StoreFullError):
        commits.wait(1)
    commits.close()


def test_off_flushes_only_when_told():
    disk = Disk()
    commits = GroupCommit("off", disk.flush, "x")
    commits.wait(disk.write(commits))
    assert disk.flushes == 0
    commits.flush(1)
    assert disk.flushes == 1
    disk.write(commits)
    commits.close()
    assert disk.flushes == 1


def test_close_refuses_what_follows_and_an_unknown_mode_is_refused():
    commits = GroupCommit("always", lambda: 0, "x")
    commits.close()
    commits.close()
    with pytest.raises(ClosedError):
        commits.wait(1)
    with pytest.raises(InputError, match="always, interval, off"):
        GroupCommit("never", lambda: 0, "x")


@pytest.mark.parametrize("mode", ["interval", "off"])
def test_what_was_written_before_the_end_may_be_waited_for(mode):
    disk = Disk()
    commits = GroupCommit(mode, disk.flush, "x")
    op = disk.write(commits)
    commits.close()
    commits.wait(op)
    with pytest.raises(ClosedError):
        commits.wait(op + 1)


def test_a_child_may_not_wait_for_the_first_operation_of_its_parent():
    commits = GroupCommit("off", lambda: 0, "x")
    commits.after_fork()
    with pytest.raises(ClosedError, match="forked"):
        commits.wait(1)
