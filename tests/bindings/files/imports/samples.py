"""A file of every format with as many memories as a test asks for, each with an id and a time."""

import csv
import json
import mailbox
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from recollex.files import parquet
from tests.bindings.files.imports.pdf_files import pdf

START = datetime(2024, 5, 4, 10, tzinfo=UTC)
_WORDS = (
    "tea",
    "coffee",
    "boat",
    "harbour",
    "Oslo",
    "Lisbon",
    "Ann",
    "Ben",
    "map",
    "bread",
    "winter",
)
_PEOPLE = ("Ann", "Ben", "Carla")


def at(place: int) -> datetime:
    return START + timedelta(minutes=place)


def text(place: int) -> str:
    chosen = random.Random(place).choices(_WORDS, k=7)
    return f"Note {place}: {' '.join(chosen)}."


def _jsonl(path: Path, count: int) -> None:
    lines = [
        {"text": text(n), "id": f"m{n}", "event_at": at(n).isoformat(), "tags": ["note"]}
        for n in range(count)
    ]
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")


def _objects(path: Path, count: int) -> None:
    lines = [
        {"role": "user", "content": text(n), "id": f"m{n}", "at": at(n).isoformat()}
        for n in range(count)
    ]
    path.write_text(json.dumps(lines), "utf-8")


def _chatgpt(path: Path, count: int) -> None:
    def node(n: int, first: int, last: int) -> dict[str, Any]:
        return {
            "id": f"n{n}",
            "parent": None if n == first else f"n{n - 1}",
            "children": [] if n == last else [f"n{n + 1}"],
            "message": {
                "id": f"m{n}",
                "author": {"role": "assistant" if n % 2 else "user"},
                "create_time": at(n).timestamp(),
                "content": {"content_type": "text", "parts": [text(n)]},
            },
        }

    talks = [range(first, min(first + 40, count)) for first in range(0, count, 40)]
    _json(
        path,
        [
            {
                "title": f"Talk {talk[0]}",
                "id": f"c{talk[0]}",
                "current_node": f"n{talk[-1]}",
                "mapping": {f"n{n}": node(n, talk[0], talk[-1]) for n in talk},
            }
            for talk in talks
        ],
    )


def _claude(path: Path, count: int) -> None:
    _json(
        path,
        [
            {
                "uuid": f"c{first}",
                "name": f"Talk {first}",
                "chat_messages": [
                    {
                        "uuid": f"m{n}",
                        "sender": "assistant" if n % 2 else "human",
                        "created_at": at(n).isoformat(),
                        "content": [{"type": "text", "text": text(n)}],
                    }
                    for n in range(first, min(first + 40, count))
                ],
            }
            for first in range(0, count, 40)
        ],
    )


def _langchain(path: Path, count: int) -> None:
    _json(
        path,
        [
            {
                "type": "ai" if n % 2 else "human",
                "data": {
                    "content": text(n),
                    "additional_kwargs": {"created_at": at(n).isoformat()},
                },
            }
            for n in range(count)
        ],
    )


def _letta(path: Path, count: int) -> None:
    passages = [
        {"id": f"passage-{n}", "text": text(n), "created_at": at(n).isoformat()}
        for n in range(count)
    ]
    _json(path, passages)


def _letta_agent(path: Path, count: int) -> None:
    labels = ("human", "persona")
    blocks = [{"id": f"block-{x}", "label": x, "value": f"About the {x}."} for x in labels]
    messages = [
        {
            "id": f"message-{n}",
            "role": "user" if n % 2 else "assistant",
            "created_at": at(n).isoformat(),
            "content": [{"type": "text", "text": text(n)}],
        }
        for n in range(count - len(blocks))
    ]
    ids = [block["id"] for block in blocks]
    agent = {"id": "agent-0", "name": "Ann", "block_ids": ids, "messages": messages}
    _json(path, {"agents": [agent], "blocks": blocks, "created_at": at(0).isoformat()})


def _mem0(path: Path, count: int) -> None:
    results = [
        {"id": f"m{n}", "memory": text(n), "created_at": at(n).isoformat(), "user_id": "ann"}
        for n in range(count)
    ]
    _json(path, {"results": results})


def _csv(path: Path, count: int) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "speaker", "date", "channel"])
        rows.writerows([text(n), _PEOPLE[n % 3], at(n).isoformat(), "tea"] for n in range(count))


def _parquet(path: Path, count: int) -> None:
    parquet.write(
        path,
        (
            {"id": f"m{n}", "text": text(n), "event_at": at(n).isoformat(), "metadata": {"n": n}}
            for n in range(count)
        ),
    )


