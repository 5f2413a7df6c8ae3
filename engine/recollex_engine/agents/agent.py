"""What can be done with one agent's memory? What writes to it, and what is read of it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.agents.access import Access
from recollex_engine.agents.stats import Stats, count
from recollex_engine.clock import from_micros
from recollex_engine.domain.act import RETAIN, Act
from recollex_engine.domain.operations import Operation
from recollex_engine.domain.question import Question
from recollex_engine.domain.settings import Settings
from recollex_engine.domain.statement import MAX_BATCH, Statement, check_embeddings
from recollex_engine.errors import InputError, OperationError, UnknownIdError
from recollex_engine.facts.fact_view import FactView
from recollex_engine.models.embedder import Embedder, Progress
from recollex_engine.ranking.presets import Preset
from recollex_engine.recall import lookups as reading
from recollex_engine.recall.memory import Memory
from recollex_engine.recall.packing import nothing
from recollex_engine.recall.pipeline import recall
from recollex_engine.recall.recall import Recall
from recollex_engine.state.gc_pause import gc_paused
from recollex_engine.state.replica import Replica
from recollex_engine.text.analyzer import ANALYZER_VERSION
from recollex_engine.writing.correction import find_correction, find_statements
from recollex_engine.writing.draft import Draft
from recollex_engine.writing.fact_draft import FactDraft
from recollex_engine.writing.lexicon import Lexicon
from recollex_engine.writing.plan import Plan, find_plan
from recollex_engine.writing.preparation import Prepared, embed, prepare
from recollex_engine.writing.writer import Overtaken, Writer

BATCH = 100
"""Memories in a call from which the garbage collector is paused while they are recorded."""


class Agent(Access):
    """One agent's memory in one folder.

    Threads: any number may call anything; writes happen in one order.
    """

    # -- writing ---------------------------------------------------------------------------------

    def retain(
        self,
        statements: Sequence[Statement],
        embeddings: object = None,
        recorded_at: int | None = None,
        replace_document: str | None = None,
        progress: Progress | None = None,
    ) -> list[str]:
        """Retain ``statements`` as one transaction; return their ids, in order.

        ``embeddings``: the caller's own vectors, float[statements, dimension].
        ``replace_document``: the open memories of this document that are not among the statements
        are closed with it.
        """
        self._check_writable()
        if len(statements) > MAX_BATCH:
            raise InputError(
                f"one call may retain up to {MAX_BATCH:,} memories, got {len(statements):,}: "
                "retain them in batches"
            )
        embedder = self._shared.embedder()
        given = None
        if embeddings is not None:
            given = check_embeddings(embeddings, "embedding", len(statements), embedder.dimension)
        if not statements and replace_document is None:
            return []
        # Everything that may fail comes before the folder is made or anything is written.
        writer = self._writing() if self.folder.exists() else None
        if recorded_at is not None and writer is not None:
            writer.check_recorded_at(recorded_at)
        try:
            ids = self._record(
                statements,
                given,
                recorded_at,
                find_plan(writer, statements, replace_document),
                RETAIN,
                progress,
            )
        except Overtaken:
            writer = self._writing()
            with writer.lock:  # nobody writes meanwhile
                ids = self._record(
                    statements,
                    given,
                    recorded_at,
                    find_plan(writer, statements, replace_document),
                    RETAIN,
                    progress,
                )
        self._after_write()
        return ids

    def correct(
        self,
        id: str,
        text: str,
        changes: dict[str, Any],
        act: Act,
        embedding: object = None,
        recorded_at: int | None = None,
    ) -> None:
        """Close the open memory ``id`` and record what takes its place, under the same id.

        See `correction.find_correction`; ``act`` says by whom and why.
        """
        self._check_writable()
        if not self.folder.exists():
            raise UnknownIdError(id, self.name)
        given = None
        if embedding is not None:
            given = check_embeddings([embedding], "embedding", 1, self.dimension)
        writer = self._writing()
        if recorded_at is not None:
            writer.check_recorded_at(recorded_at)

        def record() -> None:
            plan, statement = find_correction(writer, self.name, id, text, changes)
            self._record([statement], given, recorded_at, plan, act, None)

        try:
            record()
        except Overtaken:
            with writer.lock:
                record()
        self._after_write()

    def _record(
        self,
        statements: Sequence[Statement],
        given: npt.NDArray[np.float32] | None,
        recorded_at: int | None,
        plan: Plan,
        act: Act,
        progress: Progress | None,
    ) -> list[str]:
        """Prepare, embed and record what of ``statements`` the plan does not hold already."""
        embedder = self._shared.embedder()
        writer = self._writing() if self.folder.exists() else None
        fresh = [place for place in range(len(statements)) if place not in plan.held]
        said = self._shared.clock() if recorded_at is None else recorded_at
        settings = writer.settings if writer is not None else None
        analyzer = self._shared.analyzer(settings.language if settings else self._shared.language)
        chosen = [statements[place] for place in fresh]
        with gc_paused(len(chosen) >= BATCH):
            prepared = prepare(chosen, said, analyzer, self.counter())
        own = None if given is None else given[fresh]
        known = {place for place, at in enumerate(fresh) if at in plan.known}
        told, vectors = embed(prepared, known, own, embedder, self._shared.threads, progress)
        open_writer = self._writing()
        self._create(open_writer, embedder, recorded_at)
        with gc_paused(len(chosen) >= BATCH):
            new = iter(
                open_writer.retain(
                    told,
                    vectors,
                    recorded_at,
                    plan.closed,
                    embedder.thresholds.link,
                    plan.as_of,
                    act,
                )
            )
        places = range(len(statements))
        return [plan.held[place] if place in plan.held else next(new) for place in places]

    def _after_write(self) -> None:
        self._writing()
        assert self._maintenance is not None
        self._maintenance.after_write()

    def _create(self, writer: Writer, embedder: Embedder, recorded_at: int | None) -> None:
        """Fix the agent's settings if this is its first write."""
        if writer.settings is None:
            writer.create(
                Settings(
                    embedder.fingerprint,
                    embedder.dimension,
                    self._shared.language,
                    ANALYZER_VERSION,
                    self.counter().name,
                ),
                recorded_at,
            )

    def take_away(self, act: Act, ids: Sequence[str], recorded_at: int | None = None) -> None:
        """Forget or archive memories, as one transaction: they leave every later view."""
        self._check_writable()
        if not ids:
            return
        if not self.folder.exists():
            raise UnknownIdError(ids[0], self.name)
        self._writing().take_away(act, ids, self.name, recorded_at)

    def transact(
        self,
        operations: Sequence[Operation],
        notes: Sequence[dict[str, str]],
        recorded_at: int | None = None,
        where: Sequence[str] | None = None,
    ) -> int:
        """Record ``operations`` as one transaction: all of them or none.

        ``notes`` say for each who makes it and why, ``where`` what it is called in an error; see
        `FactDraft.add`. Returns how many records it made; one that says nothing new makes none.
        """
        self._check_writable()
        self._shared.embedder()
        if not operations:
            return 0
        writer = self._writing() if self.folder.exists() else None
        if recorded_at is not None and writer is not None:
            try:
                writer.check_recorded_at(recorded_at)
            except InputError as error:
                raise OperationError(where[0], error) if where else error from None
        try:
            count = self._transact(operations, notes, recorded_at, where)
        except Overtaken:
            with self._writing().lock:
                count = self._transact(operations, notes, recorded_at, where)
        self._after_write()
        return count

    def _transact(
        self,
        operations: Sequence[Operation],
        notes: Sequence[dict[str, str]],
        recorded_at: int | None,
        where: Sequence[str] | None,
    ) -> int:
        embedder = self._shared.embedder()
        writer = self._writing() if self.folder.exists() else None
        as_of, statements = find_statements(writer, self.name, operations, where)
        said = self._shared.clock() if recorded_at is None else recorded_at
        settings = writer.settings if writer is not None else None
        analyzer = self._shared.analyzer(settings.language if settings else self._shared.language)
        prepared: Sequence[Prepared] = ()
        if statements:
            prepared = prepare(statements, said, analyzer, self.counter())

        def fill(draft: Draft) -> None:
            FactDraft(draft, self.name, prepared).add(operations, notes, where)

        if writer is None:  # what is refused must not make a folder
            fill(Draft(Replica(self.folder), Lexicon()))
        prepared, vectors = embed(prepared, set(), None, embedder, self._shared.threads, None)
        writer = self._writing()
        self._create(writer, embedder, recorded_at)
        link = embedder.thresholds.link
        return len(writer.transact(fill, vectors, recorded_at, link, as_of).operations)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Let this thread's writes in the body share one flush; see `Writer.together`."""
        if self._shared.read_only or not self.folder.exists():
            yield  # the first write makes the folder, and is flushed by itself
            return
        with self._writing().together():
            yield

    def checkpoint(self) -> None:
        """Fold the tail into the indexes and make opening quick; recalls give the same results.

        Raises `StoreFullError` with everything as it was.
        """
        self._check_writable()
        if self.folder.exists():
            self._writing()
            assert self._maintenance is not None
            self._maintenance.checkpoint()

    # -- reading ---------------------------------------------------------------------------------

    def recall(self, question: Question, preset: Preset, explain: bool = False) -> Recall:
        """Return what bears on ``question``, ranked as ``preset`` says."""
        view = self.view()
        embedder = self._shared.embedder()
        now = self._shared.clock() if question.now is None else question.now
        if view is None or view.columns.settings is None:
            packed = None if question.packing is None else nothing(question, now, self.counter())
            return Recall.empty(question.text, packed)
        settings = view.columns.settings
        analyzer = self._shared.analyzer(settings.language)
        name = settings.counter
        found = recall(view, question, preset, analyzer, embedder, now, name, explain, self.counter)
        self._after_recall(view)
        return found

    def op_at(self, recorded_at: int) -> int:
        """Return the last operation recorded by a time; 0 if there was none.

        Raises `InputError` for a time that is later than all that is recorded and that the clock
        has not reached: what will be recorded by then is not known yet.
        """
        view = self.view()
        if view is not None and view.op:
            last = int(view.buffer("op_recorded_at")[view.op - 1])
            if recorded_at <= last:
                return view.columns.op_at(recorded_at)
        if recorded_at > (now := self._shared.clock()):
            raise InputError(
                f"as_recorded must not be in the future: it is {from_micros(now)} by the clock, "
                f"got {from_micros(recorded_at)}"
            )
        if self._writer is not None:
            return self._writer.op_at(recorded_at)
        return view.op if view is not None else 0

    def facts(self, recorded: int | None = None, world: int | None = None) -> FactView:
        """Return the facts of a cut: as recorded by a moment, and as of a moment of the world."""
        view = self.view()
        if view is None:
            return FactView.empty(world)
        columns = view.columns
        op = view.op if recorded is None else self.op_at(recorded)
        last = self._facts
        if last is not None and (last.columns, last.op, last.world) == (columns, op, world):
            return last
        self._facts = found = FactView(columns, op, world)
        return found

    def get(self, id: str) -> Memory:
        """Return the memory with this id; see `reading.get`."""
        return reading.get(self.view(), id, self.name)

    def history(self, id: str) -> list[Memory]:
        """Return every version of a memory; see `reading.history`."""
        return reading.history(self.view(), id, self.name)

    def list(self, after: str | None, limit: int) -> list[Memory]:
        """Return up to ``limit`` open memories in recorded order, behind the memory ``after``."""
        return reading.page(self.view(), after, limit, self.name)

    def stats(self) -> Stats:
        """Return what the agent holds."""
        return count(self.view(), self.folder)
