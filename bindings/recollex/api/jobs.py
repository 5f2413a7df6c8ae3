"""What an agent has to do in the background, from `Agent.jobs`."""

from collections.abc import Sequence
from itertools import islice
from typing import get_args

from recollex.api.arguments import checked_id, checked_note, one_or_more
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.domain.checks import (
    MAX_NAME,
    check_count,
    check_flag,
    check_number,
    check_text,
)
from recollex_engine.domain.question import MAX_LIMIT
from recollex_engine.errors import InputError
from recollex_mind.job_log import Mode
from recollex_mind.jobs import STATUSES, Extraction, Job, jobs_of

# How do facts get drawn from what was retained? Asked for, chunk by chunk.
DEFAULT_MODE: Mode = "narrative"


class Extracting:
    """The methods of `Agent` that draw facts from memories."""

    engine: AgentOrCut
    _extraction_mode: Mode | None

    def extract(
        self,
        *,
        mode: str | None = None,
        document_id: str | Sequence[str] | None = None,
        again: bool = False,
    ) -> Extraction:
        """Draw facts from what was retained and not yet read; return what was done (TEMPR 2.2).

        The store's language model (`recollex.open`) reads the memories in chunks of up to 20. Each
        fact is a memory of its own, which names the turns that it rests on in its metadata
        ("evidence"); the turns stay as they are. New facts are compared with known ones, see
        `undo_comparison`. Each chunk is one transaction with an operation `extract` in the log, so
        a call that is interrupted is continued by the next one. A chunk for which the model fails
        waits, with a warning, and a later call asks again.

        mode: "narrative", 2 to 5 comprehensive facts a chunk; "atomic", single sentences (Memora
        2.2); "episodic", gists and triples of `Agent.facts` (REMem 3.1), which are compared with
        nothing; None for that of the store, or narrative. document_id: of the talks to read; None
        for all. again: also read what an earlier version of the prompt has read.

        Raises `errors.InputError`, also in a store without a language model, and
        `errors.LanguageModelError` if it is cancelled.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> ids = alice.retain_dialogue([
        ...     {"speaker": "Ann", "text": "I moved to Rome.", "at": "2024-05-04T10:00:00Z"},
        ... ], document_id="call-1")
        >>> alice.extract()
        Traceback (most recent call last):
            ...
        recollex_engine.errors.InputError: drawing facts from talk needs a language model, \
and this store has none: recollex.open(..., llm=recollex.llm(...))
        """
        from recollex_mind.extraction import Wanted, extract

        chosen = read_mode(mode, self._extraction_mode)
        documents = None
        if document_id is not None:
            given = one_or_more(document_id, "document_id")
            for each in given:
                check_text(each, "document_id", MAX_NAME)
            documents = frozenset(given)
        check_flag(again, "again")
        agent = self.engine.writable()
        agent.files.check_writable()
        return extract(agent, Wanted(chosen, documents, again))

    def undo_comparison(self, id: str, *, by: str | None = None, why: str | None = None) -> None:
        """Take back what the comparison of a new fact with known ones has done.

        id: of the new fact. What it archived, or ended, is as before; a fact that was archived as
        the same as a known one is recalled again. The relations stay in its metadata, marked as
        undone. by, why: who does it and for which reason, for the log.

        Raises `errors.UnknownIdError`, and `errors.InputError` if there is nothing to undo or a
        known fact was changed since; then nothing is changed.
        """
        from recollex_mind.fact_recording import undoing

        note = checked_note(by, why)
        agent = self.engine.writable()
        operations = undoing(agent, checked_id(id))
        agent.transact(operations, [note] * len(operations))


def read_mode(given: object, usual: Mode | None = None) -> Mode:
    """Return a mode of extraction; ``usual`` if None is given. Raises `InputError`."""
    if given is None:
        return usual or DEFAULT_MODE
    for mode in get_args(Mode):
        if given == mode:
            found: Mode = mode
            return found
    raise InputError(f"mode must be one of {', '.join(get_args(Mode))}, got {given!r}")


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
