"""What is gathered of versions of facts equals what is read one by one."""

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.memories.facts import gather_facts

Array = npt.NDArray[Any]
ENTITY, SKIPPED = 0, 2
FACTS, ENTITIES, MEMORIES, OPS = 6, 4, 5, 9


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, FACTS - 1), max_size=8))
def test_equals_what_is_read_one_by_one(seed: int, versions: list[int]) -> None:
    draw = np.random.default_rng(seed)

    def numbers(end: int, count: int, dtype: str) -> Array:
        return draw.integers(0, end, count).astype(dtype)

    def strings(count: int, least: int) -> tuple[list[bytes], tuple[Array, Array]]:
        texts = [bytes(numbers(256, size, "u1")) for size in draw.integers(least, 9, count)]
        ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
        return texts, (np.frombuffer(b"".join(texts), np.uint8), ends)

    fact_ids, of_facts = strings(FACTS, 0)
    labels, of_labels = strings(7, SKIPPED)
    ids, of_ids = strings(MEMORIES, 0)
    id = draw.permutation(FACTS).astype("<u4")
    subject, kind = numbers(ENTITIES, FACTS, "<u4"), numbers(3, FACTS, "u1")
    object_ = np.where(kind == ENTITY, numbers(ENTITIES, FACTS, "<i8"), numbers(99, FACTS, "<i8"))
    predicate, zone = numbers(99, FACTS, "<u4"), numbers(99, FACTS, "<u4")
    start, end = numbers(99, FACTS, "<i8"), numbers(99, FACTS, "<i8")
    op, closed = draw.integers(1, OPS, FACTS).astype("<u8"), numbers(OPS, FACTS, "<u8")
    recorded, sure = numbers(99, OPS, "<i8"), draw.random(FACTS)
    counts = draw.integers(0, 3, FACTS)
    ends = np.cumsum(counts).astype("<u8")
    cited = numbers(MEMORIES, int(counts.sum()), "<u4")
    id_of_memory = draw.permutation(MEMORIES).astype("<u4")
    entity_label = numbers(7, ENTITIES, "<u4")
    before = int(draw.integers(0, OPS))

    found, confidence, data, stops = gather_facts(
        np.array(versions, np.int64),
        (
            *((id, subject, kind, object_, predicate, zone), (start, end, op, closed, recorded)),
            *(sure, (ends, cited, id_of_memory), entity_label, of_facts, of_labels, of_ids),
        ),
        *(before, ENTITY, SKIPPED),
    )

    assert confidence.tolist() == sure[versions].tolist()
    assert found.T.tolist() == [
        [
            *(subject[v], kind[v], object_[v], predicate[v], zone[v], start[v], end[v]),
            *(recorded[int(op[v]) - 1], closed[v] if closed[v] <= before else 0, counts[v]),
        ]
        for v in versions
    ]
    expected = [fact_ids[id[v]] for v in versions]
    expected += [labels[entity_label[subject[v]]][SKIPPED:] for v in versions]
    expected += [
        labels[entity_label[object_[v]]][SKIPPED:] if kind[v] == ENTITY else b"" for v in versions
    ]
    for v in versions:
        rests_on = cited[int(ends[v]) - int(counts[v]) : int(ends[v])]
        expected += [ids[id_of_memory[memory]] for memory in rests_on]
    places, whole = [0, *stops.tolist()], data.tobytes()
    assert [whole[places[i] : places[i + 1]] for i in range(len(stops))] == expected
    assert places[-1] == len(whole)
