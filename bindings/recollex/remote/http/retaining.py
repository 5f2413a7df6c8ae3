"""The endpoints that store memories: Memora's batch (its 6.1), one memory, and a list."""

from collections.abc import Callable
from typing import Any

from recollex.remote.http import responses
from recollex.remote.http.endpoint import Backend, CheckedRequest, Endpoint
from recollex.remote.http.schema import (
    AGENT,
    ID,
    METADATA,
    NETWORK,
    OF_AGENT,
    SOURCE,
    TEXT,
    TRUST,
    VECTOR,
    Schema,
    listed,
    members,
    moment,
    one_of,
    text,
    typed,
)
from recollex_engine.domain.checks import MAX_NAMES
from recollex_engine.domain.fields import GIVEN
from recollex_engine.domain.statement import MAX_BATCH
from recollex_engine.errors import InputError
from recollex_engine.text.entity_types import ENTITY_TYPES

_ENTITIES = typed(
    listed(text()) | typed(dict[str, one_of(*ENTITY_TYPES)], max_length=MAX_NAMES),  # type: ignore[misc]
    "Names of entities; or an object of names and what they are.",
)

_FORMS: dict[str, Callable[[str], Schema]] = {
    "text": lambda about: text(about=about),
    "moment": moment,
    "names": lambda about: listed(text(), about),
    "object": lambda about: METADATA,
    "entities": lambda about: _ENTITIES,
    "vector": lambda about: VECTOR,
}
_OWN = {"network": NETWORK, "source": SOURCE, "trust": TRUST, "id": ID}
_RETAINED: dict[str, Schema] = {
    "text": TEXT,
    **{each.name: _OWN.get(each.name) or _FORMS[each.form](each.help) for each in GIVEN},
}
RETAIN = members("Retain", _RETAINED, ("text",), "One memory.")
_IN_ITEMS = {"text": "content", "event_at": "event_date", "network": "fact_type"}
"""Argument -> Memora's name of it."""
ITEM = members(
    "Item",
    {
        _IN_ITEMS.get(name, name): schema
        for name, schema in _RETAINED.items()
        if name != "document_id"
    },
    ("content",),
    "One memory.",
)
RETAINED = typed(
    RETAIN | listed(RETAIN, "Several, as one transaction.", 1, MAX_BATCH),
    "A memory, or a list of some.",
)
BATCH = members(
    "Batch",
    {
        "agent_id": AGENT,
        "items": listed(ITEM, "The memories, stored as one transaction.", 1, MAX_BATCH),
        "document_id": text(about="The document that they come from."),
    },
    ("agent_id", "items"),
)
_ABSENT = {"network": "world", "entities": (), "tags": (), "metadata": {}}


async def store(backend: Backend, request: CheckedRequest) -> Any:
    """Retain a batch."""
    items = request.body["items"]
    arguments: dict[str, Any] = {
        name: [item.get(_IN_ITEMS.get(name, name), _ABSENT.get(name)) for item in items]
        for name in _RETAINED
    }
    arguments["texts"] = arguments.pop("text")
    arguments["document_id"] = request.body.get("document_id")
    _check_vectors(arguments)
    return await backend.call("retain_many", request.agent, arguments, _ids)


async def retain(backend: Backend, request: CheckedRequest) -> Any:
    """Retain one memory, or several."""
    if not isinstance(request.body, list):
        return await backend.call("retain", request.agent, request.body, _id)
    arguments = {
        name: [item.get(name, _ABSENT.get(name)) for item in request.body] for name in _RETAINED
    }
    arguments["texts"] = arguments.pop("text")
    _check_vectors(arguments)
    return await backend.call("retain_many", request.agent, arguments, _ids)


def _check_vectors(arguments: dict[str, Any]) -> None:
    """Let the model embed all texts if none has a vector. Raises `InputError` if only some have."""
    missing = [place for place, vector in enumerate(arguments["embedding"]) if vector is None]
    if len(missing) == len(arguments["embedding"]):
        arguments["embedding"] = None
    elif missing:
        raise InputError(
            "embedding must be given for every memory of a request or for none, "
            f"memory {missing[0]} has none"
        )


def _id(id: str) -> dict[str, str]:
    return {"id": id}


def _ids(ids: list[str]) -> dict[str, list[str]]:
    return {"ids": ids}


ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/memories/batch",
        "retain_many",
        "Store memories",
        store,
        responses.IDS,
        body=BATCH,
        about="Memora 6.1. All of them or none. An id that exists replaces the older memory.",
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/memories",
        "retain",
        "Store a memory, or several",
        retain,
        responses.ID_OR_IDS,
        parameters=OF_AGENT,
        body=RETAINED,
        about="A memory is answered with its id, a list with a list of ids. An id that exists "
        "replaces the older memory.",
    ),
)
