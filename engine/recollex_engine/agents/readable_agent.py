"""The reads that an agent and its cuts have in common: recalls, look-ups, facts, statistics."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from recollex_engine.agents.counting import Counting
from recollex_engine.agents.stats import Stats, count
from recollex_engine.clock import Clock
from recollex_engine.domain.filter import EVERYTHING, Filter
from recollex_engine.domain.question import Question
from recollex_engine.domain.removal import Retention
from recollex_engine.errors import UnknownIdError
from recollex_engine.facts.fact_view import FactView, Ordinals
from recollex_engine.facts.surface_search import Found, search_surfaces
from recollex_engine.log.format import Head
from recollex_engine.models.embedder import Embedder, makes_vectors
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
from recollex_engine.state.accesses import Accesses, accesses
from recollex_engine.state.page_prefault import map_ahead, touch_codes
from recollex_engine.state.replica import LOG, Replica
from recollex_engine.state.view import View
from recollex_engine.text.token_counter import TokenCounter
from recollex_engine.writing.retention import rules_in_force
from recollex_engine.writing.store_context import StoreContext


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
