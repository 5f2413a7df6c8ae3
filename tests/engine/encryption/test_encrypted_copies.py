"""Copies of encrypted agents stay encrypted, and take another key."""

import gzip

import pytest

import recollex
import recollex.encryption
from recollex_engine.errors import (
    CorruptError,
    EncryptionError,
    FormatError,
    InputError,
    LockedError,
)
from recollex_engine.log.format import decode_header, decode_record, encode_record
from tests.engine.encryption.secret_agents import (
    BY,
    KEY,
    OTHER,
    WORD,
    all_answers,
    clock,
    make,
    refused,
    tell,
    traces_in,
)
from tests.engine.faults.small_store import D, answers, contents, fill, opened


def test_copies_stay_encrypted_and_erasures_reach_them(path, tmp_path):
    backup, copy = tmp_path / "backup", tmp_path / "copy"
    with recollex.open(path, embedder=recollex.GivenVectors(D), key=KEY) as store:
        agent = store.agent("a")
        tell(agent, 0, 60)
        store.backup(backup)
        then = agent.get(f"{WORD}id59").recorded_at
        agent.forget(f"{WORD}id5")
        fill(agent, 60, 20)
        run = store.backup(backup)
        assert run.new_operations == 21
        agent.snapshot(then, copy)
        expected = all_ids(agent.at(then))
        agent.erase(f"{WORD}id7", **BY)
        left = all_ids(agent)
    with pytest.raises(EncryptionError):
        recollex.restore(backup, tmp_path / "may")
    assert not (tmp_path / "may").exists()
    recollex.restore(backup, tmp_path / "may", at=then, key=KEY)
    for place in (tmp_path / "may", copy):
        with opened(place, key=KEY) as agent:
            assert all_ids(agent) == expected and agent.verify().ok
        assert traces_in(place) == set()
    for place in (backup, copy):
        recollex.erase_in_copy(path, place, "a", embedder=recollex.GivenVectors(D), key=KEY, **BY)
    recollex.restore(backup, tmp_path / "now", key=KEY)
    with opened(tmp_path / "now", key=KEY) as agent:
        assert all_ids(agent) == left and agent.verify().ok
    with opened(copy, key=KEY) as agent:
        assert f"{WORD}id7" not in all_ids(agent) and agent.verify().ok
    assert traces_in(tmp_path) == set()
    recollex.replay(copy / "agents/a", tmp_path / "replayed", agent_id="a", key=KEY)
    with opened(tmp_path / "replayed", key=KEY) as agent:
        assert agent.verify().ok
    damaged = next(each for each in (backup / "objects").rglob("*") if each.is_file())
    data = damaged.read_bytes()
    damaged.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert not recollex.verify_backup(backup).ok


def all_ids(agent):
    return [memory.id for memory in agent.list(limit=10_000)]


def test_the_doctor_mends_it(path, tmp_path):
    with recollex.open(path, embedder=recollex.GivenVectors(D), key=KEY) as store:
        agent = store.agent("a")
        fill(agent, 0, 300)
        agent.checkpoint()
        store.backup(tmp_path / "backup")
        expected = contents(agent), answers(agent)
    folder = path / "agents" / "a"
    for name, at in (("columns/text", 90), ("vectors.f16", 700)):
        data = bytearray((folder / name).read_bytes())
        data[at] ^= 1
        (folder / name).write_bytes(data)
    [_, found] = recollex.doctor(path, key=KEY, backup=tmp_path / "backup")
    assert found.found and found.ok
    with opened(path, key=KEY) as agent:
        assert (contents(agent), answers(agent)) == expected and agent.verify().ok
    log = min((folder / "log").glob("*.jsonl*"))  # an empty one may follow
    data = bytearray(gzip.decompress(log.read_bytes()) if log.suffix == ".gz" else log.read_bytes())
    data[-200] ^= 1
    log.unlink()
    log.with_name("00000001.jsonl").write_bytes(data)
    with opened(tmp_path / "other", key=KEY) as agent:
        fill(agent, 0, 2)
    [_, found] = recollex.doctor(path, key=KEY, salvage=tmp_path / "saved")
    assert not found.ok and found.salvaged
    with opened(tmp_path / "saved", key=KEY) as agent:
        assert agent.verify().ok


