"""The reads that an agent and its cuts have in common: recalls, look-ups, facts, statistics.

`Counting` has the token counters. `Forgetting` keeps talks and memories in step: the turns of a
talk under a write policy wait in the process, and when a memory of a document is erased or
forgotten, so are those that wait for that document. Else a later write would record them.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from recollex_engine.agents.agent_files import AgentFiles, OpenAgents
from recollex_engine.agents.log_head import end_of
from recollex_engine.agents.stats import Stats, count
from recollex_engine.clock import Clock, from_micros
from recollex_engine.domain.filter import EVERYTHING, Filter
from recollex_engine.domain.memory_operations import Forget
from recollex_engine.domain.operations import Operation
from recollex_engine.domain.prompt_lines import LineCosts
from recollex_engine.domain.question import Question
from recollex_engine.domain.removal import Retention
from recollex_engine.errors import InputError, UnknownIdError
from recollex_engine.facts.fact_view import FactView, Ordinals
from recollex_engine.facts.surface_search import Found, search_surfaces
from recollex_engine.log.format import START, Head
from recollex_engine.models.embedder import Embedder, is_of_bytes, makes_vectors
from recollex_engine.ranking.filters import passing
from recollex_engine.ranking.presets import DEFAULT, Preset
from recollex_engine.ranking.query_embedding import embed_once
from recollex_engine.recall import lookups
from recollex_engine.recall.kinds import asked_by
from recollex_engine.recall.lookups import listing, value_counts
from recollex_engine.recall.memory import Memory
from recollex_engine.recall.packing import nothing
from recollex_engine.recall.pipeline import recall
from recollex_engine.recall.question_reading import named_time
from recollex_engine.recall.recall import Recall
from recollex_engine.state.access_journal import FILE as ACCESSES
from recollex_engine.state.access_journal import AccessJournal
from recollex_engine.state.accesses import Accesses, accesses
from recollex_engine.state.columns import Columns
from recollex_engine.state.page_prefault import map_ahead, touch_codes
from recollex_engine.state.replica import LOG, Replica
from recollex_engine.state.view import View
from recollex_engine.text.token_counter import ENCODING, TokenCounter, open_counter
from recollex_engine.writing.contexts import StoreContext
from recollex_engine.writing.erasure_plan import Erasing
from recollex_engine.writing.retention import rules_in_force
from recollex_engine.writing.taking_away import FORGET, ChooseMemories
from recollex_engine.writing.writer import Unsettled, Writer


# Which counter counts an agent's tokens? The one that its settings name, where it can be had.
class Counting:
    """The token counters of an agent by their names. Threads: may be shared."""

    def __init__(self, context: StoreContext) -> None:
        self._context = context
        self._counters: dict[str, TokenCounter] = {}
        self._costs: dict[str, LineCosts] = {}

    def counter(self, name: str | None) -> TokenCounter:
        """Return the counter of that name; None for the one of a new agent.

        Warns if the vocabulary of `ENCODING` is not on disk, so that the model's own counts.
        """
        wanted = ENCODING if name is None else name
        counter = self._counters.get(wanted)
        if counter is None:
            embedder = self._context.embedder
            counter = open_counter(
                lambda text: embedder().count_tokens(text), wanted, lambda: is_of_bytes(embedder())
            )
            if counter.name != wanted:
                warn()
            self._counters[wanted] = counter
        return counter

    def costs(self, name: str) -> LineCosts:
        """Return the tokens of a prompt's lines by the counter of that name."""
        if name not in self._costs:
            self._costs[name] = LineCosts(partial(self.counter, name), name)
        return self._costs[name]


_WARNING = "tokens are counted by the model's own tokenizer"


def warn() -> None:
    """Warn that the model's own tokenizer counts; Python shows a warning once a process."""
    warnings.warn(
        f"{_WARNING}: the vocabulary of {ENCODING} is not on "
        "disk. `recollex warmup` fetches it where there is a network; TIKTOKEN_CACHE_DIR may name "
        "a folder that holds it. `stats` says which counter an agent has",
        stacklevel=2,
    )


