"""What an agent has to do in the background, from `Agent.jobs`."""

from collections.abc import Sequence
from itertools import islice

from recollex.api.arguments import one_or_more
from recollex.api.extracting import read_mode
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.domain.checks import check_count, check_number
from recollex_engine.domain.question import MAX_LIMIT
from recollex_engine.errors import InputError
from recollex_mind.job_log import Mode
from recollex_mind.jobs import STATUSES, Job, jobs_of

LEFT = ("running", "waiting", "failed")


class Jobs:
    """The jobs of an agent: chunks of memories from which facts are drawn, and thoughts.

    What is left to do follows from the log, so it is the same after a crash. `Agent.extract` draws
    facts, and a store that was opened with ``extraction`` does it by itself. The opinions of a
    thought (`Agent.think`) follow by themselves. All of it waits for a language model.
    """

    def __init__(self, agent: AgentOrCut, mode: Mode | None = None) -> None:
        self._agent = agent
        self._mode = mode

    def find(
        self,
        *,
        status: str | Sequence[str] = LEFT,
        mode: str | None = None,
        limit: int = 100,
    ) -> list[Job]:
        """Return jobs: those that are left, chunks before thoughts, then those that are done.

        status: some of "running", "waiting", "failed" and "done"; those that are left, if not
        given. mode: of the chunks, "narrative", "atomic" or "episodic"; None for that of the store,
        or the one used last. limit: the most jobs.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> id = alice.retain("Ann moved to Rome.")
        >>> [(job.status, job.reason, job.turns == (id,)) for job in alice.jobs.find()]
        [('waiting', 'no language model', True)]
        """
        wanted = one_or_more(status, "status")
        if not wanted or not set(wanted) <= set(STATUSES):
            raise InputError(f"status must be some of {', '.join(STATUSES)}, got {wanted!r}")
        check_count(limit, "limit", 1, MAX_LIMIT)
        chosen = self._mode if mode is None else read_mode(mode)
        found = jobs_of(self._agent, chosen, self._agent.context.llm is not None)
        return list(islice((job for job in found if job.status in wanted), limit))

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until nothing of the agent runs in the background; return whether nothing does.

        seconds: the longest wait; None for as long as it takes. A chunk that later memories may
        join is not read yet: `Agent.extract` reads it.
        """
        if seconds is not None:
            check_number(seconds, "seconds", 0, 86_400)
        return self._agent.context.work.wait(self._agent.name, seconds)
