"""Episodes of Zep and Graphiti, with the facts and entities of their graph.

::

    {"episodes": [{"uuid": ..., "content": "...", "source": "message", "created_at": time, ...}],
     "edges": [{"uuid": ..., "name": "LIVES_IN", "fact": "Ann lives in Oslo.", "episodes": [uuid],
                "source_node_uuid": uuid, "target_node_uuid": uuid, "valid_at": time,
                "invalid_at": time, "expired_at": time}],
     "nodes": [{"uuid": ..., "name": "Ann", "labels": ["Entity", "Person"], "summary": "..."}]}

Also the list of episodes alone. An episode of Graphiti has ``valid_at`` and ``group_id``; one of
Zep has ``reference_time``, ``role``, ``role_name`` and ``thread_uuid`` (``role_type``, ``role`` and
``session_id`` before its version 4). One of the source "message" is a turn; a text of Graphiti says
who speaks: "Ann: Hello." or "Ann (user): Hello." Others are memories; JSON is kept as written.

An edge is a fact, true from ``valid_at`` to ``invalid_at``. Its sentence is a memory, which is the
evidence besides its episodes. One that expired without an ``invalid_at`` is left out: Graphiti took
it back. Summaries and embeddings of nodes, which a model made, are left out.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from recollex.api.iso_times import parse_time
from recollex.files.imports.formats import Format
from recollex.files.imports.reading import FileReading, Object, as_dict, as_list
from recollex_engine.clock import to_micros
from recollex_engine.domain.checks import MAX_NAME
from recollex_engine.domain.memory_operations import Retain
from recollex_engine.domain.operations import Operation, UpsertEdge, UpsertEntity
from recollex_engine.domain.statement import Statement
from recollex_engine.domain.trust import ROLES
from recollex_engine.domain.turn import read_turn
from recollex_engine.errors import InputError

_SPOKEN = re.compile(r"([^:\n(]{1,80}?)(?:\s*\((\w+)\))?\s*:\s+(\S.*)", re.DOTALL)
_KINDS = {"message", "text", "json", "fact_triple"}
_DOCUMENTS = ("thread_uuid", "session_id", "document_id", "group_id", "graph_uuid")
_TIMES = ("valid_at", "reference_time", "created_at")


def matches(content: Any) -> bool:
    """Return whether these are episodes, or a graph with some."""
    found = as_list(as_dict(content).get("episodes")) if isinstance(content, dict) else content
    first = as_dict(found[0]) if isinstance(found, list) and found else {}
    return "uuid" in first and "content" in first and first.get("source") in _KINDS


def read(content: Any, reading: FileReading) -> Iterator[list[Operation]]:
    """Yield the operations of each episode, then those of each entity and each fact."""
    if not matches(content):
        raise InputError(
            'Zep\'s and Graphiti\'s episodes are {"episodes": [{"uuid": ..., "content": ..., '
            '"source": "message"}, ...]}'
        )
    graph = content if isinstance(content, dict) else {"episodes": content}
    known: set[str] = set()
    for place, each in enumerate(map(as_dict, graph["episodes"]), 1):
        made = _episode(each, place, reading)
        if made is not None:
            known.add(str(made.id))
            yield [made]
    names: dict[str, str] = {}
    for each in map(as_dict, as_list(graph.get("nodes"))):
        if not (name := " ".join(str(each.get("name") or "").split())[:MAX_NAME]):
            reading.skip("node without a name")
            continue
        names[str(each.get("uuid"))] = name
        reading.skip("summary of a node", bool(each.get("summary")))
        types = [
            str(label).lower()[:MAX_NAME]
            for label in as_list(each.get("labels"))
            if label != "Entity"
        ]
        yield [UpsertEntity(name, types=tuple(types))]
    for each in map(as_dict, as_list(graph.get("edges"))):
        yield from _fact(each, names, known, reading)
    for name in graph.keys() - {"episodes", "nodes", "edges"}:
        reading.skip(f"field {name!r}")


def _episode(each: Object, place: int, reading: FileReading) -> Retain | None:
    """Return the operation of an episode; None, and count it, if it has no text."""
    document = next((str(each[name]) for name in _DOCUMENTS if each.get(name)), reading.document)
    text = str(each.get("content") or "").strip()
    spoken = {}
    if each.get("source") == "message":
        spoken = _sender(each)
        if not spoken and (found := _SPOKEN.fullmatch(text)):
            spoken = _spoken_by(found[1].strip(), found[2])
            text = found[3].strip()
    metadata = as_dict(each.get("metadata")) | as_dict(each.get("episode_metadata"))
    kept = {
        "id": str(each.get("uuid") or f"{document}/{place}"),
        "text": text,
        "at": _time(each, _TIMES, reading),
        "metadata": metadata | ({"kind": "json"} if each.get("source") == "json" else {}),
        "document_id": document,
        "context": each.get("source_description"),
        **spoken,
    }
    for turn in reading.checked(kept, "episode"):
        document = turn.pop("document_id")
        context = turn.pop("context", None)
        return Retain(read_turn(turn, place, document, context))
    return None


def _sender(each: Object) -> Object:
    """Return the speaker and the role that Zep gives an episode, if it does."""
    role = each.get("role")
    name = each.get("role_name")
    if "role_type" in each:  # before version 4, role was the name
        role, name = each["role_type"], role
    return _spoken_by(str(name or ""), str(role or ""))


def _spoken_by(name: str, role: str | None) -> Object:
    role = {"function": "tool"}.get(str(role), role)
    if role not in ROLES[1:]:
        role = name.lower() if name.lower() in ROLES[1:] else None
    if name.lower() == role:
        name = ""
    return {key: value for key, value in (("speaker", name), ("role", role)) if value}


def _fact(
    each: Object, names: dict[str, str], known: set[str], reading: FileReading
) -> Iterator[list[Operation]]:
    """Yield the operations of an edge: its sentence as a memory, and the fact."""
    subject = names.get(str(each.get("source_node_uuid")))
    value = names.get(str(each.get("target_node_uuid")))
    predicate = str(each.get("name") or "").replace("_", " ").lower().strip()
    start = _time(each, ("valid_at",), reading)
    end = _time(each, ("invalid_at",), reading)
    if subject is None or value is None or not predicate:
        reading.skip("fact without its entities")
        return
    if end is None and each.get("expired_at"):
        reading.skip("fact that expired")
        return
    if start is not None and end is not None and end <= start:
        reading.skip("fact that ends before it begins")
        return
    id = str(each.get("uuid") or f"{subject}/{predicate}/{value}/{start}")[:MAX_NAME]
    made: list[Operation] = []
    evidence = [str(uuid) for uuid in as_list(each.get("episodes")) if str(uuid) in known]
    if sentence := str(each.get("fact") or "").strip():
        told = _micros(start or _time(each, ("created_at",), reading))
        made.append(
            Retain(
                Statement(
                    sentence,
                    said_at=told,
                    id=id,
                    document=str(each.get("group_id") or reading.document)[:MAX_NAME],
                    entities=tuple(dict.fromkeys((subject, value))),
                    metadata={"kind": "gist"},
                )
            )
        )
        evidence.append(id)
    made.append(
        UpsertEdge(
            subject,
            predicate,
            value,
            start=_micros(start),
            end=_micros(end),
            evidence=tuple(evidence),
            given_id=id,
        )
    )
    yield made


def _time(each: Object, fields: tuple[str, ...], reading: FileReading) -> datetime | None:
    """Return the first of the fields that is a time."""
    for name in fields:
        if (written := reading.time(each.get(name))) is not None:
            return parse_time(written, reading.zone, name)
    return None


def _micros(at: datetime | None) -> int | None:
    return None if at is None else to_micros(at, "a time")


FORMATS = (
    Format(
        "zep",
        ("json",),
        "episodes of Zep or Graphiti, alone or with `nodes` and `edges`",
        "messages are turns, others memories; edges are facts",
        matches,
        read,
        facts=True,
    ),
)
