"""A memory read alone is the memory that is read among others."""

from datetime import UTC, datetime

import recollex
from recollex_engine.recall.memory import read_memories, read_memory
from tests.bindings.word_vectors import WordVectors

LONG = " ".join(
    f"Sentence {n} speaks of oak tables and slow rivers in the north." for n in range(40)
)
AT = datetime(2024, 5, 1, tzinfo=UTC)


def test_one_memory_reads_as_it_does_among_others(tmp_path):
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        alice = store.agent("alice")
        alice.retain("Ann plays the cello.", id="plain", event_at=AT)
        alice.retain(LONG, id="long", tags=["wood", "water"])
        alice.retain(
            "Bob moved to Oslo.",
            id="full",
            context="chat",
            document_id="d1",
            entities=["Bob", "Oslo"],
            metadata={"a": [1]},
            valid_until=datetime(2030, 1, 1, tzinfo=UTC),
            source="crawler",
            trust="tool",
        )
        alice.archive("plain", by="me", why="old")
        alice.correct("full", "Bob moved to Rome last Friday.")
        turn = {"speaker": "Eve", "text": "Hello, Bob.", "role": "user"}
        alice.retain_dialogue([turn], document_id="d2")
        view = alice.engine.view()
        assert view is not None
        together = read_memories(view, [0, 1, 2, 3, 4])
        assert together == [read_memory(view, place) for place in range(5)]
        assert [memory.id for memory in together[:4]] == ["plain", "long", "full", "full"]
        assert together[0].closed is not None and together[0].closed.why == "old"
        assert together[1].passage != together[1].text
        assert together[2].metadata == {"a": [1]}
        assert (together[2].source, together[2].trust) == ("crawler", "tool")
        assert together[3].replaces is not None and together[3].event[0] != together[3].event_at
        assert (together[4].speaker, together[4].role) == ("Eve", "user")
