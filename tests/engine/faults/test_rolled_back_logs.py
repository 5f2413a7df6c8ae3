"""A log that was cut off, altered with a new chain, or replaced by an older copy."""

import os
import shutil

import pytest

import recollex
from recollex_engine.errors import CorruptError, InputError
from recollex_engine.log.files import plain_path
from recollex_engine.log.format import NO_CHAIN, Position, encode_transaction
from recollex_engine.log.reader import LogFollower
from tests.engine.faults.small_store import D, contents, fill, opened


def ids(agent):
    return [id for id, _ in contents(agent)]


def test_acknowledged_operations_that_were_cut_off_are_reported(path, folder):
    with opened(path) as agent:
        fill(agent, 0, 3)
        size = plain_path(folder / "log", 1).stat().st_size
        for n in range(3, 11):
            fill(agent, n, 1)
        os.truncate(plain_path(folder / "log", 1), size)
        (problem,) = agent.verify().problems
        assert "the log ends at operation 4" in problem and "HEAD is of operation 12" in problem
    for read_only in (True, False):
        with (
            pytest.raises(CorruptError, match="operations up to 12, found only up to 4"),
            opened(path, read_only=read_only) as agent,
        ):
            ids(agent)


def test_a_file_that_was_replaced_by_one_with_a_chain_of_its_own_is_reported(path, folder):
    with opened(path) as agent:
        fill(agent, 0, 3)
        for n in range(3):
            agent.facts.add("Bob", "is owed", str(100 + n))
    forge(folder, b'"100"', b'"900"')
    for read_only in (True, False):
        with (
            pytest.raises(CorruptError, match=r"chain .* after operation 7, as HEAD has it"),
            opened(path, read_only=read_only) as agent,
        ):
            ids(agent)


def forge(folder, old, new):
    """Alter a payload, and write the log with a valid chain."""
    follower, lines = LogFollower(folder / "log"), []
    position = Position(1, 0, 0, -(2**63), NO_CHAIN)
    for records, _ in follower.read_records():
        operations = [(each.kind.decode(), each.payload.replace(old, new)) for each in records]
        salts = b"".join(each.salt for each in records)
        at = records[0].recorded_at
        text, chain = encode_transaction(position, at, operations, salts)
        position = Position(1, 0, records[-1].op, at, chain)
        lines.append(text)
    follower.close()
    file = plain_path(folder / "log", 1)
    whole = file.read_bytes()
    header = whole[: whole.index(b"\n") + 1]
    file.write_bytes(header + b"".join(lines))


def test_a_folder_that_was_put_back_is_seen_with_the_head_that_a_caller_kept(path, folder):
    with opened(path) as agent:
        fill(agent, 0, 3)
        first = agent.head()
    shutil.copytree(folder, path.with_name("copy"))
    with opened(path) as agent:
        fill(agent, 3, 3)
        assert agent.verify(head=first).ok
        last = agent.head()
    assert (first.op, last.op) == (4, 7) and last.recorded_at > first.recorded_at
    shutil.rmtree(folder)
    shutil.copytree(path.with_name("copy"), folder)
    with opened(path, read_only=True) as agent:
        assert agent.verify().ok and agent.verify(head=first).ok and agent.head() == first
        (problem,) = agent.verify(head=str(last)).problems
        assert "the log ends at operation 4" in problem and "older log was put back" in problem
    with opened(path) as agent:
        fill(agent, 6, 5)
        (problem,) = agent.verify(head=last).problems
        assert "after operation 7" in problem and "altered or replaced" in problem
    shutil.rmtree(folder)
    with opened(path) as agent:
        assert not agent.verify(head=last).ok


def test_a_head_stays_valid_when_memories_are_erased(path, folder):
    with opened(path) as agent:
        fill(agent, 0, 4)
        head = agent.head()
        agent.erase("m1", by="test", why="asked")
        fill(agent, 4, 2)
        assert agent.verify(head=head).problems == ()
        agent.erase(everything=True, by="test", why="asked")
        assert agent.verify(head=head).problems == ()
        assert agent.head().op == agent.stats().operations
    with opened(path) as agent:
        assert agent.verify(head=head).problems == ()


def test_a_head_stays_valid_in_a_snapshot_of_later_and_in_a_checkpointed_store(path):
    with opened(path) as agent:
        fill(agent, 0, 3)
        head = agent.head()
        fill(agent, 3, 2)
        agent.checkpoint()
        fill(agent, 5, 1)
        moment = agent.get("m4").recorded_at
        assert agent.at(agent.get("m2").recorded_at).head() == head
        agent.snapshot(moment, path.with_name("copy"))
        assert agent.verify(head=head).ok
    with opened(path.with_name("copy"), read_only=True) as copy:
        assert copy.verify(head=head).ok and copy.head().op == 6
    with opened(path, read_only=True) as agent:
        assert agent.verify(head=head).ok


def test_a_reader_beside_a_writer_gives_the_same_head(path):
    with opened(path) as agent, opened(path, read_only=True) as reader:
        assert agent.head() == reader.head() == recollex.LogHead(0, None, "A" * 43)
        for n in range(4):
            fill(agent, n, 1)
            assert agent.head() == reader.head()
            assert reader.verify(head=agent.head()).ok


@pytest.mark.parametrize(
    "head", ["", "12", "12:abc", ":" + "A" * 43, "-1:" + "A" * 43, "1:" + "é" * 43]
)
def test_what_is_no_head_is_refused(path, head):
    with opened(path) as agent, pytest.raises(InputError, match="head must be what"):
        agent.verify(head=head)


def test_a_head_stays_valid_in_a_restored_backup(path):
    with recollex.open(path, embedder=recollex.GivenVectors(D)) as store:
        agent = store.agent("a")
        fill(agent, 0, 3)
        head = agent.head()
        fill(agent, 3, 2)
        store.backup(path.with_name("backup"))
    recollex.restore(path.with_name("backup"), path.with_name("restored"))
    with opened(path.with_name("restored")) as agent:
        assert agent.verify(head=head).ok and agent.head().op == 6
        fill(agent, 5, 1)
        assert agent.verify(head=head).ok