def _mbox(path: Path, count: int) -> None:
    box = mailbox.mbox(path)
    for n in range(count):
        mail = EmailMessage()
        mail["From"] = f"{_PEOPLE[n % 3]} <{_PEOPLE[n % 3].lower()}@x.org>"
        mail["Date"] = at(n)
        mail["Message-ID"] = f"<{n}@x.org>"
        mail["Subject"] = "Notes"
        if n % 20:
            mail["References"] = f"<{n - n % 20}@x.org>"
        mail.set_content(text(n))
        box.add(mail)
    box.close()


def _slack(path: Path, count: int) -> None:
    (path / "general").mkdir(parents=True)
    _json(path / "users.json", [{"id": name, "name": name} for name in _PEOPLE])
    _json(path / "channels.json", [{"id": "C1", "name": "general"}])
    days: dict[str, list[dict[str, Any]]] = {}
    for n in range(count):
        moment = f"{at(n).timestamp():.6f}"
        said = {"type": "message", "user": _PEOPLE[n % 3], "ts": moment, "text": text(n)}
        days.setdefault(f"{at(n):%Y-%m-%d}.json", []).append(said)
    for name, messages in days.items():
        _json(path / "general" / name, messages)


def _markdown(path: Path, count: int) -> None:
    path.mkdir()
    for first in range(0, count, 100):
        parts = [f"# Part {n}\n\n{text(n)}\n" for n in range(first, min(first + 100, count))]
        day = f"{at(first):%Y-%m-%d}"
        (path / f"{day} {first}.md").write_text("\n".join(parts), "utf-8")


def _memory_folder(path: Path, count: int) -> None:
    path.mkdir()
    (path / "MEMORY.md").write_text("- [Days](days.md)\n", "utf-8")
    for first in range(0, count, 100):
        items = [f"- {text(n)}" for n in range(first, min(first + 100, count))]
        (path / f"{at(first):%Y-%m-%d} {first}.md").write_text("\n".join(items), "utf-8")


def _pdf(path: Path, count: int) -> None:
    made = f"D:{START:%Y%m%d%H%M%S}Z"
    path.write_bytes(pdf([text(n) for n in range(count)], CreationDate=made))


def _triples(path: Path, count: int) -> None:
    lines = [
        {"subject": _PEOPLE[n % 3], "predicate": "noted", "object": {"text": text(n)},
         "point_in_time": f"{at(n):%Y-%m-%d}", "text": text(n)}
        for n in range(count)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")


def _ics(path: Path, count: int) -> None:
    entries = [
        f"BEGIN:VEVENT\r\nUID:e{n}\r\nSUMMARY:{text(n)}\r\nDTSTART:{at(n):%Y%m%dT%H%M%SZ}\r\n"
        "END:VEVENT\r\n"
        for n in range(count)
    ]
    head = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//recollex//test//EN\r\n"
    path.write_text(head + "".join(entries) + "END:VCALENDAR\r\n", "utf-8", newline="")


def _zep(path: Path, count: int) -> None:
    episodes = [
        {"uuid": f"e{n}", "group_id": "g", "source": "message", "valid_at": at(n).isoformat(),
         "content": f"{_PEOPLE[n % 3]}: {text(n)}"}
        for n in range(count // 2)
    ]  # fmt: skip
    nodes = [{"uuid": name, "name": name, "labels": ["Person"]} for name in _PEOPLE]
    edges = [
        {"uuid": f"x{n}", "name": "KNOWS", "fact": text(n), "source_node_uuid": _PEOPLE[n % 3],
         "target_node_uuid": _PEOPLE[(n + 1) % 3], "valid_at": at(n).isoformat(),
         "episodes": [f"e{n - count // 2}"]}
        for n in range(count // 2, count)
    ]  # fmt: skip
    _json(path, {"episodes": episodes, "nodes": nodes, "edges": edges})


def _json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content), "utf-8")


SAMPLES: dict[str, tuple[str, str, Callable[[Path, int], None]]] = {
    "jsonl": ("jsonl", "a.jsonl", _jsonl),
    "json": ("json", "a.json", _objects),
    "chatgpt": ("chatgpt", "conversations.json", _chatgpt),
    "claude": ("claude", "conversations.json", _claude),
    "langchain": ("langchain", "a.json", _langchain),
    "letta": ("letta", "a.json", _letta),
    "letta's agent": ("letta", "a.json", _letta_agent),
    "mem0": ("mem0", "a.json", _mem0),
    "csv": ("csv", "a.csv", _csv),
    "parquet": ("parquet", "a.parquet", _parquet),
    "mbox": ("mbox", "a.mbox", _mbox),
    "slack": ("slack", "export", _slack),
    "markdown": ("markdown", "notes", _markdown),
    "memory folder": ("markdown", "notes", _memory_folder),
    "pdf": ("pdf", "a.pdf", _pdf),
    "triples": ("triples", "a.jsonl", _triples),
    "ics": ("ics", "a.ics", _ics),
    "zep": ("zep", "a.json", _zep),
}
"""What is written -> the format that is found, the name of the file or folder, what writes it."""
