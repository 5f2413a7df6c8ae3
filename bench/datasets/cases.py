"""Sixteen sets in one form: conversations and texts that no weight was first fitted on.

Each file ``cases/NAME.jsonl.gz`` holds a bank a line::

    {"bank": str, "memories": [{"id", "text", "at", "speaker", "session"}],
     "questions": [{"q", "gold": [ids], "type", ...}]}

Memories stand in the order in which they were said; ``at`` is ISO without a zone, or null. A
question may say that the bank has no answer (``none``), how many memories had been said before it
(``before``), when it is asked (``now``), which ids say the overtaken thing (``stale``), and which
ids each part of the answer needs (``groups``). Their sources are listed in bench/README.md; SHA-256
of each file in ``SHA256SUMS``.
"""

import gzip
import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.datasets.bank import Bank, Query, Split, Turn, halves
from bench.datasets.undated import ASKED_AT

NAMES = (
    *("assistant_chats", "meetings", "household", "phone_zh", "office", "documents_through_chat"),
    *("updates", "trajectories", "diary_zh", "diary_en"),
    *("passages_de", "passages_es", "passages_zh", "passages_ar", "passages_ru"),
    "passages_en_asked_in_de",
)
"""The names of the sets, which are those of their files."""

_WRITTEN = "document"
"""The speaker of a passage, which was written and not said."""


def load(data: Path, name: str) -> list[Bank]:
    """Return the banks of one set, in the file's order.

    The first half of the banks is development; of a set with a single bank, the first half of its
    questions.
    """
    with gzip.open(data / "cases" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        raw = [json.loads(line) for line in file]
    split_of = halves(len(raw))
    return [
        _bank(name, one, halves(len(one["questions"])) if len(raw) == 1 else [split])
        for one, split in zip(raw, split_of, strict=True)
    ]


def _bank(name: str, raw: dict[str, Any], splits: list[Split]) -> Bank:
    memories, questions = raw["memories"], raw["questions"]
    empty = [memory["id"] for memory in memories if not memory["text"].strip()]
    turns = tuple(_turn(memory) for memory in memories if memory["text"].strip())
    known = {turn["id"] for turn in turns}
    queries, foreign = [], 0
    for number, question in enumerate(questions):
        evidence = frozenset(question["gold"])
        foreign += len(evidence - known)
        visible = question.get("before", len(turns))
        queries.append(
            Query(
                id=f"{raw['bank']}:{number}",
                text=question["q"],
                evidence=frozenset() if question.get("none") else evidence & known,
                category=question["type"],
                asked_at=_asked_at(question, turns[:visible]),
                visible=visible,
                split=splits[number % len(splits)],
                answerable=not question.get("none"),
            )
        )
    queries.sort(key=lambda query: query.visible)
    assert all(a.visible <= b.visible for a, b in pairwise(queries))
    notes = {"empty texts left out": len(empty), "evidence that is not in the bank": foreign}
    notes = {note: count for note, count in notes.items() if count}
    return Bank(name, raw["bank"], "reader", turns, tuple(queries), "turn", notes)


def _turn(memory: dict[str, Any]) -> Turn:
    turn = Turn(id=memory["id"], text=memory["text"], document=memory["session"])
    if memory["at"]:
        turn["at"] = datetime.fromisoformat(memory["at"]).replace(tzinfo=UTC)
    if memory["speaker"] and memory["speaker"] != _WRITTEN:
        turn["speaker"] = memory["speaker"]
    return turn


def _asked_at(question: dict[str, Any], turns: tuple[Turn, ...]) -> datetime:
    """Return when a question is asked: as it says, else a day after the last turn before it."""
    if "now" in question:
        now = question["now"]
        year, month = int(now[:4]), int(now[5:7])
        if len(now) > 7:
            return datetime.fromisoformat(now).replace(tzinfo=UTC)
        return datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)  # a month has ended
    said = [turn["at"] for turn in turns if "at" in turn]
    return max(said) + timedelta(days=1) if said else ASKED_AT
