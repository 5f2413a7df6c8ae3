"""LifeBench (English): what a person's phone holds, evidence by item.

A user is a bank. Every message, call, note, calendar entry, push, photo and chat with the assistant
is one memory with its own time, written as one line, and a day is a document. Only the phone's
content is used: the set's own summaries of items (``summarized_info``) are left out. If several
items have the same id, they say the same in other words, and the first is kept. All of a phone is
visible to every question, as in LifeBench. A question is asked when the month of its ``ask_time``
ends. `facts` are what rules read from the items: who did what when.

From github.com/1754955896/LifeBench, the English data; SHA-256 of each file in ``SHA256SUMS``.
"""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.datasets.bank import Bank, Query, Split, Turn

Item = dict[str, Any]

DEVELOPMENT = 1  # users, in alphabetical order


def load(data: Path) -> list[Bank]:
    """Return one bank for each user, in alphabetical order of their folders."""
    folders = sorted(path for path in (data / "lifebench").iterdir() if path.is_dir())
    return [
        _bank(folder, "dev" if number < DEVELOPMENT else "report")
        for number, folder in enumerate(folders)
    ]


def _bank(folder: Path, split: Split) -> Bank:
    notes = {"items there twice": 0, "evidence not on the phone": 0, "without evidence": 0}
    turns: dict[str, Turn] = {}
    for kind, tell in TELL.items():
        path = folder / "phone_data" / f"{kind}.json"
        for item in _read(path) if path.exists() else ():
            id = f"{kind}:{item['phone_id']}"
            if id in turns:
                notes["items there twice"] += 1
                continue
            at = _time(item)
            turns[id] = Turn(
                id=id, text=tell(item), document=at.date().isoformat(), at=at, tags=[kind]
            )
    ordered = tuple(sorted(turns.values(), key=lambda turn: turn["at"]))
    queries = []
    for place, question in enumerate(_read(folder / "QA" / "QA_clean.json")):
        named = {f"{entry['type']}:{entry['id']}" for entry in question.get("evidence", ())}
        evidence = frozenset(named & turns.keys())
        notes["evidence not on the phone"] += len(named) - len(evidence)
        notes["without evidence"] += not evidence
        kind = question["question_type"]
        queries.append(
            Query(
                f"{folder.name}/{place}",
                question["question"],
                evidence,
                kind,
                _month_end(question["ask_time"]),
                len(ordered),
                split,
                answerable=kind != "Unanswerable",
            )
        )
    agent = _read(folder / "persona.json")["name"]
    return Bank("lifebench", folder.name, agent, ordered, tuple(queries), "turn", notes)


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _time(item: Item) -> datetime:
    """Return the time of an item; a chat has only a day, so noon is used."""
    if "datetime" in item:
        return datetime.strptime(item["datetime"], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    return datetime.strptime(item["date"], "%Y-%m-%d").replace(hour=12, tzinfo=UTC)


def _month_end(written: str) -> datetime:
    """Return the end of the month, or of the day, of ``2025-02`` or ``2025-02-03``."""
    if len(written) > len("2025-02"):
        return datetime.strptime(written, "%Y-%m-%d").replace(tzinfo=UTC) + timedelta(days=1)
    first = datetime.strptime(written, "%Y-%m").replace(tzinfo=UTC)
    return (first + timedelta(days=32)).replace(day=1)


def _message(item: Item) -> str:
    way = "to" if item["message_type"] == "Send" else "from"
    return f"Message {way} {item['contactName']}: {item['message_content']}"


INCOMING = {"Receive", "Called", "Incoming"}


def _call(item: Item) -> str:
    """Return the line of a call; ``direction`` is 0 for an incoming one, or a word in old items."""
    inward = item.get("direction") == 0 or item.get("call_type") in INCOMING
    told = f"Call {'from' if inward else 'to'} {item['contactName']}"
    if "datetime_end" in item:
        end = datetime.strptime(item["datetime_end"], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
        told += f", {round((end - _time(item)).total_seconds() / 60)} minutes"
    return told


def _note(item: Item) -> str:
    return f"Note: {item['title']}. {item['content']}"


def _calendar(item: Item) -> str:
    start, end = item["start_time"], item["end_time"]
    return f"Calendar: {item['title']}, {start[:16]} to {end[:16]}. {item['description']}"


def _push(item: Item) -> str:
    return f"Notification from {item['source']}: {item['title']}. {item['content']}"


NO_TEXT = (
    "none",
    "please translate the following",
)  # the second is an artefact of how LifeBench was made


def _photo(item: Item) -> str:
    place = item["location"] or {}
    where = [place[part] for part in ("poi", "streetName", "district", "city") if place.get(part)]
    told = f"Photo: {item['caption']}"
    if where:
        told += f" At {', '.join(where)}."
    faces = item["faceRecognition"]
    if isinstance(faces, list) and faces:
        told += f" With {', '.join(faces)}."
    if item["imageTag"]:
        told += f" Shows {', '.join(item['imageTag'])}."
    written = item["ocrText"] if isinstance(item["ocrText"], str) else ""
    if written and not written.lower().startswith(NO_TEXT):
        told += f" Text in it: {written}"
    return told


def _chat(item: Item) -> str:
    lines = [
        f"{speaker.capitalize()}: {turn[speaker]['content']}"
        for turn in item["conversation"].values()
        for speaker in ("user", "assistant")
        if turn.get(speaker, {}).get("content")
    ]
    return "Chat with the assistant\n" + "\n".join(lines)


TELL: dict[str, Callable[[Item], str]] = {
    "sms": _message,
    "call": _call,
    "note": _note,
    "calendar": _calendar,
    "push": _push,
    "photo": _photo,
    "agent_chat": _chat,
}
"""Kind of item -> the function that writes its line."""


Triple = tuple[str, str, str, datetime, datetime | None]
"""Subject, predicate, object, start, and the end if the item says it."""
SECOND = timedelta(seconds=1)
LONGEST_FACE = 60
"""Characters of a name of a face; a longer one is a text that LifeBench's generator left there."""


def facts(folder: Path) -> list[dict[str, Any]]:
    """Return the facts of a user's phone as arguments of `facts.add`; each cites its item.

    A fact without an end lasts a second. Items without a time or a name, of which there are some,
    have no facts.
    """
    owner = _read(folder / "persona.json")["name"]
    found = []
    for kind, tell in FACTS.items():
        path = folder / "phone_data" / f"{kind}.json"
        for item in _read(path) if path.exists() else ():
            try:
                told = list(tell(item, owner))
            except (KeyError, ValueError):
                continue
            for subject, predicate, object, start, end in told:
                last = start + SECOND if end is None else max(end, start + timedelta.resolution)
                found.append(
                    {
                        "subject": subject,
                        "predicate": predicate,
                        "object": object,
                        "valid": (start, last),
                        "evidence": [f"{kind}:{item['phone_id']}"],
                    }
                )
    return found


def _name(item: Item, field: str) -> str:
    """Return a name in one line. Raises `KeyError` if it is empty."""
    if not (name := " ".join(str(item[field]).split())):
        raise KeyError(field)
    return name


def _moment(item: Item, field: str = "datetime") -> datetime:
    return datetime.fromisoformat(item[field]).replace(tzinfo=UTC)


def _message_facts(item: Item, owner: str) -> Iterator[Triple]:
    other = _name(item, "contactName")
    is_sent = item["message_type"].lower().startswith("sen")
    first, second = (owner, other) if is_sent else (other, owner)
    yield first, "wrote to", second, _moment(item), None


def _call_facts(item: Item, owner: str) -> Iterator[Triple]:
    other = _name(item, "contactName")
    way = str(item.get("direction", item.get("call_type"))).lower()
    is_outgoing = way in ("1", "outgoing", "dial", "dialed", "out")
    first, second = (owner, other) if is_outgoing else (other, owner)
    is_answered = (item.get("call_result") or "connected").lower().startswith("connect")
    end = _moment(item, "datetime_end") if item.get("datetime_end") else None
    yield first, "called" if is_answered else "tried to call", second, _moment(item), end


def _note_facts(item: Item, owner: str) -> Iterator[Triple]:
    yield owner, "noted", _name(item, "title"), _moment(item), None


def _calendar_facts(item: Item, owner: str) -> Iterator[Triple]:
    start, end = _moment(item, "start_time"), _moment(item, "end_time")
    yield owner, "planned", _name(item, "title"), start, end


def _photo_facts(item: Item, owner: str) -> Iterator[Triple]:
    at, place = _moment(item), item["location"] or {}
    where = " ".join((place.get("poi") or place.get("city") or "").split())
    if where:
        yield owner, "took a photo at", where, at, None
        faces = item["faceRecognition"] if isinstance(item["faceRecognition"], list) else []
        for face in dict.fromkeys(" ".join(str(face).split()) for face in faces):
            if 0 < len(face) <= LONGEST_FACE:
                yield face, "was photographed at", where, at, None


def _push_facts(item: Item, owner: str) -> Iterator[Triple]:
    yield _name(item, "source"), "notified", _name(item, "title"), _moment(item), None


FACTS: dict[str, Callable[[Item, str], Iterator[Triple]]] = {
    "sms": _message_facts,
    "call": _call_facts,
    "note": _note_facts,
    "calendar": _calendar_facts,
    "photo": _photo_facts,
    "push": _push_facts,
}
"""Kind of item -> the function that yields its facts, for the owner of that name."""
