import os
import subprocess
import sys

import orjson
import pytest

from recollex_engine.errors import CorruptError, FormatError
from recollex_engine.log.files import LogFile, compressed_path, file_numbers, plain_path
from recollex_engine.log.format import START, erase_line
from recollex_engine.log.writer import LogWriter
from recollex_engine.storage.commit_word import CommitWord
from tests.engine.log.whole_log import LogReader, verify_chain


def note(n, text=""):
    return ("note", orjson.dumps({"n": n, "text": text}))


@pytest.fixture
def log(tmp_path):
    with LogWriter(tmp_path / "log", durability="off") as log:
        yield log


def numbers(transactions):
    return [o.payload["n"] for t in transactions for o in t.operations]


def test_text_with_line_feeds_and_every_script_reads_back(log):
    text = 'a\nb\r\u2028\x00é😀\\n"}'
    log.append(1, [note(1, text), note(2, text)])
    (transaction,) = LogReader(log.folder, verify=True).transactions()
    assert [o.payload["text"] for o in transaction.operations] == [text, text]
    assert transaction.first_op == 1 and transaction.position == log.position


def test_lines_longer_than_a_read(log):
    sizes = [1 << 16, 3 << 20, 10, 5 << 20, (1 << 16) - 1]
    for n, size in enumerate(sizes):
        log.append(n, [note(n, "x" * size)])
    read = list(LogReader(log.folder, verify=True).transactions())
    assert [len(t.operations[0].payload["text"]) for t in read] == sizes


def test_until_op_stops_after_the_transaction_that_holds_it(log):
    for n in range(5):
        log.append(n, [note(n), note(n)])
    reader = LogReader(log.folder)
    assert numbers(reader.transactions(until_op=0)) == []
    assert numbers(reader.transactions(until_op=1)) == [0, 0]
    assert numbers(reader.transactions(until_op=4)) == [0, 0, 1, 1]


def test_an_absent_log_is_empty_until_it_appears(tmp_path):
    follower = LogReader(tmp_path / "log").follow()
    assert list(follower.read_new()) == []
    with LogWriter(tmp_path / "log", durability="off") as log:
        log.append(1, [note(1)])
        assert numbers(follower.read_new()) == [1]
    follower.close()


def test_a_follower_reads_across_rotation_and_compression(log):
    follower = LogReader(log.folder, verify=True).follow()
    seen = []
    for n in range(40):
        log.append(n, [note(n, "x" * 50)])
        if n % 3 == 0:
            seen += numbers(follower.read_new(log.position.op))
        if n % 4 == 0:
            log.rotate_if_larger(0)
        if n % 5 == 0:
            log.compress_sealed()
    seen += numbers(follower.read_new())
    assert seen == list(range(40))
    assert follower.position == log.position
    late = LogReader(log.folder).follow(START)
    assert numbers(late.read_new()) == seen
    follower.close()
    late.close()


@pytest.mark.parametrize("in_between", [False, True])
def test_a_follower_goes_on_where_a_log_was_closed_and_opened_again(tmp_path, in_between):
    follower = LogReader(tmp_path, verify=True).follow()
    seen, n = [], 0
    for _ in range(4):
        with LogWriter(tmp_path, durability="off") as log:
            for _ in range(30):
                log.append(n, [note(n, "x" * 1000)])
                n += 1
                if in_between and n % 7 == 0:
                    seen += numbers(follower.read_new(log.position.op))
        if in_between:
            seen += numbers(follower.read_new(log.position.op))
        assert compressed_path(tmp_path, 1).exists()
    seen += numbers(follower.read_new(n))
    assert seen == list(range(n))
    follower.close()


def test_a_follower_forgets_what_a_failed_write_left(log):
    follower = LogReader(log.folder).follow()
    log.append(1, [note(1)])
    assert numbers(follower.read_new(1)) == [1]
    end = log.position.offset
    with plain_path(log.folder, 1).open("r+b") as file:  # half a write, as another process sees it
        file.seek(end)
        file.write(b'{"op":2,"at":2,"kind":"note","salt":"AAAA')
    assert numbers(follower.read_new(2)) == []
    os.truncate(plain_path(log.folder, 1), end)
    log.append(3, [note(3)])
    assert numbers(follower.read_new(2)) == [3]
    follower.close()


def test_an_abandoned_reading_continues_where_it_stopped(log):
    for n in range(3):
        log.append(n, [note(n)])
    follower = LogReader(log.folder).follow()
    assert next(follower.read_new()).operations[0].payload["n"] == 0
    assert numbers(follower.read_new()) == [1, 2]
    follower.close()


def test_every_flipped_bit_is_found(log, tmp_path):
    log.append(1, [note(1), note(2)])
    log.append(2, [note(3)])
    data = plain_path(log.folder, 1).read_bytes()
    copy = tmp_path / "copy"
    copy.mkdir()
    for i in range(len(data)):
        for bit in (1, 4):
            flipped = bytearray(data)
            flipped[i] ^= bit
            plain_path(copy, 1).write_bytes(flipped)
            if i == len(data) - 1:  # without its line feed the last transaction is a torn one
                assert verify_chain(copy).op == 2
            else:
                with pytest.raises((CorruptError, FormatError), match=r"1\.jsonl|format"):
                    verify_chain(copy)


