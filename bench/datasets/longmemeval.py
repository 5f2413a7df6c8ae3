"""LongMemEval (Wu et al., ICLR 2025): a question and its haystack of chat sessions.

The published schema: a list of items with ``question_id``, ``question_type``, ``question``,
``question_date``, ``answer``, ``haystack_session_ids``, ``haystack_dates``,
``haystack_sessions`` (lists of turns with ``role``, ``content`` and, in sessions that hold
evidence, ``has_answer``) and ``answer_session_ids``. Each question is a bank, each session is a
document, and evidence is documents. Turns of a session are 20 seconds apart. Abstention questions
(``_abs`` in their id) are not answerable.

From github.com/xiaowu0162/LongMemEval, ``longmemeval_s_cleaned.json``, or ``longmemeval_m`` with
about 500 sessions a question instead of 40. The files were not available, so there is no checksum
and no run yet.
"""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.datasets.bank import Bank, Query, Split, Turn, halves

SIZES = ("s", "m")
FILES = (
    *(f"longmemeval_{size}{ending}" for size in SIZES for ending in ("_cleaned.json", ".json", "")),
    "longmemeval.json",
)
"""The names of the file, in the order in which they are looked for: S before M."""
BETWEEN_TURNS = timedelta(seconds=20)


def load(data: Path) -> list[Bank]:
    """Return one bank for each question, in the file's order."""
    path = find(data)
    if path is None:
        raise FileNotFoundError(f"none of {', '.join(FILES)} in {data / 'longmemeval'}")
    items = json.loads(path.read_text(encoding="utf-8"))
    return [_bank(item, split) for item, split in zip(items, halves(len(items)), strict=True)]


def find(data: Path) -> Path | None:
    """Return the path of the file, or None if there is none."""
    paths = (data / "longmemeval" / name for name in FILES)
    return next((path for path in paths if path.is_file()), None)


def moment(written: str) -> datetime:
    """Return a date of LongMemEval, read as UTC.

    >>> moment("2023/05/20 (Sat) 02:21").isoformat()
    '2023-05-20T02:21:00+00:00'
    """
    day, _, time = written.split()
    return datetime.strptime(f"{day} {time}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


def _bank(item: dict[str, Any], split: Split) -> Bank:
    sessions = sorted(
        zip(
            map(moment, item["haystack_dates"]),
            item["haystack_session_ids"],
            item["haystack_sessions"],
            strict=True,
        ),
        key=lambda session: session[0],
    )
    turns: list[Turn] = []
    notes = {"empty turns": 0, "sessions there twice": 0}
    documents: set[str] = set()
    for start, document, said in sessions:
        if document in documents:
            notes["sessions there twice"] += 1
            continue
        documents.add(document)
        for place, raw in enumerate(said):
            if not raw["content"].strip():
                notes["empty turns"] += 1
                continue
            turns.append(
                Turn(
                    id=f"{document}:{place}",
                    text=raw["content"],
                    document=document,
                    at=start + BETWEEN_TURNS * place,
                    speaker=raw["role"].capitalize(),
                )
            )
    query = Query(
        item["question_id"],
        item["question"],
        frozenset(item["answer_session_ids"]) & documents,
        item["question_type"],
        moment(item["question_date"]),
        len(turns),
        split,
        answerable="_abs" not in item["question_id"],
        answers=(str(item["answer"]),) if "answer" in item else (),
    )
    return Bank(
        "longmemeval", item["question_id"], "user", tuple(turns), (query,), "document", notes
    )
