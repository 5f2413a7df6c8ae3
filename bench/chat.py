"""Memories of real messages: the Ubuntu IRC log, each day a document, with MiniLM's vectors.

Read from ``FOLDER/irc/messages.jsonl.gz`` (a message a line: at, speaker, text). Questions are what
later messages say, every fifth of them about last week.
"""

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import recollex
from bench.kept_stores import kept

MOST = 200_000
"""Messages that may be remembered, so that there are later ones to ask with."""
LEAST_WORDS = 4
BATCH = 2_000


@dataclass(frozen=True)
class Message:
    """One line of a chat."""

    at: datetime
    speaker: str
    text: str


def path_in(data: Path) -> Path:
    """Return where the log is, or would be, in the folder of the data sets."""
    return data / "irc" / "messages.jsonl.gz"


def messages(data: Path) -> Iterator[Message]:
    with gzip.open(path_in(data), "rt", encoding="utf-8") as lines:
        for line in lines:
            message = json.loads(line)
            if message["text"].strip():
                at = datetime.fromisoformat(message["at"])
                yield Message(at, message["speaker"], message["text"])


def retain(agent: recollex.Agent, lines: list[Message]) -> None:
    """Retain messages, the day they were said on being their document."""
    for day, said in groupby(lines, key=lambda message: message.at.date()):
        turns = [{"speaker": m.speaker, "text": m.text, "at": m.at} for m in said]
        for first in range(0, len(turns), BATCH):
            agent.retain_dialogue(turns[first : first + BATCH], document_id=day.isoformat())


def questions(lines: list[Message], now: datetime, count: int, embedder: Any) -> list[Any]:
    """Return the arguments of recalls, vectors given."""
    long = [line for line in lines if len(line.text.split()) >= LEAST_WORDS][:count]
    asked = []
    for place, line in enumerate(long):
        text = f"{line.text} last week?" if place % 5 == 4 else line.text
        vector = embedder.embed_query(text)
        asked.append({"query": text, "query_embedding": vector, "now": now})
    return asked


@contextmanager
def chat_store(
    folder: Path, data: Path, rows: int, embedder: Any, count: int
) -> Iterator[tuple[recollex.Agent, list[Message], list[Any]]]:
    """Give an agent that holds the first ``rows`` messages, these, and ``count`` questions."""
    lines = list(islice(messages(data), rows + count * 20))
    first, rest = lines[:rows], lines[rows:]
    asked = questions(rest, first[-1].at, count, embedder)
    with kept(folder, f"irc-{rows}", embedder, lambda agent: retain(agent, first)) as agent:
        yield agent, first, asked
