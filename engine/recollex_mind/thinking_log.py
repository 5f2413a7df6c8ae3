"""Which opinions are still to be formed? Read from the log, and from nothing else.

An operation `think` is recorded before an answer is returned, with the question and the answer. The
opinions that the answer expresses and an operation `form` are one transaction. So after a crash the
log has both or neither, and a thought without a `form` that succeeded is still to be done.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.domain.records import FormRecord, ThinkRecord
from recollex_engine.domain.schema import FORM, HOLE, THINK
from recollex_engine.log.reader import LogFollower, LogOperation, position_before_op
from recollex_engine.state.replica import LOG
from recollex_engine.state.view import View
from recollex_mind.followed_kinds import FollowedKinds

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


def _read(operation: LogOperation, payload: dict[str, Any]) -> Thinking | Formed:
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


_THOUGHTS: FollowedKinds[Thinking | Formed] = FollowedKinds((THINK, FORM), _read)


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
