"""How do facts follow what was retained? Chunk by chunk, each in one transaction with its mark.

A chunk is read by the language model; its facts are compared with known ones; then the facts, what
the comparison does, and an operation `extract` are recorded together. So a crash at any moment
leaves a chunk done or not begun, and the next run goes on: no fact is recorded twice.

If the model does not answer, the chunk waits: a warning says so, the failure is recorded, and a
later run asks the model again. If it is away (no connection, no answer in time, overloaded, a wrong
key), the rest of the run fails likewise, unasked.

Facts follow in the background, after each write of an agent of a store.
Whatever is complete is read at once; a talk that goes on is read when a chunk of it is full, and
what is left of it once it has rested (`chunks.REST`). Closing the store ends this after the chunk
that is being read: what is left follows when the agent is opened again.
"""

import threading
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from weakref import WeakSet

from recollex_engine import fork
from recollex_engine.agents.agent import Agent
from recollex_engine.clock import SECOND
from recollex_engine.domain.memory_operations import Extract
from recollex_engine.errors import ClosedError, InputError, LanguageModelError
from recollex_engine.recall.memory import Memory
from recollex_engine.state.view import View
from recollex_mind.chunks import REST, Chunk, chunks_of
from recollex_mind.drawing import ExtractedFacts, extract_chunk
from recollex_mind.episode_drawing import extract_episode
from recollex_mind.fact_recording import Related, compare, near_facts, recording_of
from recollex_mind.job_log import PROMPTS, Mode, extractions, work_of
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


_WAIT = REST / SECOND + 1


class BackgroundExtraction:
    """Extracts the facts of a store's agents after they are written.

    Threads: any number may call `wake`.
    """

    def __init__(self, mode: Mode) -> None:
        self.mode = mode
        self._lock = fork.lock()
        self._running: dict[Agent, int] = {}  # agent -> the thread that reads for it, 0 before
        self._again: set[Agent] = set()
        self._timers: dict[Agent, threading.Timer] = {}
        self._tried: dict[str, set[str]] = {}
        self._opened: WeakSet[Agent] = WeakSet()

    def opened(self, agent: Agent) -> None:
        """Go on with what an earlier process has left, once for each agent."""
        if agent not in self._opened:
            self._opened.add(agent)
            if not agent.context.read_only and agent.files.are_there:
                self.wake(agent)

    def wake(self, agent: Agent) -> None:
        """Read what an agent has retained, in the background. Cost: 20 us."""
        work = agent.context.work
        with self._lock:
            if work.closing or self._running.get(agent) == threading.get_ident():
                return
            if agent in self._running:
                self._again.add(agent)
                return
            self._running[agent] = 0
        what = f"extracting the facts of {agent.name}"
        work.start(agent.name, what, lambda: self._run(agent))

    def _run(self, agent: Agent) -> None:
        work = agent.context.work
        tried = self._tried.setdefault(agent.name, set())
        wanted = Wanted(self.mode, unasked=True, tried=tried, stopping=lambda: work.closing)
        self._running[agent] = threading.get_ident()
        try:
            while not work.closing:
                extract(agent, wanted)
                with self._lock:
                    if agent not in self._again:
                        break
                    self._again.discard(agent)
        except ClosedError:
            return  # the agent was closed or deleted meanwhile
        except LanguageModelError as error:
            if error.reason != "cancelled":
                raise
        finally:
            with self._lock:
                self._again.discard(agent)
                del self._running[agent]
        self._wake_later(agent)

    def _wake_later(self, agent: Agent) -> None:
        """Read what has rested, after a while, if no write comes before."""
        with self._lock:
            if (timer := self._timers.pop(agent, None)) is not None:
                timer.cancel()
            if agent.context.work.closing:
                return
            timer = self._timers[agent] = threading.Timer(_WAIT, self.wake, (agent,))
            timer.daemon = True
            timer.start()

    def close(self) -> None:
        """Wake for no later time; what runs ends by itself, see `BackgroundWork.closing`."""
        with self._lock:
            for timer in self._timers.values():
                timer.cancel()
            self._timers.clear()
