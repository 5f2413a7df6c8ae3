"""How do facts follow what was retained? Chunk by chunk, each in one transaction with its mark.

A chunk is read by the language model; its facts are compared with known ones; then the facts, what
the comparison does, and an operation `extract` are recorded together. So a crash at any moment
leaves a chunk done or not begun, and the next run goes on: no fact is recorded twice.

If the model does not answer, the chunk waits: a warning says so, the failure is recorded, and a
later run asks the model again. If it is away (no connection, no answer in time, overloaded, a wrong
key), the rest of the run fails likewise, unasked.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from recollex_engine.agents.agent import Agent
from recollex_engine.domain.memory_operations import Extract
from recollex_engine.errors import InputError, LanguageModelError
from recollex_engine.recall.memory import Memory
from recollex_engine.state.view import View
from recollex_mind.chunks import Chunk, chunks_of
from recollex_mind.drawing import ExtractedFacts, extract_chunk
from recollex_mind.episode_drawing import extract_episode
from recollex_mind.extraction_log import PROMPTS, Mode, extractions, work_of
from recollex_mind.fact_comparison import Related, compare, near_facts
from recollex_mind.fact_recording import recording_of
from recollex_mind.jobs import MOST_ATTEMPTS, Extraction
from recollex_mind.llm.language_model import LanguageModel

AWAY = ("failed", "overloaded", "deadline", "unauthorized", "not recorded", "damaged")
"""Reasons of a `LanguageModelError` after which the next chunk would fail as well."""
_NOTHING = ExtractedFacts((), {})


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a run reads. documents: of these alone; None for all.

    again: also what an earlier version of the prompt has read. unasked: the run goes on by itself:
    it leaves chunks that later memories may join, those that were tried `MOST_ATTEMPTS` times, and
    those that this process has tried (``tried``, which grows).
    """

    mode: Mode
    documents: frozenset[str] | None = None
    again: bool = False
    unasked: bool = False
    tried: set[str] = field(default_factory=set)
    stopping: Callable[[], bool] = lambda: False


def model_of(agent: Agent) -> LanguageModel:
    """Return the language model that draws facts. Raises `InputError` where there is none."""
    model: LanguageModel | None = agent.context.llm
    if model is None:
        raise InputError(
            "drawing facts from talk needs a language model, and this store has none: "
            "recollex.open(..., llm=recollex.llm(...))"
        )
    return model


def extract(agent: Agent, wanted: Wanted) -> Extraction:
    """Draw facts from what has not been read; one run of an agent at a time, others wait.

    Raises `InputError` without a language model, and `LanguageModelError` if the call is cancelled;
    what was recorded before stays.
    """
    model = model_of(agent)
    work = work_of(agent)
    with work.lock:
        view = agent.view()
        if view is None:
            return Extraction()
        entries = extractions(agent, view)
        prompt = PROMPTS[wanted.mode]
        found = chunks_of(view, entries, prompt, agent.clock(), wanted.documents, wanted.again)
        run = _Run(agent, wanted, model)
        try:
            for chunk in found:
                if wanted.stopping():
                    break
                work.chunk = chunk.id(view.columns)
                if wanted.unasked and not _due(chunk, work.chunk, wanted):
                    continue
                run.read(chunk, view)
                wanted.tried.add(work.chunk)
        finally:
            work.chunk = None
        return run.done()


def _due(chunk: Chunk, id: str, wanted: Wanted) -> bool:
    """Return whether a run in the background reads a chunk."""
    return chunk.complete and id not in wanted.tried and chunk.attempts < MOST_ATTEMPTS


class _Run:
    """One run: its counts, and whether the model is away."""

    def __init__(self, agent: Agent, wanted: Wanted, model: LanguageModel) -> None:
        self._agent = agent
        self._wanted = wanted
        self._model = model
        self._away: LanguageModelError | None = None
        self._facts: list[str] = []
        self._chunks = self._turns = 0
        self._relations: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()

    def read(self, chunk: Chunk, view: View) -> None:
        """Draw the facts of a chunk and record them; leave it if one of its turns was closed."""
        drawn = _NOTHING
        related = list[Related]()
        near = dict[str, list[Memory]]()
        failure = self._away
        if failure is not None and chunk.failed is not None:
            return  # it is known to have failed, and nobody was asked again
        if failure is None:
            try:
                drawn = _extracted(self._agent, view, chunk, self._wanted.mode, self._model)
            except LanguageModelError as error:
                self._note(error, "the language model gave no facts")
                failure = error
        if self._wanted.mode != "episodic":  # gists are kept as they come (REMem 3.1)
            near = near_facts(self._agent, drawn.facts)
            related, failed = compare(drawn.facts, near, self._model)
            if failed is not None:
                self._note(failed, "the language model compared no facts")
        done = Extract(
            chunk.turns,
            PROMPTS[self._wanted.mode],
            self._model.name,
            failed=None if failure is None else failure.reason,
            left_out=drawn.left_out,
        )
        if not self._record(done, drawn, related, near):
            return
        if failure is not None:
            self._failed[failure.reason] += 1
            return
        self._chunks += 1
        self._turns += len(chunk.turns)
        self._left_out.update(drawn.left_out)

    def _record(
        self,
        done: Extract,
        drawn: ExtractedFacts,
        related: Sequence[Related],
        near: Mapping[str, Sequence[Memory]],
    ) -> bool:
        """Record one transaction; return whether it was.

        If a known fact was changed meanwhile, the facts are recorded without the comparison.
        """
        for those in (related, ()):
            try:
                recording = recording_of(self._agent, done, drawn, those, near)
                self._agent.transact(recording.operations, recording.notes)
            except InputError:
                continue
            self._facts += recording.facts
            self._relations.update(each.relation for each in those)
            return True
        return False

    def _note(self, error: LanguageModelError, what: str) -> None:
        """Warn of a failure of the model; raise it if the call was cancelled."""
        if error.reason == "cancelled":
            raise error
        if error.reason in AWAY:
            self._away = error
            what = "the language model is away"
        warnings.warn(f"{self._agent.name}: {what}: {error}", RuntimeWarning, stacklevel=5)

    def done(self) -> Extraction:
        """Return what the run did."""
        return Extraction(
            chunks=self._chunks,
            turns=self._turns,
            facts=tuple(self._facts),
            relations=dict(self._relations),
            left_out=dict(self._left_out),
            failed=dict(self._failed),
        )


def _extracted(
    agent: Agent, view: View, chunk: Chunk, mode: Mode, model: LanguageModel
) -> ExtractedFacts:
    if mode == "episodic":
        return extract_episode(agent, view, chunk, model)
    return extract_chunk(agent, view, chunk, mode, model)