@pytest.mark.parametrize(
    ("before", "after"),
    [(None, KEY), (KEY, None), (KEY, OTHER)],
    ids=["to encrypted", "to plain", "to another key"],
)
def test_a_copy_with_another_key_has_all_of_the_past(path, tmp_path, before, after):
    with make(path, before) as store:
        expected = all_answers(store.agent("a"))
        with pytest.raises(LockedError):
            recollex.encryption.copy(path, tmp_path / "copy", key=before, new_key=after)
    assert recollex.encryption.copy(path, tmp_path / "copy", key=before, new_key=after) == ["a"]
    with recollex.open(
        tmp_path / "copy", embedder=recollex.GivenVectors(D), key=after, clock=clock
    ) as store:
        assert all_answers(store.agent("a")) == expected
        assert store.agent("a").verify().problems == ()
        fill(store.agent("a"), 5000, 3)
        assert store.agent("a").erase("m5001", **BY).memories == 1
        assert store.agent("a").verify().problems == ()
    assert (traces_in(tmp_path / "copy") == set()) == (after is not None)
    with pytest.raises(InputError, match="has an agent 'a' already"):
        recollex.encryption.copy(path, tmp_path / "copy", key=before, new_key=after)


def test_another_key_takes_the_place_of_the_first(path):
    with opened(path, key=KEY) as agent:
        fill(agent, 0, 3)
        with pytest.raises(LockedError):
            recollex.encryption.rekey(path, "a", key=KEY, new_key=OTHER)
    log = (path / "agents/a/log/00000001.jsonl").read_bytes()
    recollex.encryption.rekey(path, "a", key=KEY, new_key=OTHER)
    assert (path / "agents/a/log/00000001.jsonl").read_bytes() == log
    with opened(path, key=OTHER) as agent:
        assert len(contents(agent)) == 3
    refused(EncryptionError, "is not the key", path, KEY)
    with opened(path.with_name("plain")) as agent:
        fill(agent, 0, 1)
    with pytest.raises(InputError, match="not encrypted"):
        recollex.encryption.rekey(path.with_name("plain"), "a", key=KEY, new_key=OTHER)


@pytest.mark.parametrize("missing", ["key", "new_key"])
def test_both_keys_of_an_exchange_are_needed(path, missing):
    with opened(path, key=KEY) as agent:
        fill(agent, 0, 1)
    keys = {"key": KEY, "new_key": OTHER, missing: None}
    with pytest.raises(InputError, match=f"^{missing} must be 32 bytes, got None: .*copy"):
        recollex.encryption.rekey(path, "a", **keys)
    with opened(path, key=KEY) as agent:
        assert len(contents(agent)) == 1


def test_a_line_of_another_place_or_agent_is_not_taken(path, tmp_path):
    """The chain is recomputed, as anyone can who writes the log; the payloads are sealed."""
    for place in (path, tmp_path / "other"):
        with opened(place, key=KEY) as agent:
            fill(agent, 0, 1)
            fill(agent, 1, 1)
    log = path / "agents/a/log/00000001.jsonl"
    lines = log.read_bytes().splitlines()
    foreign = (tmp_path / "other/agents/a/log/00000001.jsonl").read_bytes().splitlines()
    (path / "agents/a/HEAD").unlink()
    for other in (lines[-2], foreign[-1]):
        log.write_bytes(rechained(lines, decode_record(other).payload))
        with (
            pytest.raises(CorruptError, match="an authentic payload of operation"),
            opened(path, key=KEY, read_only=True) as agent,
        ):
            agent.stats()


def rechained(lines, payload):
    """Return the lines of a log with another last payload, and the chain that fits it."""
    made, chain = [lines[0]], decode_header(lines[0]).chain
    for line in lines[1:]:
        record = decode_record(line)
        if line is lines[-1]:
            record = record._replace(payload=payload)
        chain = record.extend(chain)
        made.append(encode_record(record._replace(chain=record.chain and chain)))
    return b"\n".join([*made, b""])


def test_a_newer_key_is_refused(path):
    with opened(path, key=KEY) as agent:
        fill(agent, 0, 1)
    place = path / "agents/a/KEY"
    place.write_bytes(place.read_bytes().replace(b'"recollex_key":1', b'"recollex_key":7'))
    refused(FormatError, "format 7", path, KEY)
