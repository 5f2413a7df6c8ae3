"""A memory read alone is the memory that is read among others."""

from datetime import UTC, datetime

import recollex
from recollex_engine.recall.memory import read_memories, read_memory

LONG = " ".join(
    f"Sentence {n} speaks of oak tables and slow rivers in the north." for n in range(40)
)
AT = datetime(2024, 5, 1, tzinfo=UTC)


def test_one_memory_reads_as_it_does_among_others(tmp_path):
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
        alice = store.agent("alice")
        alice.retain("Ann plays the cello.", id="plain", embedding=[1.0] * 8, event_at=AT)
        alice.retain(LONG, id="long", embedding=[1.0] * 8, tags=["wood", "water"])
        alice.retain(
            "Bob moved to Oslo.",
            id="full",
            embedding=[1.0] * 8,
            context="chat",
            document_id="d1",
            entities=["Bob", "Oslo"],
            metadata={"a": [1]},
            valid_until=datetime(2030, 1, 1, tzinfo=UTC),
        )
        alice.archive("plain", by="me", why="old")
        view = alice.engine.view()
        assert view is not None
        together = read_memories(view, [0, 1, 2])
        assert together == [read_memory(view, place) for place in range(3)]
        assert [memory.id for memory in together] == ["plain", "long", "full"]
        assert together[0].closed is not None and together[0].closed.why == "old"
        assert together[1].passage != together[1].text
        assert together[2].metadata == {"a": [1]}
