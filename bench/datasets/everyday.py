"""Everyday questions to small agents: no content word of a question is in its answer.

``everyday.json`` beside this file was written for recollex: twenty people's notes, letters and
chats of 5 to 50 memories, ten questions each, in the form of `bench.datasets.cases`. "I break out
in hives whenever I eat peanuts." answers "What should I avoid cooking?": a person who reads the
bank finds the memory, but no word of the keyword arm does. The other memories are of the same
person's life.
"""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.datasets.bank import Bank, Query, Split, Turn
from bench.datasets.undated import ASKED_AT

FILE = Path(__file__).with_suffix(".json")


def load(data: Path | None = None) -> list[Bank]:
    """Return the twenty banks, smallest first; every second one is for reporting only.

    ``data``, the folder of the other sets, is not read.
    """
    raw = json.loads(FILE.read_text(encoding="utf-8"))
    return [_bank(one, "report" if place % 2 else "dev") for place, one in enumerate(raw)]


def _bank(raw: dict[str, Any], split: Split) -> Bank:
    turns = tuple(map(_turn, raw["memories"]))
    said = [turn["at"] for turn in turns if "at" in turn]
    asked_at = max(said) + timedelta(days=1) if said else ASKED_AT
    queries = [
        Query(
            id=f"{raw['bank']}: {question['q']}",
            text=question["q"],
            evidence=frozenset(question["gold"]),
            category=raw["bank"],
            asked_at=asked_at,
            visible=len(turns),
            split=split,
        )
        for question in raw["questions"]
    ]
    return Bank("everyday", raw["bank"], "reader", turns, tuple(queries), "turn")


def _turn(raw: dict[str, Any]) -> Turn:
    """Return a turn; a note that belongs to no chat is a document of its own."""
    turn = Turn(id=raw["id"], text=raw["text"], document=raw.get("session", raw["id"]))
    if "speaker" in raw:
        turn["speaker"] = raw["speaker"]
        turn["at"] = datetime.fromisoformat(raw["at"]).replace(tzinfo=UTC)
    return turn
