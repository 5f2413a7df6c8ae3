import pytest

import recollex
from recollex_engine.errors import InputError
from tests.bindings.files.imports.conftest import Ingest

EXPORT = {
    "results": [
        {
            "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
            "memory": "Loves playing tennis on weekends",
            "hash": "285d07801ae42054732314853e9eadd7",
            "metadata": {"category": "hobbies"},
            "score": None,
            "created_at": "2024-07-26T10:29:36.630547-07:00",
            "updated_at": None,
            "user_id": "alex",
        },
        {
            "id": "0a14d8f0-e364-4f5c-b305-10da1f0d0878",
            "memory": "Has a dentist at the harbour",
            "hash": "c2a3",
            "metadata": None,
            "categories": ["health"],
            "created_at": "2024-07-27T08:00:00Z",
            "updated_at": "2024-07-28T08:00:00Z",
            "expiration_date": "2025-01-01",
            "user_id": "maria",
            "run_id": "call-7",
        },
        {"id": "e", "memory": "", "created_at": "last week"},
    ],
    "relations": [{"source": "alex", "relationship": "plays", "target": "tennis"}],
}


def test_memories_are_read(agent: recollex.Agent, ingest: Ingest) -> None:
    done = ingest(EXPORT)
    assert (done.format, done.stored) == ("mem0", 2)
    first, second = agent.list()
    assert first.text == "Loves playing tennis on weekends"
    assert first.id == "892db2ae-06d9-49e5-8b3e-585ef9b85b8e"
    assert first.event_at.isoformat() == "2024-07-26T17:29:36.630547+00:00"
    assert first.metadata == {"category": "hobbies", "user_id": "alex"}
    assert second.tags == ("health",)
    assert second.valid_until and second.valid_until.isoformat() == "2025-01-01T00:00:00+00:00"
    assert agent.list(where={"user_id": "maria"}) == [second]
    assert second.metadata["run_id"] == "call-7"
    assert second.metadata["updated_at"] == "2024-07-28T08:00:00Z"


def test_what_is_left_out_is_counted(ingest: Ingest) -> None:
    assert ingest(EXPORT).left_out == {
        "relation of the graph": 1,
        "memory without a text": 1,
        "time that cannot be read": 1,
    }


def test_the_list_alone_is_read(ingest: Ingest) -> None:
    assert ingest(EXPORT["results"][:1]).format == "mem0"


def test_another_file_is_refused(ingest: Ingest) -> None:
    with pytest.raises(InputError, match=r"mem0's export is \{\"results\""):
        ingest({"results": {}}, format="mem0")


def test_an_export_of_nothing_is_no_error(ingest: Ingest) -> None:
    done = ingest({"results": []})
    assert (done.format, done.read, done.stored) == ("mem0", 0, 0)
