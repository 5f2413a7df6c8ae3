"""REALTALK (Lee et al., 2025): ten chats of two people over three weeks, evidence by turn.

The published schema: a file ``Chat_<number>_<one>_<other>.json`` for each chat, an object with
lists ``session_<number>`` of messages and a list ``qa``. A message has ``speaker``, ``clean_text``,
``date_time`` ("29.12.2023, 00:51:12", read as UTC), ``dia_id`` ("D1:4") and, if it shows a picture,
``blip_caption``. A question has ``question``, ``answer``, ``evidence`` (ids, written as LoCoMo's)
and ``category``. A chat is a bank, each session a document; questions are asked when it has ended.

From github.com/danny911kr/REALTALK, folder ``data``. The files were not available, so there is no
checksum and no run yet.
"""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.datasets.bank import Bank, Query, Split, Turn, halves
from bench.datasets.locomo import evidence_ids

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "commonsense"}
"""REALTALK's numbers for the kinds of question."""

_FILE = re.compile(r"Chat_(\d+)_.*\.json")
_TEXTS = ("clean_text", "blip_caption")
_SESSION = re.compile(r"session_(\d+)")


def load(data: Path) -> list[Bank]:
    """Return one bank for each chat, in the order of their numbers."""
    folder = data / "realtalk"
    paths = {
        int(found[1]): path
        for path in (folder.iterdir() if folder.is_dir() else ())
        if (found := _FILE.fullmatch(path.name))
    }
    if not paths:
        raise FileNotFoundError(f"none of Chat_1_*.json, Chat_2_*.json in {folder}")
    chats = [(f"chat-{number}", path) for number, path in sorted(paths.items())]
    return [
        _bank(name, json.loads(path.read_text(encoding="utf-8")), split)
        for (name, path), split in zip(chats, halves(len(chats)), strict=True)
    ]


def _bank(name: str, chat: dict[str, Any], split: Split) -> Bank:
    sessions = {int(found[1]): key for key in chat if (found := _SESSION.fullmatch(key))}
    notes = {"messages without text": 0, "without evidence": 0, "evidence naming no turn": 0}
    turns: list[Turn] = []
    for number, key in sorted(sessions.items()):
        for said in chat[key]:
            text, caption = (" ".join(str(said.get(each) or "").split()) for each in _TEXTS)
            if not text and not caption:
                notes["messages without text"] += 1
                continue
            turn = Turn(
                id=evidence_ids([said["dia_id"]])[0],
                text=text or "(a picture)",
                document=f"D{number}",
                at=datetime.strptime(said["date_time"], "%d.%m.%Y, %H:%M:%S").replace(tzinfo=UTC),
                speaker=str(said["speaker"]),
            )
            if caption:
                turn["caption"] = caption
            turns.append(turn)
    known = {turn["id"] for turn in turns}
    asked_at = max(turn["at"] for turn in turns) + timedelta(minutes=1)
    queries = []
    for place, asked in enumerate(chat.get("qa", ())):
        named = evidence_ids(asked.get("evidence") or [])
        evidence = frozenset(named) & known
        notes["evidence naming no turn"] += len(named) - len(evidence)
        notes["without evidence"] += not evidence
        queries.append(
            Query(
                f"{name}/{place}",
                str(asked["question"]),
                evidence,
                CATEGORIES[int(asked["category"])],
                asked_at,
                len(turns),
                split,
                answers=(str(asked["answer"]),),
            )
        )
    agent = " and ".join(dict.fromkeys(turn["speaker"] for turn in turns))
    return Bank("realtalk", name, agent, tuple(turns), tuple(queries), "turn", notes)
