"""LoCoMo (Maharana et al., ACL 2024): ten long conversations, evidence by turn.

A conversation is a bank and each of its sessions a document. Questions are asked when it has ended.
Category 5 asks the wrong person ("adversarial"): it has evidence, but no answer.
"""

import json
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from bench.datasets.bank import Bank, Query, Turn
from recollex import locomo
from recollex.locomo import CATEGORIES, evidence_ids

DEVELOPMENT = 5  # conversations, the first ones


@dataclass(frozen=True, slots=True)
class Observation:
    """A fact that an LLM drew from a session, and the turns it was drawn from."""

    id: str
    session: str
    speaker: str
    text: str
    turns: tuple[str, ...]


def load(data: Path) -> list[Bank]:
    """Return a bank a conversation, in the file's order."""
    path = _file(data)
    raw = json.loads(path.read_text(encoding="utf-8"))
    return [
        _bank(conversation, item["qa"], number)
        for number, (conversation, item) in enumerate(zip(locomo.load(path), raw, strict=True))
    ]


def observations(data: Path) -> dict[str, list[Observation]]:
    """Return the facts of each conversation, by its name, in session order."""
    found: dict[str, list[Observation]] = {}
    for item in json.loads(_file(data).read_text(encoding="utf-8")):
        facts = found.setdefault(str(item["sample_id"]), [])
        sessions = {int(name.split("_")[1]): said for name, said in item["observation"].items()}
        for number in sorted(sessions):
            for speaker, stated in sessions[number].items():
                for text, written in stated:
                    turns = evidence_ids([written] if isinstance(written, str) else written)
                    id = f"fact-{len(facts)}"
                    facts.append(Observation(id, f"D{number}", speaker, text, turns))
    return found


def _file(data: Path) -> Path:
    return data / "locomo" / "locomo10.json"


def _bank(conversation: locomo.Conversation, questions: list[dict[str, object]], n: int) -> Bank:
    turns = []
    for said in conversation.turns:
        turn = Turn(
            id=said["id"],
            text=said["text"],
            document=said["id"].split(":")[0],
            at=said["at"],
            speaker=said["speaker"],
        )
        if "caption" in said:
            turn["caption"] = said["caption"]
        turns.append(turn)
    known = {turn["id"] for turn in turns}
    asked_at = turns[-1]["at"] + timedelta(minutes=1)
    queries, notes = [], {"without evidence": 0, "evidence naming no turn": 0}
    for place, question in enumerate(questions):
        written = question.get("evidence", [])
        assert isinstance(written, list)
        named = evidence_ids(written)
        evidence = frozenset(named) & known
        notes["evidence naming no turn"] += len(named) - len(evidence)
        notes["without evidence"] += not evidence
        number = int(str(question["category"]))
        queries.append(
            Query(
                f"{conversation.id}/{place}",
                str(question["question"]),
                evidence,
                CATEGORIES[number],
                asked_at,
                len(turns),
                "dev" if n < DEVELOPMENT else "report",
                answerable=number != 5,
            )
        )
    agent = " and ".join(dict.fromkeys(turn["speaker"] for turn in turns))
    return Bank("locomo", conversation.id, agent, tuple(turns), tuple(queries), "turn", notes)
