"""From which memories were facts drawn, which opinions are to be formed? Read from the log.

From which memories were facts drawn, by which prompt? Read from the log, and from nothing else.
An operation `extract` is recorded in the transaction that records the facts of a chunk, or in one
of its own if the chunk gave none or the model failed. So after a crash the log has both or neither,
and what it does not name is still to be done. A memory that was amended counts as the one before.

Which opinions are still to be formed? Read from the log, and from nothing else.
An operation `think` is recorded before an answer is returned, with the question and the answer. The
opinions that the answer expresses and an operation `form` are one transaction. So after a crash the
log has both or neither, and a thought without a `form` that succeeded is still to be done.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from recollex_engine import fork
from recollex_engine.agents.agent import Agent
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.domain.records import ExtractRecord, FormRecord, ThinkRecord
from recollex_engine.domain.schema import ENDS, EXTRACT, FORM, HOLE, NONE, THINK
from recollex_engine.log.reader import (
    LogFollower,
    LogOperation,
    position_before,
    position_before_op,
)
from recollex_engine.state.columns import Columns
from recollex_engine.state.replica import LOG
from recollex_engine.state.view import View


class _Numbered(Protocol):
    @property
    def op(self) -> int: ...


Entry = TypeVar("Entry", bound=_Numbered)


class FollowedKinds(Generic[Entry]):
    """The operations of some kinds of every agent, each as what ``read`` makes of it.

    ``read(operation, payload)`` should keep numbers and no words: what is kept stays in memory
    when an erasure takes the words out of the log. Threads: any number.
    """

    def __init__(
        self, kinds: Sequence[str], read: Callable[[LogOperation, dict[str, Any]], Entry]
    ) -> None:
        self._kinds = tuple(kinds)
        self._read = read
        self._lock = fork.lock()
        self._held: WeakKeyDictionary[AgentOrCut, tuple[int, list[Entry]]] = WeakKeyDictionary()

    def entries(self, agent: AgentOrCut, view: View) -> list[Entry]:
        """Return what a view shows, oldest first, without what was erased before it was read.

        Cost: 4 bytes for each operation since the last call, and the log from the first new
        operation of these kinds on.
        """
        with self._lock:
            first, held = self._held.get(agent, (0, []))
            if view.op > first:
                held += self._new(agent, view, first)
                self._held[agent] = view.op, held
            return [each for each in held if each.op <= view.op]

    def _new(self, agent: AgentOrCut, view: View, first: int) -> list[Entry]:
        columns = view.columns
        labels = [columns.dictionary["labels"].get(f"k:{kind}") for kind in self._kinds]
        known = [label for label in labels if label is not None]
        if not known:
            return []
        places = np.flatnonzero(np.isin(columns.array("op_kind")[first : view.op], known)) + first
        if not len(places):
            return []
        since = int(columns.array("op_recorded_at")[int(places[0])])
        follower = LogFollower(agent.folder / LOG, position_before(agent.folder / LOG, since))
        try:
            return [
                self._read(operation, operation.payload)
                for transaction in follower.read_new(view.op)
                for operation in transaction.operations
                if operation.kind in self._kinds
                and operation.op > first
                and operation.payload
                and HOLE not in operation.payload
            ]
        finally:
            follower.close()


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


PROMPT = "opinions-1"
"""The prompt by which a model lists the opinions of an answer."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """One operation `think`; shown: ordinals of the memories, in the order of their labels."""

    op: int
    recorded_at: int
    thought: str
    shown: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Formed:
    """One operation `form`; opinions: ordinals of the memories that it records."""

    op: int
    recorded_at: int
    thought: str
    prompt: str
    model: str | None = None
    opinions: tuple[int, ...] = ()
    failed: str | None = None


@dataclass(frozen=True, slots=True)
class ThoughtJob:
    """A thought, and what came of it. done: None while its opinions are to be formed.

    failures: of the attempts so far, oldest first.
    """

    thinking: Thinking
    failures: tuple[Formed, ...] = ()
    done: Formed | None = None


def _read_thinking(operation: LogOperation, payload: dict[str, Any]) -> Thinking | Formed:
    if operation.kind == THINK:
        thought = cast(ThinkRecord, payload)
        shown = tuple(thought["shown"])
        return Thinking(operation.op, operation.recorded_at, thought["thought"], shown)
    said = cast(FormRecord, payload)
    return Formed(
        operation.op,
        operation.recorded_at,
        said["thought"],
        said["prompt"],
        said.get("model"),
        tuple(said.get("opinions", ())),
        said.get("failed"),
    )


_THOUGHTS: FollowedKinds[Thinking | Formed] = FollowedKinds((THINK, FORM), _read_thinking)


def thought_jobs(agent: AgentOrCut, view: View) -> list[ThoughtJob]:
    """Return an agent's thoughts, oldest first; without those that rest on an erased memory."""
    closed = view.of_memories("closed_by")
    op = view.of_memories("op")
    thoughts: dict[str, Thinking] = {}
    formed: dict[str, list[Formed]] = {}
    for each in _THOUGHTS.entries(agent, view):
        if isinstance(each, Formed):
            formed.setdefault(each.thought, []).append(each)
        elif not (closed[list(each.shown)] == op[list(each.shown)]).any():
            thoughts[each.thought] = each
    return [_job(thinking, formed.get(id, ())) for id, thinking in thoughts.items()]


def _job(thinking: Thinking, those: Sequence[Formed]) -> ThoughtJob:
    failures = tuple(each for each in those if each.failed is not None)
    return ThoughtJob(
        thinking, failures, next((each for each in those if each.failed is None), None)
    )


def said_of(agent: AgentOrCut, thinking: Thinking) -> dict[str, Any] | None:
    """Return the payload of an operation `think`; None if it was erased. Cost: one seek."""
    folder = agent.folder / LOG
    follower = LogFollower(folder, position_before_op(folder, thinking.op))
    try:
        for transaction in follower.read_new(thinking.op):
            for operation in transaction.operations:
                if operation.op == thinking.op:
                    said = operation.payload
                    return None if said is None or HOLE in said else said
    finally:
        follower.close()
    return None