@contextmanager
def unwarned() -> Iterator[None]:
    """Do not warn in the body, whose store is thrown away."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _WARNING)
        yield


class ReadableAgent(ABC):
    """One agent's memory for reading.

    Threads: any number may call any method.
    """

    def __init__(self, name: str, folder: Path, context: StoreContext) -> None:
        self.name = name
        self.folder = folder
        self.context = context
        self.clock: Clock = context.clock
        self.counting: Counting = Counting(context)
        self._facts: FactView | None = None
        self._mapped_ahead = False

    @abstractmethod
    def check_open(self) -> None:
        """Raise `ClosedError` once the agent was closed."""

    @property
    @abstractmethod
    def is_closed(self) -> bool:
        """Whether the agent was closed for good, or deleted, as far as is known."""

    @abstractmethod
    def using(self) -> AbstractContextManager[None]:
        """Keep the files open during the body."""

    @abstractmethod
    def view(self, op: int | None = None) -> View | None:
        """Return the view of now, or of operation ``op``; None before the first retain."""

    @abstractmethod
    def replica(self) -> Replica:
        """Return the replica that `view` reads; only after there is one."""

    @abstractmethod
    def op_at(self, recorded_at: int) -> int:
        """Return the last operation recorded by a time; 0 if there was none."""

    @abstractmethod
    def head(self) -> Head:
        """Return the last operation, and the chain after it."""

    def counter(self) -> TokenCounter:
        """Return the agent's token counter; before its first operation, that of a new agent."""
        view = self.view()
        settings = None if view is None else view.columns.settings
        return self.counting.counter(None if settings is None else settings.counter)

    @property
    def embedder(self) -> Embedder:
        """The model that makes the vectors."""
        return self.context.embedder()

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self.context.embedder().dimension

    def locale(self) -> str:
        """Return the agent's locale; before its first operation, that of its store."""
        view = self.view()
        recorded = None if view is None else view.columns.settings
        return self.context.locale if recorded is None else recorded.locale

    def recall(self, question: Question, preset: Preset, explain: bool = False) -> Recall:
        """Return the memories for ``question``, ranked by ``preset``."""
        view = self.view()
        embedder = self.context.embedder()
        now = self.clock() if question.now is None else question.now
        if view is None or view.columns.settings is None:
            packed = None if question.packing is None else nothing(question, now, self.counter())
            return Recall.empty(question.text, packed)
        settings = view.columns.settings
        if not question.text:
            return listing(view, question, settings.counter, self.counting.costs(settings.counter))
        if not self._mapped_ahead:
            touch_codes(view)
        analyzer = self.context.analyzer(settings.language)
        found = recall(
            view,
            question,
            preset,
            analyzer,
            embedder,
            now,
            token_counter=settings.counter,
            counter=self.counter,
            costs=self.counting.costs(settings.counter),
            latency=self.context.latency,
            explain=explain,
        )
        self.map_ahead(view)  # not before: the first recall would wait for it
        return found

    def map_ahead(self, view: View) -> None:
        """Map the pages that later recalls touch, in the background, once for an agent."""
        if not self._mapped_ahead:
            self._mapped_ahead = True
            map_ahead(view)

    def facts(self, recorded: int | None = None, world: int | None = None) -> FactView:
        """Return the facts as recorded by a time, and as of a time of the world; None for now."""
        view = self.view()
        if view is None:
            return FactView.empty(world)
        return self.facts_of(view, view.op if recorded is None else self.op_at(recorded), world)

    def facts_of(self, view: View, op: int, world: int | None) -> FactView:
        """Return the facts after an operation of a view, and as of a time of the world."""
        columns = view.columns
        last = self._facts
        if last is not None and (last.columns, last.op, last.world) == (columns, op, world):
            return last
        self._facts = found = FactView(columns, op, world)
        return found

    def search(
        self,
        view: FactView,
        query: str,
        kinds: Sequence[str],
        limit: int,
        *,
        only: Sequence[tuple[str, Ordinals]] = (),
        embedding: npt.NDArray[np.float32] | None = None,
        exact: bool = False,
        now: int | None = None,
    ) -> list[Found]:
        """Return the facts, events and episodes of a cut that a question asks for, best first.

        only: see `search_surfaces`. embedding: of the question; without one the model makes it, and
        an agent without a model searches the words alone. now: "last week" is relative to it.
        """
        settings = view.columns.settings
        if settings is None or not view.columns.surfaces.rows:
            return []
        embedder = self.context.embedder()
        vector = embedding
        if vector is None and makes_vectors(embedder):
            vector = embed_once(embedder, query, settings.dimension)
        asked = asked_by(
            DEFAULT,
            query,
            self.context.analyzer(settings.language),
            vector,
            embedder.thresholds,
            named_time(query, self.clock() if now is None else now, settings.locale),
            exact=exact,
        )
        return search_surfaces(view, asked, kinds, limit, only)

    @property
    def is_past(self) -> bool:
        """Whether it answers as of a time, so that it compares with every vector."""
        return False

    def retention(self) -> tuple[Retention, ...]:
        """Return the retention rules in force, in the order in which they were set."""
        view = self.view()
        if view is None:
            return ()
        return rules_in_force(view.columns, view.op, self.folder / LOG)

    def get(self, id: str) -> Memory:
        """Return the memory with this id; see `lookups.get`."""
        return lookups.get(self.view(), id, self.name)

    def accesses(self, id: str, before: int | None = None) -> Accesses:
        """Return how often a memory was accessed, up to a time; see `Accesses`."""
        view = self.view()
        if view is None:
            raise UnknownIdError(id, self.name)
        self.context.accesses.write()
        return accesses(view, lookups.ordinal(view, id, self.name), before)

    def history(self, id: str) -> list[Memory]:
        """Return every version of a memory; see `lookups.history`."""
        return lookups.history(self.view(), id, self.name)

    def list(
        self,
        after: str | None,
        limit: int,
        wanted: Filter = EVERYTHING,
        newest: bool = False,
    ) -> list[Memory]:
        """Return up to ``limit`` open memories in recorded order; see `lookups.page`."""
        return lookups.page(self.view(), after, limit, self.name, wanted, newest)

    def count(self, wanted: Filter) -> int:
        """Return how many open memories pass a filter."""
        view = self.view()
        if view is None:
            return 0
        return int(np.count_nonzero(passing(view, wanted, view.open)))

    def value_counts(self, field: str, wanted: Filter) -> dict[str, int]:
        """Return how many memories have each value of a field; see `value_counts`."""
        return value_counts(self.view(), field, wanted)

    def stats(self) -> Stats:
        """Return the agent's statistics."""
        return count(self.view(), self.folder)


