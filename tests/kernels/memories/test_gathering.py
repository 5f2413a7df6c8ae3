"""What is gathered of memories equals what is read one by one."""

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.memories import gathering as memories
from recollex_kernels.memories.gathering import gather_memories

Array = npt.NDArray[Any]
NONE, OPEN_END = 2**32 - 1, 2**63 - 1
MOST = 6


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, MOST - 1), max_size=8))
def test_equals_what_is_read_one_by_one(seed: int, places: list[int]) -> None:
    draw = np.random.default_rng(seed)

    def times() -> Array:
        return draw.integers(0, 9, MOST)

    def rarely(usual: int, dtype: type) -> Array:
        found: Array = np.full(MOST, usual, dtype)
        found[draw.random(MOST) < 0.2] = 1
        return found

    def offsets(least: int, dtype: type) -> Array:
        counts = np.where(draw.random(MOST) < 0.2, least + 1, least)
        return np.concatenate(([0], np.cumsum(counts))).astype(dtype)

    columns: dict[str, Array] = {
        **{name: times() for name in ("said", "start", "end")},
        "op": draw.integers(1, 4, MOST).astype(np.uint64),
        "recorded": draw.integers(0, 9, 3),
        "network": draw.integers(0, 4, MOST).astype(np.uint8),
        "tokens": draw.integers(0, 99, MOST).astype(np.uint32),
        "first_row": offsets(1, np.uint32),
        **{name: rarely(NONE, np.uint32) for name in ("context", "document", "speaker")},
        **{name: offsets(0, np.uint64) for name in ("mentions", "labels", "metadata")},
        "valid_end": rarely(OPEN_END, np.int64),
        "closed_by": rarely(0, np.uint64),
        "trust": rarely(0, np.uint8),
        "previous": rarely(NONE, np.uint32),
    }
    ids, texts = (
        [bytes(draw.integers(0, 256, size).astype(np.uint8)) for size in draw.integers(0, 5, MOST)]
        for _ in range(2)
    )
    number = draw.permutation(MOST).astype(np.uint32)
    strings: list[Array] = [
        number,
        np.frombuffer(b"".join(ids), np.uint8),
        np.cumsum([len(each) for each in ids]),
        np.frombuffer(b"".join(texts), np.uint8),
        np.cumsum([0, *(len(each) for each in texts)]).astype(np.uint64),
    ]
    groups = (
        *(("said", "start", "end", "op", "recorded"), ("network", "tokens", "first_row")),
        *(("context", "document", "speaker", "trust"), ("mentions", "labels", "metadata")),
        ("valid_end", "closed_by", "previous"),
    )
    told: list[Any] = [tuple(columns[name] for name in names) for names in groups]
    told += [tuple(strings[:3]), tuple(strings[3:]), NONE, OPEN_END]
    numbers, data, ends, has = gather_memories(np.array(places, np.int64), *told)

    expected, bits = [], 0
    for m in places:
        of = {name: int(column[m]) for name, column in columns.items() if name != "recorded"}
        recorded = int(columns["recorded"][of["op"] - 1])
        expected.append([of["said"], of["start"], of["end"], recorded, of["network"], of["tokens"]])
        several = {
            name: int(columns[name][m + 1] - columns[name][m])
            for name in ("first_row", "mentions", "labels", "metadata")
        }
        bits |= memories.SEVERAL if several["first_row"] > 1 else 0
        bits |= memories.CONTEXT if of["context"] != NONE else 0
        bits |= memories.DOCUMENT if of["document"] != NONE else 0
        bits |= memories.SPEAKER if of["speaker"] != NONE else 0
        bits |= memories.MENTIONS if several["mentions"] else 0
        bits |= memories.LABELS if several["labels"] else 0
        bits |= memories.METADATA if several["metadata"] else 0
        bits |= memories.VALID_END if of["valid_end"] != OPEN_END else 0
        bits |= memories.CLOSED if of["closed_by"] else 0
        bits |= memories.TRUST if of["trust"] else 0
        bits |= memories.PREVIOUS if of["previous"] != NONE else 0
    assert numbers.T.tolist() == expected
    assert has == bits
    stops, whole = [0, *ends.tolist()], data.tobytes()
    assert [whole[stops[i] : stops[i + 1]] for i in range(len(ends))] == [
        *(ids[number[m]] for m in places),
        *(texts[m] for m in places),
    ]
    assert stops[-1] == len(whole)
