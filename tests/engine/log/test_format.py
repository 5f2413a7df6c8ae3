import hashlib
import struct

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.errors import FormatError, InputError
from recollex_engine.log.format import (
    START,
    Position,
    Record,
    check_operations,
    decode_header,
    decode_record,
    encode_bytes,
    encode_header,
    encode_transaction,
    erase_line,
    is_sealed,
)

json_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
payloads = st.dictionaries(json_text, json_text, max_size=3).map(orjson.dumps)
operations = st.lists(st.tuples(st.sampled_from(["note", "fact_2"]), payloads), min_size=1)
times = st.integers(-(2**62), 2**63 - 1)


def salts(n):
    return bytes(i % 251 for i in range(16 * n))


@given(operations, times)
@settings(deadline=None)
def test_a_transaction_reads_back_as_it_was_written(written, at):
    lines, chain = encode_transaction(START, at, written, salts(len(written)))
    records = [decode_record(line) for line in lines.split(b"\n")[:-1]]
    assert [(r.kind.decode(), r.payload) for r in records] == written
    assert [r.op for r in records] == list(range(1, len(written) + 1))
    assert {r.recorded_at for r in records} == {at}
    assert [r.chain for r in records] == [None] * (len(written) - 1) + [chain]


@given(operations, times)
@settings(deadline=None)
def test_the_chain_is_the_documented_equation(written, at):
    _, chain = encode_transaction(START, at, written, salts(len(written)))
    expected = bytes(32)
    for n, (kind, payload) in enumerate(written):
        commitment = hashlib.sha256(salts(len(written))[16 * n : 16 * n + 16] + payload).digest()
        numbers = struct.pack("<q", n + 1) + struct.pack("<q", at)
        expected = hashlib.sha256(expected + numbers + kind.encode() + commitment).digest()
    assert chain == expected


@given(operations, st.data())
@settings(deadline=None)
def test_a_stub_keeps_the_chain_and_nothing_of_the_payload(written, data):
    lines, chain = encode_transaction(START, 5, written, salts(len(written)))
    split = lines.split(b"\n")[:-1]
    erased = data.draw(st.sets(st.integers(0, len(written) - 1)))
    after = START.chain
    for n, line in enumerate(split):
        record = decode_record(erase_line(line) if n in erased else line)
        after = record.extend(after)
        if n in erased:
            assert record.payload is None and record.salt is None
            assert record.kind.decode() == written[n][0]
    assert after == chain
    stub = erase_line(split[0])
    assert b"payload" not in stub and b"salt" not in stub
    assert erase_line(stub) == stub
    orjson.loads(stub)


def test_every_line_is_json_with_its_fields_in_the_documented_order():
    lines, _ = encode_transaction(START, 9, [("note", b'{"a":"\\n\xc3\xa9"}')] * 2, salts(2))
    first, last = (orjson.loads(line) for line in lines.split(b"\n")[:-1])
    assert list(first) == ["op", "at", "kind", "salt", "payload"]
    assert list(last) == ["op", "at", "kind", "salt", "chain", "payload"]
    assert first["payload"] == {"a": "\né"}
    header = orjson.loads(encode_header(3, Position(2, 99, 41, 7, bytes(32))))
    assert list(header) == ["recollex_log", "file", "previous", "op", "at", "chain"]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b'{"op":1,"at":2,"kind":"a","payload":{}}',
        b'{"op":01,"at":2,"kind":"a","salt":"AAAAAAAAAAAAAAAAAAAAAA","payload":{}}',
        b'{"op":1,"at":2,"kind":"a","salt":"AAAAAAAAAAAAAAAAAAAAAB","payload":{}}',
        b'{"op":1,"at":2,"kind":"a","salt":"AAAAAAAAAAAAAAAAAAAAAA"}',
        b'{"op":1,"at":2,"kind":"A","salt":"AAAAAAAAAAAAAAAAAAAAAA","payload":{}}',
        b'{"op":1,"at":2,"kind":"a","salt":"AAAAAAAAAAAAAAAAAAAAAA","payload":[]}',
        b'{"op":1,"at":2,"kind":"a","commitment":"' + b"A" * 43 + b'","payload":[]}',
        b'{"op":1,"at":2,"kind":"a","commitment":"' + b"A" * 42 + b'B"}',
    ],
)
def test_what_is_not_a_record_is_none(line):
    assert decode_record(line) is None


def test_erasing_what_is_not_a_record_is_refused():
    with pytest.raises(FormatError):
        erase_line(b"{}")


def test_a_header_reads_back_and_another_version_is_refused():
    before = Position(6, 1234, 88, 99, hashlib.sha256(b"x").digest())
    line = encode_header(7, before)
    assert decode_header(line[:-1]) == Position(7, len(line), 88, 99, before.chain)
    assert decode_header(line[:-1].replace(b'"previous":6', b'"previous":5')) is None
    sealed = encode_header(7, before, sealed=True)
    assert decode_header(sealed[:-1]) == Position(7, len(line), 88, 99, before.chain)
    assert [is_sealed(each) for each in (line, sealed)] == [False, True]
    with pytest.raises(FormatError, match="format 3"):
        decode_header(line[:-1].replace(b'_log":1', b'_log":3'))


def test_a_stub_may_have_a_payload_of_its_own():
    lines, chain = encode_transaction(START, 5, [("note", b'{"a":1}')], salts(1))
    stub = erase_line(lines[:-1], b'{"hole":1}')
    record = decode_record(stub)
    assert (record.salt, record.payload, record.chain) == (None, b'{"hole":1}', chain)
    assert record.extend(bytes(32)) == chain
    assert erase_line(stub) == erase_line(lines[:-1])


@pytest.mark.parametrize(
    ("kind", "payload"),
    [("", b"{}"), ("No", b"{}"), ("a" * 33, b"{}"), ("a", b"[]"), ("a", b"{\n}"), ("a", b"")],
)
def test_an_operation_that_cannot_stand_on_a_line_is_refused(kind, payload):
    with pytest.raises(InputError):
        check_operations([(kind, payload)])


def test_a_position_survives_json():
    position = Position(2, 3, 4, -5, hashlib.sha256(b"y").digest())
    assert Position.from_json(orjson.loads(orjson.dumps(position.to_json()))) == position
    assert len(encode_bytes(position.chain)) == 43


def test_the_commitment_of_a_stub_is_taken_as_it_stands():
    stub = Record(1, 2, b"a", None, None, bytes(32), None)
    assert stub.commitment == bytes(32)