class HeardTalks(Protocol):
    """The talks that somebody has heard; ``lock``: held while a turn is heard or written."""

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Return the lock."""

    def forget(self, documents: Collection[str] | None) -> None:
        """Forget the turns that wait for some documents; for None, of all."""

    def __len__(self) -> int:
        """Return the number of talks."""


class Forgetting:
    """Makes talks forget; none of them writes meanwhile. ``documents``: those that forget anyway.

    `erasing` and `taking` return a choice of memories that also makes the talks forget.
    """

    def __init__(self, talks: list[HeardTalks], documents: Iterable[str]) -> None:
        self._talks = talks
        self._documents = set(documents)

    def forget(self, documents: Iterable[str] | None) -> None:
        """Forget what waits for some documents, too; for None, all."""
        for each in self._talks:
            each.forget(None if documents is None else self._documents.union(documents))

    def erasing(self, choose: Callable[[View], Erasing]) -> Callable[[View], Erasing]:
        """Return a choice of what to erase."""

        def chosen(view: View) -> Erasing:
            found = choose(view)
            self.forget(None if found.everything else found.documents)
            return found

        return chosen

    def taking(self, choose: ChooseMemories) -> ChooseMemories:
        """Return a choice of the memories to forget."""

        def chosen(replica: Replica) -> list[int]:
            found = choose(replica)
            if self._talks:
                self.forget(_documents_of(replica.columns, found))
            return found

        return chosen


@contextmanager
def none_written(
    heard: Iterable[HeardTalks], documents: Iterable[str] = ()
) -> Iterator[Forgetting]:
    """Let no talk write during the body, which says what the talks forget."""
    talks = [each for each in heard if len(each)]
    with ExitStack() as held:
        for each in talks:
            held.enter_context(each.lock)
        yield Forgetting(talks, documents)


@contextmanager
def forgotten_with(
    heard: Iterable[HeardTalks], operations: Iterable[Operation], view: Callable[[], View | None]
) -> Iterator[None]:
    """Let no talk write during the body, if it forgets memories by one of its operations.

    The talks of their documents forget when the body has succeeded.
    """
    ids = [id for each in operations if isinstance(each, Forget) for id in each.ids]
    with none_written(heard if ids else ()) as talks:
        now = view() if ids else None
        documents: set[str] = set()
        if now is not None:
            found = (now.columns.closable(id, FORGET) for id in ids)
            documents = _documents_of(now.columns, (each for each in found if each is not None))
        yield
        talks.forget(documents)


def _documents_of(columns: Columns, memories: Iterable[int]) -> set[str]:
    named = {columns.label_in("document", each) for each in memories}
    return {name for name in named if name is not None}


# How does a process have an agent open? Its files are opened when they are used, and may rest.
Written = TypeVar("Written")


class OpenedAgent(ReadableAgent):
    """One agent's memory in one folder, open in this process.

    Threads: any number may call any method.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        context: StoreContext,
        key: bytes | None,
        opened: OpenAgents,
    ) -> None:
        super().__init__(name, folder, context)
        self.heard: WeakSet[HeardTalks] = WeakSet()
        self._open_agents = opened
        self.files: AgentFiles = AgentFiles(
            name, folder, context, key, partial(opened.add, self), opened.make_room
        )
        self.journal: AccessJournal = AccessJournal(folder / ACCESSES, self.files.check_place)

    @property
    def last_used(self) -> int:
        """A number that grows with each use; of all agents."""
        return self.files.usage.last_used

    @property
    def in_use(self) -> bool:
        """Whether a call is in progress, or work in the background."""
        return self.files.is_busy

    @property
    def has_failed(self) -> bool:
        """Whether closing the files failed, which no caller has been told yet."""
        return self.files.has_failed

    def rest(self) -> bool:
        """Close the files until the next use, unless they are in use; return whether."""
        rests = self.files.rest()
        if rests:
            self._facts = None  # it holds the columns
        return rests

    @property
    def is_closed(self) -> bool:
        """Whether the agent was closed for good, or deleted, as far as is known."""
        return self.files.is_closed

    def using(self) -> AbstractContextManager[None]:
        """Keep the files open during the body."""
        return self.files

    @contextmanager
    def being_deleted(self) -> Iterator[None]:
        """Close the files; keep every call waiting until the body has ended, and refuse it then.

        If the body raises, the agent is as before.
        """
        with self.files.being_deleted():
            self._open_agents.discard(self)
            yield
            self._facts = None

    def settled(self, work: Callable[[Writer], Written]) -> Written:
        """Return ``work(writer)``, with a writer whose log was opened again if that is needed."""
        with self.files:
            self.files.check_place()
            while True:
                try:
                    return work(self.files.writer())
                except Unsettled:
                    continue

    def check_open(self) -> None:
        """Raise `ClosedError` once the agent was closed."""
        self.files.check_open()

    def view(self, op: int | None = None) -> View | None:
        """Return the view of now, or of operation ``op``; None before the first retain."""
        return self.files.view(op)

    def recall(self, question: Question, preset: Preset, explain: bool = False) -> Recall:
        """Return the memories for ``question``; that they were returned is counted, if asked for.

        A recall of a cut is not counted.
        """
        found = super().recall(question, preset, explain)
        if self.context.accesses.is_on:
            self.context.accesses.note(self.journal, found.ordinals)
        return found

    def replica(self) -> Replica:
        """Return the replica that `view` reads, in the use in progress; after there is one."""
        with self.files:
            return self.files.replica()

    def head(self) -> Head:
        """Return the end of the log; of an agent that can be written, it is on the disk by then."""
        self.files.check_open()
        if self.files.are_there and not self.context.read_only:
            return self.settled(end_of)
        return Head.of(START if self.view() is None else self.replica().position)

    def op_at(self, recorded_at: int) -> int:
        """Return the last operation recorded by a time; 0 if there was none.

        Raises `InputError` for a time that is later than all recorded times and than the clock:
        more may be recorded by then.
        """
        view = self.view()
        if view is not None and view.op:
            last = int(view.buffer("op_recorded_at")[view.op - 1])
            if recorded_at <= last:
                return view.columns.op_at(recorded_at)
        if recorded_at > (now := self.clock()):
            raise InputError(
                f"as_recorded must not be in the future: it is {from_micros(now)} by the clock, "
                f"got {from_micros(recorded_at)}"
            )
        if self.files.opens_writer:
            return self.settled(lambda writer: writer.op_at(recorded_at))
        return view.op if view is not None else 0

    def close(self) -> None:
        """Finish pending work and release lock file and memory; a second call does nothing."""
        self._open_agents.discard(self)
        try:
            self.files.close()
        finally:
            self._facts = None  # it holds the columns
