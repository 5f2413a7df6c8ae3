"""Conversations of the LoCoMo benchmark (Maharana et al., ACL 2024), read from its JSON.

The file is a list of conversations. Each holds ``session_<n>`` lists of turns, the local time of
each session (``1:56 pm on 8 May, 2023``) and questions whose ``evidence`` names turns by their
``dia_id`` (``D8:6`` is the sixth turn of session 8). LoCoMo gives no time zone and no time for a
turn, so a session's time is read as UTC and its turns are one second apart, in order.
"""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypedDict

from recollex_engine.errors import InputError

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""LoCoMo's numbers for the kinds of question."""

_SESSION = re.compile(r"session_(\d+)")
_TURN_ID = re.compile(r"D:?(\d+):(\d+)(?:\s*-\s*(?:D?(\d+):)?(\d+))?")


class Turn(TypedDict, total=False):
    """A turn as `Agent.retain_dialogue` takes it; ``caption`` only where a picture was shown."""

    id: str
    speaker: str
    text: str
    at: datetime
    caption: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question, what LoCoMo answers, and the ids of the turns that prove it."""

    text: str
    answer: str
    category: int
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation: its turns in time order and the questions that have evidence."""

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def load(path: str | Path) -> list[Conversation]:
    """Return the conversations of a LoCoMo file, in the file's order.

    ``path`` is the JSON file or the folder that holds ``locomo10.json``. Questions without
    evidence, and evidence that names no turn of its conversation, are left out.

    Raises `InputError` when the file is not LoCoMo's JSON.
    """
    path = Path(path)
    if path.is_dir():
        path /= "locomo10.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from error
    if not isinstance(raw, list):
        raise InputError(f"{path} is not LoCoMo's JSON: a list of conversations is expected")
    return [_conversation(item, f"{path}: conversation {n}") for n, item in enumerate(raw, 1)]


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


def session_time(written: str) -> datetime:
    """Return the time of a session, read as UTC.

    >>> session_time("1:56 pm on 8 May, 2023").isoformat()
    '2023-05-08T13:56:00+00:00'
    """
    return datetime.strptime(written.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def _conversation(item: Any, where: str) -> Conversation:
    try:
        turns = _turns(item["conversation"])
        known = {turn["id"] for turn in turns}
        questions = []
        for raw in item["qa"]:
            evidence = tuple(id for id in evidence_ids(raw.get("evidence", [])) if id in known)
            if evidence:
                answer = raw.get("answer", raw.get("adversarial_answer", ""))
                text, category = str(raw["question"]), int(raw["category"])
                questions.append(Question(text, str(answer), category, evidence))
        return Conversation(str(item["sample_id"]), tuple(turns), tuple(questions))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{where} is not as LoCoMo writes it: {error!r}") from error


def _turns(sessions: dict[str, Any]) -> list[Turn]:
    """Return the turns of every session that was held, in session order."""
    turns: list[Turn] = []
    numbers = sorted(int(m[1]) for key in sessions if (m := _SESSION.fullmatch(key)))
    for number in numbers:
        start = session_time(sessions[f"session_{number}_date_time"])
        for second, raw in enumerate(sessions[f"session_{number}"]):
            turn = Turn(
                id=raw["dia_id"],
                speaker=raw["speaker"],
                text=raw["text"],
                at=start + timedelta(seconds=second),
            )
            if raw.get("blip_caption"):
                turn["caption"] = raw["blip_caption"]
            turns.append(turn)
    return turns
