"""LoCoMo (Maharana et al., ACL 2024): ten long conversations, evidence by turn.

A conversation is a bank, and each of its sessions is a document. Questions are asked when it has
ended. Category 5 ("adversarial") names the wrong person: it has evidence, but no answer. A
question's ``evidence`` names turns by their ``dia_id``: ``D8:6`` is the sixth turn of session 8.
LoCoMo gives no time zone and no time for a turn, so the time of a session is read as UTC, and its
turns are one second apart, in order.

From github.com/snap-research/locomo, ``data/locomo10.json``; SHA-256
79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4.
"""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.datasets.bank import Bank, Query, Turn

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""LoCoMo's numbers for the kinds of question."""

DEVELOPMENT = 5  # conversations, the first ones

_SESSION = re.compile(r"session_(\d+)")
_TURN_ID = re.compile(r"D:?(\d+):(\d+)(?:\s*-\s*(?:D?(\d+):)?(\d+))?")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, what LoCoMo answers, and the ids of the turns that prove it."""

    text: str
    answer: str
    category: int
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation and its questions that have evidence.

    turns: in time order, each as `Agent.retain_dialogue` takes it.
    """

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Observation:
    """A fact that an LLM drew from a session, and the turns it was drawn from."""

    id: str
    session: str
    speaker: str
    text: str
    turns: tuple[str, ...]

    @property
    def triple(self) -> tuple[str, str, str]:
        """Subject, predicate and object: "Ann", "paints", "in her free time"."""
        said = self.text.removeprefix(f"{self.speaker} ")
        if said == self.text or " " not in said:
            return self.speaker, "observation", self.text
        predicate, rest = said.split(" ", 1)
        return self.speaker, predicate, rest


def load(data: Path) -> list[Bank]:
    """Return one bank for each conversation, in the file's order."""
    return [_bank(item, number) for number, item in enumerate(_items(data))]


def observations(data: Path) -> dict[str, list[Observation]]:
    """Return the facts of each conversation, by its name, in session order."""
    found: dict[str, list[Observation]] = {}
    for item in _items(data):
        facts = found.setdefault(str(item["sample_id"]), [])
        sessions = {int(name.split("_")[1]): said for name, said in item["observation"].items()}
        for number in sorted(sessions):
            for speaker, stated in sessions[number].items():
                for text, written in stated:
                    turns = evidence_ids([written] if isinstance(written, str) else written)
                    id = f"fact-{len(facts)}"
                    facts.append(Observation(id, f"D{number}", speaker, text, turns))
    return found


def conversations(data: Path) -> list[Conversation]:
    """Return the conversations, in the file's order.

    Questions without evidence, and evidence that names no turn of its conversation, are left out.
    """
    found = []
    for item in _items(data):
        turns = tuple(_turns(item["conversation"]))
        known = {turn["id"] for turn in turns}
        found.append(Conversation(item["sample_id"], turns, _questions(known, item["qa"])))
    return found


def _turns(sessions: dict[str, Any]) -> list[Turn]:
    """Return the turns of every session that was held, in session order."""
    turns: list[Turn] = []
    numbers = sorted(int(match[1]) for name in sessions if (match := _SESSION.fullmatch(name)))
    for number in numbers:
        written = sessions[f"session_{number}_date_time"].strip()
        start = datetime.strptime(written, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for second, said in enumerate(sessions[f"session_{number}"]):
            turn = Turn(
                id=said["dia_id"],
                speaker=said["speaker"],
                text=said["text"],
                at=start + timedelta(seconds=second),
            )
            if said.get("blip_caption"):
                turn["caption"] = said["blip_caption"]
            turns.append(turn)
    return turns


def _questions(known: set[str], asked: list[dict[str, Any]]) -> tuple[Question, ...]:
    """Return the questions with evidence; ``known``: the ids of the turns."""
    questions = []
    for raw in asked:
        evidence = tuple(id for id in evidence_ids(raw.get("evidence", [])) if id in known)
        if evidence:
            answer = raw.get("answer", raw.get("adversarial_answer", ""))
            text, category = str(raw["question"]), int(raw["category"])
            questions.append(Question(text, str(answer), category, evidence))
    return tuple(questions)


def evidence_ids(written: list[str]) -> tuple[str, ...]:
    """Return the turn ids named in a question's evidence, each once, in order.

    Most entries are one id. Some hold several (``D8:6; D9:17``), a stray colon (``D:11:26``), a
    leading zero (``D30:05``), a range (``D1:3-5``) or nothing that can be read (``D``).

    >>> evidence_ids(["D8:6; D9:17", "D:11:26", "D30:05", "D", "D1:3-5"])
    ('D8:6', 'D9:17', 'D11:26', 'D30:5', 'D1:3', 'D1:4', 'D1:5')
    """
    ids: dict[str, None] = {}
    for entry in written:
        for session, first, until_session, last in _TURN_ID.findall(entry):
            alone = not last or (until_session and int(until_session) != int(session))
            end = int(first) if alone else int(last)
            ids.update(dict.fromkeys(f"D{int(session)}:{n}" for n in range(int(first), end + 1)))
            if last and alone:  # a range across sessions names its two ends
                ids[f"D{int(until_session)}:{int(last)}"] = None
    return tuple(ids)


def _items(data: Path) -> list[dict[str, Any]]:
    """Return the conversations as the file has them."""
    items: list[dict[str, Any]] = json.loads((data / "locomo" / "locomo10.json").read_text("utf-8"))
    return items


def _bank(item: dict[str, Any], n: int) -> Bank:
    name = item["sample_id"]
    turns = _turns(item["conversation"])
    for turn in turns:
        turn["document"] = turn["id"].split(":")[0]
    known = {turn["id"] for turn in turns}
    asked_at = turns[-1]["at"] + timedelta(minutes=1)
    queries, notes = [], {"without evidence": 0, "evidence naming no turn": 0}
    for place, question in enumerate(item["qa"]):
        named = evidence_ids(question.get("evidence", []))
        evidence = frozenset(named) & known
        notes["evidence naming no turn"] += len(named) - len(evidence)
        notes["without evidence"] += not evidence
        number = int(str(question["category"]))
        queries.append(
            Query(
                f"{name}/{place}",
                str(question["question"]),
                evidence,
                CATEGORIES[number],
                asked_at,
                len(turns),
                "dev" if n < DEVELOPMENT else "report",
                answerable=number != 5,
                answers=() if number == 5 else (str(question.get("answer", "")),),
            )
        )
    agent = " and ".join(dict.fromkeys(turn["speaker"] for turn in turns))
    return Bank("locomo", name, agent, tuple(turns), tuple(queries), "turn", notes)
