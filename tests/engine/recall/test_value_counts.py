"""The values of a field and how many memories have each, against the memories themselves."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import recollex
from recollex_engine.errors import InputError
from recollex_engine.recall.lookups import FIELDS
from tests.engine.faults.small_store import Model

SPEAKERS, SOURCES = ("Ann", "Bob", "user", "assistant"), ("user", "web", "crm", None)
OF_A_MEMORY = {"document_id": "document_id", "speakers": "speaker", "roles": "role"}


def filled(path):
    """Return an agent with all kinds of values, some memories closed, and the time before that."""
    random = np.random.default_rng(3)
    times = iter(datetime(2024, 5, 1, tzinfo=UTC) + timedelta(seconds=n) for n in range(999))
    store = recollex.open(path, embedder=Model(), clock=lambda: next(times))
    agent = store.agent("a")
    for n in range(60):
        agent.retain(
            f"Told {n}.",
            id=f"m{n}",
            tags=sorted({f"t{tag}" for tag in random.integers(0, 5, random.integers(4))}),
            document_id=None if n % 5 == 0 else f"d{random.integers(3)}",
            network="world" if n == 2 else ("world", "agent", "opinion")[random.integers(3)],
            metadata={"n": n} if n % 2 else None,
            source=SOURCES[random.integers(4)],
        )
    for n in range(4):
        turns = [
            {"speaker": SPEAKERS[random.integers(4)], "text": f"Told on day {n}, {place}."}
            for place in range(5)
        ]
        agent.retain_dialogue(turns, document_id=f"d{n}")
    before = agent.get("m59").recorded_at
    agent.checkpoint()
    agent.forget([f"m{n}" for n in range(0, 60, 7)])
    agent.archive("m1")
    agent.amend("m2", tags=["amended"])
    return agent, before


def counted(memories, field):
    values = Counter()
    for memory in memories:
        value = getattr(memory, OF_A_MEMORY.get(field, field))
        values.update(value if field == "tags" else [] if value is None else [value])
    return sorted(values.items(), key=lambda item: (-item[1], item[0]))


@pytest.mark.parametrize("field", FIELDS)
def test_counts_are_those_of_the_memories(tmp_path, field):
    agent, before = filled(tmp_path / "s")
    assert len(agent.value_counts(field)) > 1
    for reader in (agent, agent.at(before)):
        for wanted in ({}, {"tags": ["t1"]}, {"network": "agent"}, {"tags": ["never"]}):
            expected = counted(reader.list(limit=1000, **wanted), field)
            assert list(reader.value_counts(field, **wanted).items()) == expected


def test_an_agent_without_memories_has_no_values_and_other_fields_are_refused(tmp_path):
    agent = recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(8)).agent("a")
    assert agent.value_counts("tags") == {}
    for field in ("tag", None, 3, ["tags"]):
        with pytest.raises(InputError, match="field must be one of tags, document_id"):
            agent.value_counts(field)
