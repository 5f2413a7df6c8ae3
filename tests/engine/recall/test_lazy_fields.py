"""A memory says the same in whatever order it is looked at."""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from datetime import UTC, datetime

import pytest

import recollex
from recollex_engine.recall.memory import Memory

LONG = " ".join(
    f"Sentence {n} speaks of oak tables and slow rivers in the n\u00f6rth." for n in range(40)
)
AT = datetime(2024, 5, 1, tzinfo=UTC)
QUERY = [1.0] * 8


@pytest.fixture
def recall(tmp_path):
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
        alice = store.agent("alice")
        alice.retain("Ann plays the cello in Oslo.", id="plain", embedding=QUERY, event_at=AT)
        alice.retain(LONG, id="long", embedding=QUERY, tags=["wood", "water"])
        alice.retain(
            "Bob moved to Oslo.",
            id="full",
            embedding=QUERY,
            context="chat",
            document_id="d1",
            entities=["Bob", "Oslo"],
            metadata={"a": [1]},
            valid_until=datetime(2030, 1, 1, tzinfo=UTC),
        )

        def ask(**options):
            return alice.recall("Who moved to Oslo?", query_embedding=QUERY, **options)

        yield ask


NAMES = [field.name for field in fields(Memory)]


def read_whole(recall):
    return [Memory(**{name: getattr(memory, name) for name in NAMES}) for memory in recall]


@pytest.mark.parametrize("options", [{}, {"explain": True}, {"max_tokens": 300}])
def test_each_field_is_the_same_in_whatever_order_it_is_asked_for(recall, options):
    whole = read_whole(recall(**options))
    assert len(whole) == 3 and any(memory.passage != memory.text for memory in whole)
    assert any(memory.text != LONG for memory in whole if memory.id == "long") == bool(
        "max_tokens" in options
    )
    for first in range(len(NAMES)):
        for memory, expected in zip(recall(**options), whole, strict=True):
            for name in NAMES[first:] + NAMES[:first]:
                assert getattr(memory, name) == getattr(expected, name), name
    assert list(recall(**options)) == whole
    assert [repr(memory) for memory in recall(**options)] == [repr(memory) for memory in whole]
    assert [m.to_dict() for m in recall(**options)] == [m.to_dict() for m in whole]


def test_it_is_copied_pickled_and_replaced_whole(recall):
    whole = read_whole(recall())
    for make in (copy.copy, copy.deepcopy, lambda memory: pickle.loads(pickle.dumps(memory))):
        assert [make(memory) for memory in recall()] == whole
    assert [replace(memory, text="x") for memory in recall()] == [
        replace(memory, text="x") for memory in whole
    ]


def test_a_field_is_read_once_and_cannot_be_set(recall):
    memory = recall()[0]
    assert memory.metadata is memory.metadata
    with pytest.raises(FrozenInstanceError):
        memory.text = "other"
    with pytest.raises(AttributeError, match="'Memory' object has no attribute 'txet'"):
        _ = memory.txet
    assert not hasattr(memory, "__len__")


def test_what_is_forgotten_before_it_is_looked_at_is_still_there(tmp_path):
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
        alice = store.agent("alice")
        alice.retain("Ann plays the cello.", id="a", embedding=QUERY, tags=["music"])
        memory = alice.recall("cello", query_embedding=QUERY)[0]
        alice.forget("a")
        assert memory.closed is None and memory.tags == ("music",)
    assert memory.speaker is None and memory.network == "world"
