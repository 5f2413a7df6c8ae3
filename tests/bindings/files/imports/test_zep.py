"""Episodes and the graph of Graphiti, and episodes as Zep's two interfaces give them."""

from datetime import UTC, datetime

import pytest

import recollex
from recollex_engine.errors import InputError
from tests.bindings.files.imports.conftest import Ingest

GRAPH = {
    "episodes": [
        {"uuid": "e1", "name": "talk 1", "group_id": "g", "source": "message",
         "source_description": "chat", "content": "Ann (user): I moved to Oslo.",
         "created_at": "2025-01-02T09:00:00Z", "valid_at": "2024-05-04T10:00:00Z",
         "entity_edges": ["x1"]},
        {"uuid": "e2", "name": "talk 2", "group_id": "g", "source": "message",
         "content": "assistant: Noted.", "valid_at": "2024-05-04T10:00:20"},
        {"uuid": "e3", "name": "note", "group_id": "g", "source": "text",
         "content": "Note: Oslo is cold.", "valid_at": "2024-05-05T10:00:00Z"},
        {"uuid": "e4", "name": "order", "group_id": "g", "source": "json",
         "content": '{"order": 7}', "valid_at": "2024-05-06T10:00:00Z"},
        {"uuid": "e5", "name": "empty", "group_id": "g", "source": "text", "content": " "},
    ],
    "nodes": [
        {"uuid": "n1", "name": "Ann", "labels": ["Entity", "Person"], "summary": "She moved."},
        {"uuid": "n2", "name": "Oslo", "labels": ["Entity"], "summary": ""},
    ],
    "edges": [
        {"uuid": "x1", "name": "LIVES_IN", "fact": "Ann lives in Oslo.", "episodes": ["e1", "gone"],
         "source_node_uuid": "n1", "target_node_uuid": "n2", "created_at": "2025-01-02T09:00:00Z",
         "valid_at": "2024-05-04T10:00:00Z", "invalid_at": "2024-09-01T00:00:00Z",
         "expired_at": "2025-01-03T00:00:00Z", "group_id": "g"},
        {"uuid": "x2", "name": "HATES", "fact": "Ann hates Oslo.", "source_node_uuid": "n1",
         "target_node_uuid": "n2", "expired_at": "2025-01-03T00:00:00Z"},
        {"uuid": "x3", "name": "KNOWS", "fact": "Ann knows Ben.", "source_node_uuid": "n1",
         "target_node_uuid": "gone"},
    ],
    "communities": [],
}  # fmt: skip


def test_episodes_of_graphiti(agent: recollex.Agent, ingest: Ingest) -> None:
    done = ingest(GRAPH)
    assert (done.format, done.stored, done.facts) == ("zep", 5, 1)
    told = [each for each in agent.list() if each.metadata.get("kind") != "gist"]
    assert [(each.id, each.speaker, each.role, each.text) for each in told] == [
        ("e1", "Ann", "user", "Ann: I moved to Oslo."),
        ("e2", "assistant", "assistant", "assistant: Noted."),
        ("e3", None, None, "Note: Oslo is cold."),
        ("e4", None, None, '{"order": 7}'),
    ]
    assert told[0].event_at == datetime(2024, 5, 4, 10, tzinfo=UTC)
    assert (told[0].document_id, told[0].context, told[3].metadata) == (
        "g",
        "chat",
        {"kind": "json"},
    )
    assert done.left_out == {
        "episode without a text": 1,
        "summary of a node": 1,
        "fact that expired": 1,
        "fact without its entities": 1,
        "field 'communities'": 1,
    }


def test_an_edge_is_a_fact_with_its_time_and_evidence(
    agent: recollex.Agent, ingest: Ingest
) -> None:
    ingest(GRAPH)
    (fact,) = agent.facts.find(subject="Ann")
    assert (fact.id, fact.predicate, fact.object) == ("x1", "lives in", "Oslo")
    assert fact.valid == (datetime(2024, 5, 4, 10, tzinfo=UTC), datetime(2024, 9, 1, tzinfo=UTC))
    assert fact.evidence == ("e1", "x1")
    assert agent.get("x1").text == "Ann lives in Oslo."
    person = agent.facts.entity("Ann")
    assert person is not None and person.types == ("person",)


@pytest.mark.parametrize(
    ("fields", "speaker", "role"),
    [
        ({"role": "user", "role_name": "Ann", "thread_uuid": "t"}, "Ann", "user"),
        ({"role": "assistant", "role_name": None, "thread_uuid": "t"}, "assistant", "assistant"),
        ({"role": "Ann", "role_type": "user", "session_id": "t"}, "Ann", "user"),
        ({"role": "weather", "role_type": "function", "session_id": "t"}, "weather", "tool"),
    ],
)
def test_episodes_of_zep(
    agent: recollex.Agent, ingest: Ingest, fields: dict[str, str], speaker: str, role: str
) -> None:
    episode = {"uuid": "e", "content": "Hello: you.", "source": "message", "metadata": {"n": 1}}
    done = ingest([episode | fields | {"created_at": "2024-05-04T10:00:00Z"}])
    (told,) = agent.list()
    assert (done.format, told.speaker, told.role) == ("zep", speaker, role)
    assert (told.text, told.document_id) == (f"{speaker}: Hello: you.", "t")
    assert (told.metadata, told.event_at.year) == ({"n": 1}, 2024)


def test_another_file_is_refused(ingest: Ingest) -> None:
    with pytest.raises(InputError, match="Zep's and Graphiti's episodes are"):
        ingest({"episodes": []}, format="zep")
