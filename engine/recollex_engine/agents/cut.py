"""What did the agent know then? The agent as of a recorded time, for reading alone."""

from dataclasses import replace

from recollex_engine.agents.agent import Agent
from recollex_engine.clock import from_micros
from recollex_engine.domain.question import Question
from recollex_engine.errors import InputError, ReadOnlyError
from recollex_engine.ranking.presets import Preset
from recollex_engine.recall.recall import Recall
from recollex_engine.state.replica import Replica
from recollex_engine.state.view import View


class Cut(Agent):
    """An agent as the operations recorded by one moment left it.

    Invariant: what it answers does not depend on anything recorded later. A recall equals, bit for
    bit, one with ``exact=True`` and ``now`` at the moment on a store rebuilt from the log up to it.

    Threads: any number. It needs its agent open.
    """

    def __init__(self, agent: Agent, op: int, recorded_at: int) -> None:
        vars(self).update(vars(agent))  # its name, folder, analyzers, token counter
        self.recorded_at = recorded_at
        self._agent = agent
        self._op = op

    @classmethod
    def at(cls, agent: Agent, recorded_at: int) -> "Cut":
        """Return ``agent`` as of ``recorded_at``, in microseconds: all that was recorded by then.

        Raises `InputError` for a moment that is still to come. Beside a writer in this process the
        cut waits for what has been given an earlier time and is being recorded; of a writer in
        another process it sees what was published. Cost: a bisection.
        """
        return cls(agent, agent.op_at(recorded_at), recorded_at)

    def op_at(self, recorded_at: int) -> int:
        """Return the operation of an earlier cut; a later one is refused."""
        if recorded_at > self.recorded_at:
            raise InputError(
                f"as_recorded must not be later than {from_micros(self.recorded_at)}, of which "
                f"this cut of agent {self.name!r} is, got {from_micros(recorded_at)}: ask the "
                "agent itself"
            )
        return min(self._op, self._agent.op_at(recorded_at))

    def view(self, op: int | None = None) -> View | None:
        """Return what was visible; None before the first operation."""
        self._agent._check_open()
        at = self._op if op is None else min(op, self._op)
        return self._agent.view(at) if at else None

    def replica(self) -> Replica:
        """Return the state behind `view`."""
        return self._agent.replica()

    def recall(self, question: Question, preset: Preset, explain: bool = False) -> Recall:
        """Return what bore on ``question``; vectors are scanned exactly, ``now`` is the moment."""
        now = self.recorded_at if question.now is None else question.now
        return super().recall(replace(question, now=now, exact=True), preset, explain)

    def close(self) -> None:
        """Do nothing: there is nothing of its own to close."""

    def _check_open(self) -> None:
        self._agent._check_open()

    def _check_writable(self) -> None:
        self._check_open()
        raise ReadOnlyError(
            f"this is agent {self.name!r} as of {from_micros(self.recorded_at)}, and the past "
            "cannot be changed: write to the agent itself"
        )
