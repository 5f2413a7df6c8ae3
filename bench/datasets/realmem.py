"""RealMem: a persona's sessions with an assistant, evidence by session.

A session is a document, and evidence is documents. A query is a turn of the dialogue: it sees the
turns before it and no later ones, and is itself remembered after it was answered. The answering
turn names the evidence (``memory_session_uuids``). The files give only days, so sessions of one day
begin 20 minutes apart from 09:00, and turns are 20 seconds apart. A few sessions are not in the
order of their days; they are recorded in the file's order nevertheless.

From github.com/AvatarMemory/RealMemBench, ``dataset/``; SHA-256 of each file in ``SHA256SUMS``.
"""

import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.datasets.bank import Bank, Query, Split, Turn

DEVELOPMENT = 2  # personas, in alphabetical order
MORNING = timedelta(hours=9)
BETWEEN_SESSIONS = timedelta(minutes=20)
BETWEEN_TURNS = timedelta(seconds=20)


def load(data: Path) -> list[Bank]:
    """Return one bank for each persona, in alphabetical order."""
    paths = sorted((data / "realmem").glob("*_dialogues_*.json"))
    if not paths:
        raise FileNotFoundError(f"no *_dialogues_*.json in {data / 'realmem'}")
    return [
        _bank(json.loads(path.read_text(encoding="utf-8")), "dev" if n < DEVELOPMENT else "report")
        for n, path in enumerate(paths)
    ]


def of_earlier_sessions(bank: Bank) -> Bank:
    """Return the bank with queries that see earlier sessions only, no turns of their own one."""
    first: dict[str, int] = {}
    for place, turn in enumerate(bank.turns):
        first.setdefault(turn["document"], place)
    queries = []
    for query in bank.queries:
        # The query is the first turn that it does not see; the files' empty turns are no queries.
        own = bank.turns[query.visible]["document"]
        queries.append(replace(query, visible=first[own]))
    dataset = f"{bank.dataset}, earlier sessions alone"
    return replace(bank, dataset=dataset, queries=tuple(queries))


def _bank(raw: dict[str, Any], split: Split) -> Bank:
    turns: list[Turn] = []
    queries: list[Query] = []
    notes = {"empty turns": 0, "evidence not yet said": 0}
    held: Counter[str] = Counter()
    ended: set[str] = set()
    for session in raw["dialogues"]:
        document, day = session["session_uuid"], session["current_time"]
        date = datetime.strptime(day.split()[0], "%Y-%m-%d").replace(tzinfo=UTC)
        start = date + MORNING + BETWEEN_SESSIONS * held[day]
        held[day] += 1
        said = session["dialogue_turns"]
        for place, raw_turn in enumerate(said):
            at = start + BETWEEN_TURNS * place
            if raw_turn["is_query"]:
                answer = said[place + 1] if place + 1 < len(said) else {}
                named = frozenset(answer.get("memory_session_uuids") or ())
                notes["evidence not yet said"] += len(named - ended)
                queries.append(
                    Query(
                        raw_turn["query_id"],
                        raw_turn["content"],
                        named & ended,
                        raw_turn["category_name"],
                        at,
                        len(turns),
                        split,
                        talk=document,
                    )
                )
            if not raw_turn["content"]:
                notes["empty turns"] += 1
                continue
            turns.append(
                Turn(
                    id=f"{document}:{place}",
                    text=raw_turn["content"],
                    document=document,
                    at=at,
                    speaker=raw_turn["speaker"],
                )
            )
        ended.add(document)
    person = raw["_metadata"]["person_name"]
    agent = person.replace("_", " ")
    return Bank("realmem", person, agent, tuple(turns), tuple(queries), "document", notes)
