"""What is left of an erased operation: it keeps the chain, and tells nothing of what it was."""

import hashlib
from binascii import a2b_base64

import numpy as np
import orjson

from tests.engine.erasure.secret import BY
from tests.engine.erasure.traces import assert_gone, files_of
from tests.engine.faults.small_store import fill, opened, vectors


def test_what_is_linked_or_summed_with_erased_bytes_cannot_confirm_a_guess(path):
    """Of one transaction, one memory is erased: neither link nor checksum tells its vector."""
    rows = np.repeat(vectors(0, 1), 4, axis=0) + 0.05 * vectors(9, 4)
    with opened(path) as agent:
        agent.retain_many(
            [f"Memory {n}." for n in range(3)], id=["m0", "m1", "m2"], embedding=rows[:3]
        )
        agent.retain("Memory 3.", id="m3", embedding=rows[3])
        log = [entry.payload for entry in agent.log(op="retain")]
        assert log[1]["links"] and len(log[3]["links"]) == 3
        sha256 = log[0]["vectors"]["sha256"]
        agent.erase("m1", **BY)
        log = [entry.payload for entry in agent.log(op="retain")]
        assert log[0]["vectors"]["sha256"] is None
        assert [target for target, _ in log[3]["links"]] == [2, 0] or [0, 2]
        assert 1 not in [target for target, _ in log[3]["links"]] and "links" in log[2]
        assert agent.verify().problems == ()
    assert_gone(path, [sha256])


def stub_and_line(path, op):
    line = (path / "agents" / "a" / "log" / "00000001.jsonl").read_bytes().splitlines()[op]
    return orjson.loads(line), line


def test_without_the_salt_a_stub_cannot_be_guessed(path):
    """A text of few possible values: with the salt its commitment tells which, without it not."""
    with opened(path) as agent:
        agent.retain("Code 7342.", id="pin", embedding=vectors(0, 1)[0])
        record, line = stub_and_line(path, 2)
        payload = line[line.index(b'"payload":') + 10 : -1]
        salt = a2b_base64(record["salt"] + "==")
        digits = payload.split(b"7342")
        assert len(digits) == 3  # in the text, and as a word
        guesses = [(b"%04d" % n).join(digits) for n in range(10_000)]

        def opens(commitment, salt):
            return [
                n
                for n, guess in enumerate(guesses)
                if hashlib.sha256(salt + guess).digest() == commitment
            ]

        commitment = hashlib.sha256(salt + payload).digest()
        assert opens(commitment, salt) == [7342]
        agent.erase("pin", **BY)
        stub, line = stub_and_line(path, 2)
        assert a2b_base64(stub["commitment"] + "=") == commitment
        assert "salt" not in stub
        assert opens(commitment, b"") == []
        for _, each in files_of(path):
            assert salt not in each and record["salt"].encode() not in each


def test_what_is_left_of_a_stub_is_under_a_checksum(path):
    with opened(path) as agent:
        fill(agent, 0, 5)
        agent.erase("m3", **BY)
    log = path / "agents" / "a" / "log" / "00000001.jsonl"
    log.write_bytes(log.read_bytes().replace(b'{"hole":1', b'{"hole":1,"x":1', 1))
    with opened(path, read_only=True) as agent:
        (problem,) = agent.verify().problems
        assert problem.startswith("what is left of erased operations")
