"""A cut: the agent as of a recorded time, for reading alone."""

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import NoReturn, TypeAlias

from recollex_engine.agents.agent import Agent
from recollex_engine.agents.readable_agent import ReadableAgent
from recollex_engine.clock import from_micros
from recollex_engine.domain.question import Question
from recollex_engine.errors import InputError, ReadOnlyError
from recollex_engine.log.format import Head
from recollex_engine.log.reader import LogFollower
from recollex_engine.ranking.presets import Preset
from recollex_engine.recall.recall import Recall
from recollex_engine.state.accesses import Accesses
from recollex_engine.state.replica import LOG, Replica
from recollex_engine.state.view import View


class Cut(ReadableAgent):
    """An agent as of a recorded time: only the operations recorded by then exist.

    Invariant: its answers do not depend on later operations. A recall equals, bit for bit, a recall
    with ``exact=True`` and ``now`` at that time on a store rebuilt from the log up to it.

    Threads: any number. Its agent must be open.
    """

    def __init__(self, agent: ReadableAgent, op: int, recorded_at: int) -> None:
        super().__init__(agent.name, agent.folder, agent.context)
        self.recorded_at = recorded_at
        self.counting = agent.counting
        self._agent = agent
        self._op = op

    @classmethod
    def at(cls, agent: ReadableAgent, recorded_at: int) -> "Cut":
        """Return ``agent`` as of ``recorded_at``, in microseconds.

        Raises `InputError` for a time in the future. If this process has the writer, a cut waits
        for in-flight transactions with earlier timestamps; later transactions get later timestamps.
        If another process has it, the cut sees published transactions. Cost: a bisection.
        """
        return cls(agent, agent.op_at(recorded_at), recorded_at)

    def op_at(self, recorded_at: int) -> int:
        """Return the operation of an earlier cut; a later one is refused."""
        if recorded_at > self.recorded_at:
            raise InputError(
                f"as_recorded must not be later than {from_micros(self.recorded_at)}, the time of "
                f"this cut of agent {self.name!r}, got {from_micros(recorded_at)}: ask the agent "
                "itself"
            )
        return min(self._op, self._agent.op_at(recorded_at))

    def view(self, op: int | None = None) -> View | None:
        """Return the view of the cut's operation; None before the first operation."""
        self._agent.check_open()
        at = self._op if op is None else min(op, self._op)
        return self._agent.view(at) if at else None

    @property
    def is_past(self) -> bool:
        """Whether it answers as of a time, so that it compares with every vector: always."""
        return True

    @property
    def is_closed(self) -> bool:
        """Whether the agent was closed for good, or deleted, as far as is known."""
        return self._agent.is_closed

    def using(self) -> AbstractContextManager[None]:
        """Keep the files open during the body."""
        return self._agent.using()

    def replica(self) -> Replica:
        """Return the replica that `view` reads."""
        return self._agent.replica()

    def recall(self, question: Question, preset: Preset, explain: bool = False) -> Recall:
        """Return the memories for ``question``; the scan is exact, ``now`` is the cut's time."""
        now = self.recorded_at if question.now is None else question.now
        return super().recall(replace(question, now=now, exact=True), preset, explain)

    def accesses(self, id: str, before: int | None = None) -> Accesses:
        """Return how often a memory had been accessed at the cut's time."""
        return super().accesses(id, self.recorded_at + 1 if before is None else before)

    def head(self) -> Head:
        """Return what the head of the log was then. Cost: reading the log up to it."""
        view = self.view()
        follower = LogFollower(self.folder / LOG, verify=True)
        try:
            for _ in follower.read_records(0 if view is None else view.op):
                pass
        finally:
            follower.close()
        return Head.of(follower.position)

    def map_ahead(self, view: View) -> None:
        """Leave it to the agent: each recall as of a time has a cut of its own."""
        self._agent.map_ahead(view)

    def check_open(self) -> None:
        """Raise `ClosedError` once the agent was closed."""
        self._agent.check_open()

    def writable(self) -> NoReturn:
        """Raise `ReadOnlyError`: the past cannot be changed."""
        self.check_open()
        raise ReadOnlyError(
            f"this is agent {self.name!r} as of {from_micros(self.recorded_at)}, and the past "
            "cannot be changed: write to the agent itself"
        )


AgentOrCut: TypeAlias = Agent | Cut
"""An agent, or a cut of it: `writable` returns the agent, and raises for the cut."""
