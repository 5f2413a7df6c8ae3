"""Where a MessagePack value ends, against the reader that would have to read it."""

from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.wire.message import (
    AT,
    FRAMES,
    INCOMPLETE,
    MALFORMED,
    TOO_DEEP,
    TOO_LARGE,
    TOO_MANY,
    WHOLE,
    value_end,
)

RECORD = 5
DEPTH = 16
flat = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=40),
    st.binary(max_size=300),
    st.binary(max_size=40).map(lambda data: msgpack.ExtType(1, data)),
)
values = st.recursive(
    flat,
    lambda inner: st.one_of(
        st.lists(inner, max_size=20),
        st.dictionaries(st.text(max_size=5), inner, max_size=20),
        st.tuples(st.text(max_size=5), inner).map(
            lambda pair: msgpack.ExtType(RECORD, b"".join(map(msgpack.packb, pair)))
        ),
    ),
    max_leaves=20,
)


def state() -> Any:
    return np.zeros(FRAMES + 2 * DEPTH, np.int64)


def end(data: bytes, of: Any, most_bytes: int = 1 << 20, most_items: int = 10_000) -> int:
    return int(value_end(np.frombuffer(data, np.uint8), most_bytes, most_items, RECORD, of))


@settings(deadline=None)
@given(values, st.binary(max_size=5), st.lists(st.integers(0, 400), max_size=4))
def test_a_value_ends_where_the_reader_says_however_it_arrives(
    value: object, behind: bytes, pauses: list[int]
) -> None:
    data = msgpack.packb(value)
    of = state()
    for pause in sorted(pauses):
        if pause < len(data):
            assert end(data[:pause], of) == INCOMPLETE
    assert end(data + behind, of) == WHOLE
    assert of[AT] == len(data)


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=60))
def test_what_is_whole_can_be_read(data: bytes) -> None:
    of = state()
    found = end(data, of)
    unpacker = msgpack.Unpacker(strict_map_key=False, unicode_errors="replace")
    unpacker.feed(data)
    if found == WHOLE:
        try:
            unpacker.unpack()
        except (TypeError, ValueError):  # a list as a key of a map, an extension below 0
            return
        assert unpacker.tell() == of[AT]
    if found == INCOMPLETE:
        with pytest.raises((msgpack.OutOfData, TypeError, ValueError)):
            unpacker.unpack()


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"\xc1", MALFORMED),
        (b"\xdd\xff\xff\xff\xff", TOO_LARGE),
        (b"\xdf\xff\xff\xff\xff", TOO_LARGE),
        (b"\xc6\xff\xff\xff\xff", TOO_LARGE),
        (b"\xc9\xff\xff\xff\xff\x05", TOO_LARGE),
        (b"\xdd\x00\x00\x27\x10", TOO_MANY),
        (b"\x91" * 16 + b"\x00", WHOLE),
        (b"\x91" * 17, TOO_DEEP),
        (b"\xd5\x05\xa0\x80", WHOLE),  # a record of an empty name and no fields
        (b"\xd4\x05\xa0\x80", MALFORMED),  # it says one byte, and has two
        (b"\xd6\x05\xa0\x80\x00\x00", MALFORMED),  # four, and has two
    ],
)
def test_what_claims_too_much_is_told_at_once(data: bytes, found: int) -> None:
    assert end(data, state()) == found
