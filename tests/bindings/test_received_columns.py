"""Memories that came as columns say what was sent, or are refused before they are looked at."""

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollex.remote.wire.codec import encode
from recollex.remote.wire.received_columns import ReceivedColumns
from recollex.remote.wire.records import record
from recollex_engine.errors import ProtocolError

MICROS = st.integers(-(2**63), 2**63 - 1)
MEMORIES = st.lists(
    st.tuples(
        st.tuples(MICROS, MICROS, MICROS, MICROS, st.integers(0, 2), MICROS),
        st.text(max_size=4),
        st.text(max_size=4),
        st.floats(allow_nan=False),
        st.integers(0, 2**32 - 1),
        st.none() | st.text(max_size=3),
    ),
    max_size=4,
)


def told_of(memories: list[Any]) -> dict[str, Any]:
    """Return columns, written as PROTOCOL.md has them."""
    rows = list(zip(*(memory[0] for memory in memories), strict=True)) or [()] * 6
    strings = [memory[place].encode() for place in (1, 2) for memory in memories]
    ends = [sum(map(len, strings[: place + 1])) for place in range(len(strings))]
    count = len(memories)
    return {
        "numbers": b"".join(struct.pack(f"<{count}q", *row) for row in rows),
        "strings": b"".join(strings),
        "ends": struct.pack(f"<{2 * count}q", *ends),
        "score": struct.pack(f"<{count}d", *(memory[3] for memory in memories)),
        "ranks": {"keyword": struct.pack(f"<{count}I", *(memory[4] for memory in memories))},
        "speaker": [memory[5] for memory in memories],
        "of a later version": 1,
    }


@given(MEMORIES)
def test_columns_say_what_was_sent(memories: list[Any]) -> None:
    found = ReceivedColumns(told_of(memories), len(memories))
    for place, (numbers, id, text, score, rank, speaker) in enumerate(memories):
        assert (found.id[place], found.text[place], found.score[place]) == (id, text, score)
        assert [row[place] for row in found.numbers] == list(numbers)
        assert found.ranks["keyword"][place] == rank
        assert (found.speaker[place], found.entities[place]) == (speaker, ())


ONE = told_of([((0, 0, 1, 2, 0, 3), "m", "tea", 0.5, 1, None)])


@pytest.mark.parametrize(
    "wrong",
    [
        *({name: ONE[name][:-1]} for name in ("numbers", "ends", "score")),
        *({name: [1]} for name in ("numbers", "ends", "score", "strings", "ranks")),
        {"ranks": {"keyword": b"123"}},
        {"ranks": {"keyword": [1]}},
        {"speaker": [None, None]},
        {"speaker": "x"},
    ],
)
def test_columns_of_another_size_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError):
        ReceivedColumns(ONE | wrong, 1)
    for left_out in wrong.keys() - {"ranks", "speaker"}:
        with pytest.raises(ProtocolError):
            ReceivedColumns({name: ONE[name] for name in ONE.keys() - {left_out}}, 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"strings": b"m\xfftea"[:4]},
        {"numbers": struct.pack("<6q", 0, 0, 1, 2, 3, 4)},
        {"metadata": ["{"]},
        {"closed": [7]},
        {"replaces": [7]},
        {"repeated_at": [["x"]]},
        {"valid_until": ["x"]},
        {"entities": [1]},
        {"role": [5]},
        {"role": ["user"]},
        {"passages": [[1]]},
        {"passages": [7]},
    ],
)
def test_memories_of_a_client_are_read_before_they_are_used(wrong: dict[str, Any]) -> None:
    told = {"query": "tea", "tokens": 0, "token_counter": "none", "count": 1, "op": 0}
    recall = record("Recall").build(told | {"memories": encode(ONE | wrong)})
    with pytest.raises(ProtocolError, match=r"memories|network|role|passages"):
        list(recall)
