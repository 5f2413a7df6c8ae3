"""What is there to do in the background, what failed, what is done? Read from the log.

A job is a chunk of memories from which facts are drawn, or a thought from whose answer opinions are
formed. Nothing keeps a list of jobs: those that are left follow from the memories and from the
operations `extract`, `think` and `form`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from recollex_engine.agents.agent import Agent
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import from_micros
from recollex_engine.domain.schema import NONE, PLACEHOLDER
from recollex_engine.state.view import View
from recollex_mind.chunks import Chunk, chunks_of
from recollex_mind.job_log import (
    PROMPT,
    PROMPTS,
    Extracted,
    Mode,
    ThoughtJob,
    Work,
    extractions,
    thought_jobs,
    work_of,
)

JobStatus = Literal["running", "waiting", "failed", "done"]
STATUSES: tuple[JobStatus, ...] = ("running", "waiting", "failed", "done")
MOST_ATTEMPTS = 3
"""Attempts after which a job is done again only if somebody asks for it."""
NO_MODEL = "no language model"
"""Why a job waits in a store without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One chunk of memories, from which facts are drawn, or one thought, from which opinions are.

    status: "waiting" to be read; "running" in this process; "failed": the language model did not
    answer, as ``reason`` says, and will be asked again; "done". reason: also of a job that waits in
    a store without a language model: "no language model". complete: whether no later memory can
    join a chunk that waits. turns: ids of the memories: of those that were shown, for a thought.
    document_id: theirs. prompt: the prompt's name, "opinions-1" for a thought. model: that was
    asked, None if none was. attempts: failures so far. facts: ids of the facts, or of the opinions,
    that were recorded. tried_at: when it was last tried or done; None if it was not.
    """

    id: str
    status: JobStatus
    turns: tuple[str, ...]
    document_id: str | None
    prompt: str
    model: str | None = None
    complete: bool = True
    reason: str | None = None
    attempts: int = 0
    facts: tuple[str, ...] = ()
    tried_at: datetime | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the job as JSON values, times in ISO 8601."""
        return {
            "id": self.id,
            "status": self.status,
            "turns": list(self.turns),
            "document_id": self.document_id,
            "prompt": self.prompt,
            "model": self.model,
            "complete": self.complete,
            "reason": self.reason,
            "attempts": self.attempts,
            "facts": list(self.facts),
            "tried_at": self.tried_at.isoformat() if self.tried_at else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What a run of `Agent.extract` did.

    chunks: that were read. turns: number of the memories in them. facts: ids of the memories that
    were recorded as facts. relations: how often a new fact is the same as a known one, refines,
    supersedes or contradicts one. left_out: why facts of the model were not kept, and how many.
    failed: why the model gave nothing, and for how many chunks, which wait.
    """

    chunks: int = 0
    turns: int = 0
    facts: tuple[str, ...] = ()
    relations: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    failed: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON values."""
        return {
            "chunks": self.chunks,
            "turns": self.turns,
            "facts": list(self.facts),
            "relations": dict(self.relations),
            "left_out": dict(self.left_out),
            "failed": dict(self.failed),
        }


def jobs_of(agent: AgentOrCut, mode: Mode | None, asks: bool) -> Iterator[Job]:
    """Yield the jobs of an agent: those that are left, then the done; chunks before thoughts.

    Chunks that are left are in the order of their turns, all others in that of the log.
    mode: None for the one that was used. asks: whether there is a model to ask.

    Cost: 1 us for a memory from which nothing was drawn.
    """
    view = agent.view()
    if view is None:
        return
    entries = extractions(agent, view)
    used = [each for entry in entries for each in PROMPTS if entry.mode == each]
    chosen: Mode = mode or (used[-1] if used else "narrative")
    lacking = None if asks else NO_MODEL
    work = work_of(agent) if isinstance(agent, Agent) else Work()
    for chunk in chunks_of(view, entries, PROMPTS[chosen], agent.clock()):
        yield _left(view, chunk, PROMPTS[chosen], work.chunk, lacking)
    thoughts = thought_jobs(agent, view)
    for thought in thoughts:
        if thought.done is None:
            yield _of_thought(view, thought, work, lacking)
    for each in entries:
        if each.failed is None:
            yield _done(view, each)
    for thought in thoughts:
        if thought.done is not None:
            yield _of_thought(view, thought, work)


def _left(view: View, chunk: Chunk, prompt: str, running: str | None, lacking: str | None) -> Job:
    id = chunk.id(view.columns)
    failed = chunk.failed
    status: JobStatus = "running" if id == running else "waiting" if failed is None else "failed"
    return Job(
        id=id,
        status=status,
        turns=_ids(view, chunk.turns),
        document_id=_document(view, chunk.turns),
        prompt=prompt,
        model=None if failed is None else failed.model,
        complete=chunk.complete,
        reason=lacking if failed is None else failed.failed,
        attempts=chunk.attempts,
        tried_at=None if failed is None else from_micros(failed.recorded_at),
    )


def _done(view: View, entry: Extracted) -> Job:
    return Job(
        id=Chunk(entry.turns).id(view.columns),
        status="done",
        turns=_ids(view, entry.turns),
        document_id=_document(view, entry.turns),
        prompt=entry.prompt,
        model=entry.model,
        facts=_ids(view, entry.facts),
        tried_at=from_micros(entry.recorded_at),
    )


def _of_thought(view: View, thought: ThoughtJob, work: Work, lacking: str | None = None) -> Job:
    id = thought.thinking.thought
    failures = thought.failures
    last = thought.done or (failures[-1] if failures else None)
    status: JobStatus = "failed" if failures else "waiting"
    if thought.done is not None:
        status = "done"
    elif work.thoughts.get(id):
        status = "running"
    return Job(
        id=id,
        status=status,
        turns=_ids(view, thought.thinking.shown),
        document_id=None,
        prompt=PROMPT if last is None else last.prompt,
        model=None if last is None else last.model,
        reason=lacking if last is None else last.failed,
        attempts=len(failures),
        facts=() if thought.done is None else _ids(view, thought.done.opinions),
        tried_at=None if last is None else from_micros(last.recorded_at),
    )


def _ids(view: View, memories: tuple[int, ...]) -> tuple[str, ...]:
    keys = view.columns.array("id")[list(memories)].tolist()
    ids = view.columns.dictionary["ids"].strings(keys)
    return tuple(id for id in ids if not id.startswith(PLACEHOLDER))  # without the erased ones


def _document(view: View, memories: tuple[int, ...]) -> str | None:
    label = int(view.of_memories("document")[memories[0]])
    return None if label == NONE else view.columns.label(label)
