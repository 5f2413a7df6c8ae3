"""From which memories were facts drawn, by which prompt? Read from the log, and from nothing else.

An operation `extract` is recorded in the transaction that records the facts of a chunk, or in one
of its own if the chunk gave none or the model failed. So after a crash the log has both or neither,
and what it does not name is still to be done. A memory that was amended counts as the one before.
"""

import threading
from dataclasses import dataclass, field
from typing import Any, Literal, cast
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from recollex_engine import fork
from recollex_engine.agents.agent import Agent
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.domain.records import ExtractRecord
from recollex_engine.domain.schema import ENDS, EXTRACT, NONE
from recollex_engine.log.reader import LogOperation
from recollex_engine.state.columns import Columns
from recollex_engine.state.view import View
from recollex_mind.followed_kinds import FollowedKinds

Mode = Literal["narrative", "atomic", "episodic"]
PROMPTS: dict[Mode, str] = {
    "narrative": "narrative-1",
    "atomic": "atomic-1",
    "episodic": "episodic-1",
}
"""Mode -> the newest version of its prompt."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """One operation `extract`; turns and facts are ordinals. See `domain.memory_operations`."""

    op: int
    recorded_at: int
    turns: tuple[int, ...]
    prompt: str
    model: str | None = None
    facts: tuple[int, ...] = ()
    failed: str | None = None
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def mode(self) -> str:
        """The prompt's name without its version: "narrative", "atomic" or "episodic"."""
        return self.prompt.rpartition("-")[0]


def _read(operation: LogOperation, payload: dict[str, Any]) -> Extracted:
    said = cast(ExtractRecord, payload)
    return Extracted(
        operation.op,
        operation.recorded_at,
        tuple(said["turns"]),
        said["prompt"],
        said.get("model"),
        tuple(said.get("facts", ())),
        said.get("failed"),
        dict(said.get("left_out", {})),
    )


_EXTRACTIONS = FollowedKinds((EXTRACT,), _read)


def extractions(agent: AgentOrCut, view: View) -> list[Extracted]:
    """Return the operations `extract` that a view shows, oldest first. Threads: any number."""
    return _EXTRACTIONS.entries(agent, view)


def same_text_before(columns: Columns, memory: int) -> int | None:
    """Return the version that a memory amended, which has the same text; None if none.

    A memory that is retained again after it was forgotten amends none: its facts went with it.
    """
    before = int(columns.array("previous")[memory])
    if before == NONE or columns.text(before) != columns.text(memory):
        return None
    if columns.end_of(before, columns.op) == ENDS["forget"]:
        return None
    return before


def is_taken(columns: Columns, memory: int, taken: npt.NDArray[np.bool_]) -> bool:
    """Return whether a memory, or one that it amended, is among those that are taken."""
    at: int | None = memory
    while at is not None:
        if taken[at]:
            return True
        at = same_text_before(columns, at)
    return False


class Work:
    """What runs for an agent: a lock, and the id of the chunk that is being read.

    thoughts: those whose opinions this process has begun to form -> whether that runs. went_on:
    whether it has looked for those that an earlier process left.
    """

    def __init__(self) -> None:
        self.lock: threading.Lock = fork.lock()
        self.chunk: str | None = None
        self.thoughts: dict[str, bool] = {}
        self.went_on: bool = False


_LOCK = fork.lock()
_WORK: "WeakKeyDictionary[Agent, Work]" = WeakKeyDictionary()


def work_of(agent: Agent) -> Work:
    """Return what runs for an agent in this process."""
    with _LOCK:
        return _WORK.setdefault(agent, Work())
