"""How is one agent's memory written? Retained, corrected, forgotten, in transactions."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.agents.agent_files import AgentFiles
from recollex_engine.agents.readable_agent import ReadableAgent
from recollex_engine.clock import from_micros
from recollex_engine.domain.act import RETAIN, Act
from recollex_engine.domain.operations import Operation
from recollex_engine.domain.settings import Settings
from recollex_engine.domain.statement import MAX_BATCH, Statement, check_embeddings
from recollex_engine.errors import InputError, OperationError, UnknownIdError
from recollex_engine.models.embedder import Embedder, Progress
from recollex_engine.state.gc_pause import gc_paused
from recollex_engine.state.replica import Replica
from recollex_engine.state.view import View
from recollex_engine.text.analyzer import ANALYZER_VERSION
from recollex_engine.text.token_counter import TokenCounter, open_counter
from recollex_engine.writing.correction import find_correction, find_statements
from recollex_engine.writing.draft import Draft
from recollex_engine.writing.fact_draft import FactDraft
from recollex_engine.writing.lexicon import Lexicon
from recollex_engine.writing.plan import Plan, find_plan
from recollex_engine.writing.preparation import Prepared, embed, prepare
from recollex_engine.writing.store_context import StoreContext
from recollex_engine.writing.writer import Overtaken, Writer

BATCH = 100
"""Memories in a call from which the garbage collector is paused while they are recorded."""


class Agent(ReadableAgent):
    """One agent's memory in one folder.

    Threads: any number may call anything; writes happen in one order.
    """

    def __init__(self, name: str, folder: Path, context: StoreContext) -> None:
        super().__init__(name, folder, context)
        self.files = AgentFiles(name, folder, context)
        self._counter: TokenCounter | None = None

    def writable(self) -> "Agent":
        """Return what can be written to: the agent itself."""
        return self

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
        self.files.check_writable()
        if len(statements) > MAX_BATCH:
            raise InputError(
                f"one call may retain up to {MAX_BATCH:,} memories, got {len(statements):,}: "
                "retain them in batches"
            )
        embedder = self.context.embedder()
        given = None
        if embeddings is not None:
            given = check_embeddings(embeddings, "embedding", len(statements), embedder.dimension)
        if not statements and replace_document is None:
            return []
        # Everything that may fail comes before the folder is made or anything is written.
        writer = self.files.writer() if self.folder.exists() else None
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
            writer = self.files.writer()
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
        self.files.check_writable()
        if not self.folder.exists():
            raise UnknownIdError(id, self.name)
        given = None
        if embedding is not None:
            given = check_embeddings([embedding], "embedding", 1, self.dimension)
        writer = self.files.writer()
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
        embedder = self.context.embedder()
        writer = self.files.writer() if self.folder.exists() else None
        fresh = [place for place in range(len(statements)) if place not in plan.held]
        said = self.context.clock() if recorded_at is None else recorded_at
        settings = writer.settings if writer is not None else None
        analyzer = self.context.analyzer(settings.language if settings else self.context.language)
        chosen = [statements[place] for place in fresh]
        with gc_paused(len(chosen) >= BATCH):
            prepared = prepare(chosen, said, analyzer, self.counter())
        own = None if given is None else given[fresh]
        known = {place for place, at in enumerate(fresh) if at in plan.known}
        told, vectors = embed(prepared, known, own, embedder, self.context.threads, progress)
        open_writer = self.files.writer()
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
        self.files.writer()
        self.files.maintenance.after_write()

    def _create(self, writer: Writer, embedder: Embedder, recorded_at: int | None) -> None:
        """Fix the agent's settings if this is its first write."""
        if writer.settings is None:
            writer.create(
                Settings(
                    embedder.fingerprint,
                    embedder.dimension,
                    self.context.language,
                    ANALYZER_VERSION,
                    self.counter().name,
                ),
                recorded_at,
            )

    def take_away(self, act: Act, ids: Sequence[str], recorded_at: int | None = None) -> None:
        """Forget or archive memories, as one transaction: they leave every later view."""
        self.files.check_writable()
        if not ids:
            return
        if not self.folder.exists():
            raise UnknownIdError(ids[0], self.name)
        self.files.writer().take_away(act, ids, self.name, recorded_at)

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
        self.files.check_writable()
        self.context.embedder()
        if not operations:
            return 0
        writer = self.files.writer() if self.folder.exists() else None
        if recorded_at is not None and writer is not None:
            try:
                writer.check_recorded_at(recorded_at)
            except InputError as error:
                raise OperationError(where[0], error) if where else error from None
        try:
            count = self._transact(operations, notes, recorded_at, where)
        except Overtaken:
            with self.files.writer().lock:
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
        embedder = self.context.embedder()
        writer = self.files.writer() if self.folder.exists() else None
        as_of, statements = find_statements(writer, self.name, operations, where)
        said = self.context.clock() if recorded_at is None else recorded_at
        settings = writer.settings if writer is not None else None
        analyzer = self.context.analyzer(settings.language if settings else self.context.language)
        prepared: Sequence[Prepared] = ()
        if statements:
            prepared = prepare(statements, said, analyzer, self.counter())

        def fill(draft: Draft) -> None:
            FactDraft(draft, self.name, prepared).add(operations, notes, where)

        if writer is None:  # what is refused must not make a folder
            fill(Draft(Replica(self.folder), Lexicon()))
        prepared, vectors = embed(prepared, set(), None, embedder, self.context.threads, None)
        writer = self.files.writer()
        self._create(writer, embedder, recorded_at)
        link = embedder.thresholds.link
        return len(writer.transact(fill, vectors, recorded_at, link, as_of).operations)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Let this thread's writes in the body share one flush; see `Writer.together`."""
        if self.context.read_only or not self.folder.exists():
            yield  # the first write makes the folder, and is flushed by itself
            return
        with self.files.writer().together():
            yield

    def checkpoint(self) -> None:
        """Fold the tail into the indexes and make opening quick; recalls give the same results.

        Raises `StoreFullError` with everything as it was.
        """
        self.files.check_writable()
        if self.folder.exists():
            self.files.writer()
            self.files.maintenance.checkpoint()

    # -- reading ---------------------------------------------------------------------------------

    def check_open(self) -> None:
        """Raise `ClosedError` once the agent was closed."""
        self.files.check_open()

    def view(self, op: int | None = None) -> View | None:
        """Return what is visible now, or was at operation ``op``; None before the first retain."""
        return self.files.view(op)

    def replica(self) -> Replica:
        """Return the state behind `view`; only once there is one."""
        return self.files.replica()

    def counter(self) -> TokenCounter:
        """Return the token counter of this process."""
        if self._counter is None:
            self._counter = open_counter(lambda text: self.context.embedder().count_tokens(text))
        return self._counter

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
        if recorded_at > (now := self.context.clock()):
            raise InputError(
                f"as_recorded must not be in the future: it is {from_micros(now)} by the clock, "
                f"got {from_micros(recorded_at)}"
            )
        if (writer := self.files.opened_writer) is not None:
            return writer.op_at(recorded_at)
        return view.op if view is not None else 0

    def close(self) -> None:
        """Finish what is pending and let the next writer in; the second call does nothing."""
        self.files.close()
