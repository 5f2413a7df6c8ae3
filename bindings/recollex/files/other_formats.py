"""Memories as other programs read them: Markdown notes, a history of LangChain, memories of mem0.

`recollex ingest` reads each of them again. Facts, links and vectors have no place there.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

LineObject = dict[str, Any]
"""A memory as `jsonl.to_object` gives it."""
_TYPES = {"user": "human", "assistant": "ai", "system": "system", "tool": "tool"}
"""Role -> the type of a message."""
_NAME = 60
"""Characters of a note's name, besides its day."""


def write_markdown(folder: Path, objects: Iterable[LineObject]) -> int:
    """Write a note for each memory into a folder; return how many.

    Its name is the day and the first words; its front matter, YAML, has every other field.
    """
    names: Counter[str] = Counter()
    count = 0
    for each in objects:
        name = note_name(each)
        names[name] += 1
        again = f"-{names[name]}" if names[name] > 1 else ""
        (folder / f"{name}{again}.md").write_text(note(each), encoding="utf-8")
        count += 1
    return count


def note_name(each: LineObject) -> str:
    """Return the name of a memory's note, without its end.

    >>> note_name({"text": "Ann likes *tea*.", "event_at": "2024-05-04T10:00:00+00:00"})
    '2024-05-04-ann-likes-tea'
    """
    day = str(each.get("event_at") or each.get("at"))[:10]
    words = re.sub(r"\W+", "-", each["text"][: 2 * _NAME].lower()).strip("-")
    return f"{day}-{words[:_NAME].strip('-') or 'note'}"


def note(each: LineObject) -> str:
    """Return the note of a memory. A value is written as JSON, which YAML reads."""
    fields = {name: value for name, value in each.items() if name not in ("text", "embedding")}
    front = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    return "\n".join(["---", *front, "---", "", each["text"], ""])


def write_mem0(file: Path, objects: Iterable[LineObject]) -> int:
    """Write memories as mem0's ``get_all`` gives them; return how many."""
    return _write_list(file, '{"results": [\n', map(_of_mem0, objects), "\n]}\n")


def _of_mem0(each: LineObject) -> LineObject:
    """Return a memory of mem0. What it has no field for goes to the metadata."""
    metadata = dict(each.get("metadata", {}))
    found = {
        "id": each["id"],
        "memory": each["text"],
        "created_at": each.get("event_at") or each.get("at"),
        "expiration_date": each.get("valid_until"),
        "categories": each.get("tags"),
        "actor_id": each.get("speaker"),
        "role": each.get("role"),
        "user_id": metadata.pop("user_id", None),
    }
    for name in ("context", "document_id", "source", "trust"):
        if name in each:
            metadata.setdefault(name, each[name])
    found["metadata"] = metadata
    return {name: value for name, value in found.items() if value not in (None, [], {})}


def write_langchain(file: Path, objects: Iterable[LineObject]) -> int:
    """Write the turns as LangChain's ``messages_from_dict`` reads them; return how many.

    A memory without a speaker is no message, and is left out.
    """
    turns = (each for each in objects if "speaker" in each or "role" in each)
    return _write_list(file, "[\n", map(_message, turns), "\n]\n")


def _message(each: LineObject) -> LineObject:
    role = each.get("role")
    speaker = each.get("speaker")
    kind = _TYPES.get(str(role), "chat")
    data: LineObject = {
        "content": each["text"],
        "id": each["id"],
        "name": None if speaker in (None, role) else speaker,
        "additional_kwargs": {
            "created_at": each["at"],
            "document_id": each.get("document_id"),
        },
        "response_metadata": {},
        "type": kind,
    }
    if kind == "chat":
        data["role"] = speaker
    if kind == "tool":
        data["tool_call_id"] = each["id"]  # it was not kept, and LangChain wants one
    return {"type": kind, "data": data}


def _write_list(file: Path, head: str, objects: Iterator[LineObject], end: str) -> int:
    count = 0
    with file.open("w", encoding="utf-8") as out:
        out.write(head)
        for count, each in enumerate(objects, 1):
            out.write((",\n" if count > 1 else "") + json.dumps(each, ensure_ascii=False))
        out.write(end)
    return count


WRITERS: dict[str, Callable[[Path, Iterable[LineObject]], int]] = {
    "markdown": write_markdown,
    "mem0": write_mem0,
    "langchain": write_langchain,
}
"""Format -> what writes it; that of Markdown takes a folder."""
