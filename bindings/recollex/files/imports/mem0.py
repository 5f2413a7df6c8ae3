"""Memories of mem0: what `Memory.get_all` or its platform gives.

::

    {"results": [{"id": ..., "memory": "...", "hash": ..., "metadata": {...}, "categories": [...],
                  "created_at": time, "updated_at": time, "user_id": ...}], "relations": [...]}

Also the list alone. Whose memory it is (user_id, agent_id, app_id, run_id, actor_id) and other
fields become metadata, and the categories tags. All are stored for one agent: `where` with user_id
tells them apart. Relations of mem0's graph have no time and no evidence; they are counted.
"""

from collections.abc import Iterator
from typing import Any

from recollex.files.imports.formats import Format
from recollex.files.imports.reading import FileReading, Object, as_dict, as_list
from recollex_engine.errors import InputError

_READ = ("id", "memory", "metadata", "categories", "created_at", "expiration_date")
_OF_NO_USE = ("hash", "score")
"""What is computed of the text, or of a search."""


def matches(content: Any) -> bool:
    """Return whether these are memories of mem0."""
    if isinstance(content, dict):
        found = content.get("results")
        return found == [] or (bool(as_list(found)) and "memory" in as_dict(as_list(found)[0]))
    return bool(as_list(content)) and "memory" in as_dict(content[0])


def read(content: Any, reading: FileReading) -> Iterator[Object]:
    """Yield the memories."""
    if not matches(content):
        raise InputError('mem0\'s export is {"results": [{"id": ..., "memory": ...}, ...]}')
    if isinstance(content, dict):
        reading.skip("relation of the graph", len(as_list(content.get("relations"))))
        content = content["results"]
    for each in content:
        item = as_dict(each)
        more = {
            name: value
            for name, value in item.items()
            if name not in (*_READ, *_OF_NO_USE) and value not in (None, [], {})
        }
        memory = {
            "id": item.get("id"),
            "text": item.get("memory"),
            "event_at": reading.time(item.get("created_at")),
            "valid_until": reading.time(item.get("expiration_date")),
            "tags": [each for each in as_list(item.get("categories")) if isinstance(each, str)],
            "metadata": as_dict(item.get("metadata")) | more,
        }
        yield from reading.checked(memory, "memory")


FORMATS = (
    Format(
        "mem0",
        ("json",),
        "`get_all`, or its list of results",
        "memories; categories are tags, `user_id` and the like metadata",
        matches,
        read,
    ),
)
