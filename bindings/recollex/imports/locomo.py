"""The conversations of a LoCoMo file (Maharana et al., ACL 2024).

The file is a list of conversations. Each holds ``session_<n>`` lists of turns and the local time of
each session (``1:56 pm on 8 May, 2023``). A turn is named by its ``dia_id``: ``D8:6`` is the sixth
turn of session 8. LoCoMo gives no time zone and no time for a turn, so a session's time is read as
UTC and its turns are one second apart, in order.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypedDict

from recollex.api.foreign_files import parse_json, text_of
from recollex.imports.reading import Object, Reading, as_dict, as_list
from recollex_engine.errors import InputError

_SESSION = re.compile(r"session_(\d+)")


class Turn(TypedDict, total=False):
    """A turn as `Agent.retain_dialogue` takes it; ``caption`` only if a picture was shown."""

    id: str
    speaker: str
    text: str
    at: datetime
    caption: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation and its turns, in time order."""

    id: str
    turns: tuple[Turn, ...]


def load(path: str | Path) -> list[Conversation]:
    """Return the conversations of a LoCoMo file, in the file's order.

    ``path`` is the JSON file or the folder that holds ``locomo10.json``.

    Raises `InputError` when the file is not LoCoMo's JSON.
    """
    path = Path(path).resolve()
    if path.is_dir():
        path /= "locomo10.json"
    return conversations(parse_json(text_of(path), str(path)), path)


def conversations(raw: Any, path: str | Path) -> list[Conversation]:
    """Return the conversations of LoCoMo's JSON; see `load`."""
    if not isinstance(raw, list):
        raise InputError(f"{path} is not LoCoMo's JSON: a list of conversations is expected")
    return [_conversation(item, f"{path}: conversation {n}") for n, item in enumerate(raw, 1)]


def matches(content: Any) -> bool:
    """Return whether this is LoCoMo's JSON."""
    first = as_dict(as_list(content)[0]) if as_list(content) else {}
    return "conversation" in first and "sample_id" in first


def read(content: Any, reading: Reading) -> Iterator[Object]:
    """Yield the turns of all conversations, each a document; ids are ``conversation/turn``."""
    for conversation in conversations(content, "the file"):
        for turn in conversation.turns:
            own = {"id": f"{conversation.id}/{turn['id']}", "document_id": conversation.id}
            yield {**turn, **own, "at": turn["at"].isoformat()}


def session_time(written: str) -> datetime:
    """Return the time of a session, read as UTC.

    >>> session_time("1:56 pm on 8 May, 2023").isoformat()
    '2023-05-08T13:56:00+00:00'
    """
    return datetime.strptime(written.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def _conversation(item: Any, where: str) -> Conversation:
    try:
        return Conversation(str(item["sample_id"]), tuple(_turns(item["conversation"])))
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