def test_without_verifying_damage_to_a_payload_is_not_looked_for(log):
    log.append(1, [note(1, "tea")])
    path = plain_path(log.folder, 1)
    path.write_bytes(path.read_bytes().replace(b"tea", b"ink"))
    assert numbers(LogReader(log.folder).transactions()) == [1]
    with pytest.raises(CorruptError, match="on line 2") as caught:
        list(LogReader(log.folder, verify=True).transactions())
    assert caught.value.path == path
    path.write_bytes(path.read_bytes().replace(b'"ink"', b'"in""'))
    with pytest.raises(CorruptError, match="JSON payload in operation 1 on line 2"):
        list(LogReader(log.folder).transactions())


def lines_of(log, file=1):
    path = plain_path(log.folder, file)
    return path, path.read_bytes().split(b"\n")[:-1]


def rewrite(path, lines):
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def test_erased_operations_read_as_none_and_verify(log):
    log.append(1, [note(1, "secret"), note(2)])
    log.append(2, [note(3, "secret")])
    path, lines = lines_of(log)
    rewrite(path, [lines[0], erase_line(lines[1]), lines[2], erase_line(lines[3])])
    assert b"secret" not in path.read_bytes()
    read = LogReader(log.folder, verify=True).transactions()
    payloads = [(o.kind, o.payload and o.payload["n"]) for t in read for o in t.operations]
    assert payloads == [("note", None), ("note", 2), ("note", None)]
    assert verify_chain(log.folder).op == 3


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lines: [lines[0], *lines[2:]], "expected operation 1 on line 2, found operation 2"),
        (lambda lines: [*lines[:2], lines[1], *lines[2:]], "expected operation 2 on line 3"),
        (lambda lines: lines[1:], "the header of file 1"),
        (lambda lines: [*lines[:3], b"{}", *lines[3:]], "a record of the log on line 4"),
        (lambda lines: [lines[0], lines[1].replace(b'"at":1', b'"at":0'), *lines[2:]], "time"),
        (lambda lines: [*lines[:3], lines[3].replace(b'"at":2', b'"at":1')], "time after 1"),
    ],
)
def test_missing_doubled_and_moved_lines_are_named(log, damage, message):
    log.append(1, [note(1), note(2)])
    log.append(2, [note(3)])
    path, lines = lines_of(log)
    rewrite(path, damage(lines))
    with pytest.raises(CorruptError, match=message):
        list(LogReader(log.folder).transactions())


def test_damage_between_files_is_found(log):
    for n in range(1, 4):
        log.append(n, [note(n)])
        log.rotate_if_larger(0)
    path, lines = lines_of(log, 2)
    rewrite(path, [lines[0]])
    with pytest.raises(CorruptError, match="the header of file 3"):
        verify_chain(log.folder)
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(CorruptError, match="a whole transaction at the end of a sealed file"):
        verify_chain(log.folder)
    path.unlink()
    with pytest.raises(CorruptError, match="log files 1 to 3"):
        verify_chain(log.folder)
    assert file_numbers(log.folder) == [1, 3, 4]


def test_damage_in_a_compressed_file_is_found(log):
    log.append(1, [note(1, "x" * 500)])
    log.rotate_if_larger(0)
    log.compress_sealed()
    path = compressed_path(log.folder, 1)
    data = bytearray(path.read_bytes())
    for i in (0, 30, len(data) - 6):
        flipped = bytearray(data)
        flipped[i] ^= 4
        path.write_bytes(flipped)
        with pytest.raises(CorruptError):
            verify_chain(log.folder)
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(CorruptError):
        verify_chain(log.folder)


def test_progress_is_told_every_position(log):
    ends = [log.append(n, [note(n)]) for n in range(3)]
    seen = []
    assert verify_chain(log.folder, seen.append) == ends[-1]
    assert seen == ends


def test_a_missing_file_is_named(log):
    log.append(1, [note(1)])
    end = log.position
    with pytest.raises(CorruptError, match="a file of the log"):
        LogFile(log.folder, 9)
    plain_path(log.folder, 1).unlink()
    with pytest.raises(CorruptError, match="log file 1"):
        list(LogReader(log.folder).transactions(end))


CHILD = """
import sys, time
from pathlib import Path
from recollex_engine.storage.commit_word import CommitWord
from recollex_engine.log.reader import LogFollower
folder, last = Path(sys.argv[1]), int(sys.argv[2])
commit = CommitWord(folder / "COMMIT")
follower = LogFollower(folder / "log")
print("ready", flush=True)
seen, polls, give_up = [], 0, time.monotonic() + 30
while commit.op < last or follower.position.op < last:
    assert time.monotonic() < give_up, (commit.op, follower.position)
    op = commit.op
    if op > follower.position.op:
        polls += 1
        for t in follower.read_new(op):
            seen += [o.payload["n"] for o in t.operations]
        assert follower.position.op >= op
assert seen == [n for n in range(1, last + 1)], seen
print(polls)
"""


def test_a_process_follows_the_writer_of_another(tmp_path):
    last = 600
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", CHILD, str(tmp_path), str(last)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as child:
        assert child.stdout.readline() == b"ready\n"
        with LogWriter(tmp_path / "log", durability="off") as log:
            commit = CommitWord(tmp_path / "COMMIT", writable=True)
            while log.position.op < last:
                n = log.position.op + 1
                commit.op = log.append(n, [note(n), note(n + 1)]).op
                if n % 100 == 1:
                    log.rotate_if_larger(0)
                if n % 200 == 101:
                    log.compress_sealed()
                if n % 20 == 1:
                    os.sched_yield()
        polls = int(child.stdout.read())
    assert child.returncode == 0
    assert polls >= 1
