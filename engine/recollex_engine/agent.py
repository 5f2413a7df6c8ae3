"""What is one agent's memory? Its folder, its one writer or a reader, and what they can do."""

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from recollex_engine.analyzer import ANALYZER_VERSION, Analyzer
from recollex_engine.clock import from_micros
from recollex_engine.collection import paused
from recollex_engine.columns import Columns
from recollex_engine.draft import Draft
from recollex_engine.errors import (
    ClosedError,
    InputError,
    ModelMismatchError,
    OperationError,
    ReadOnlyError,
    UnknownIdError,
)
from recollex_engine.fact_draft import FactDraft
from recollex_engine.fact_view import FactView
from recollex_engine.lexicon import Lexicon
from recollex_engine.log_format import BEFORE_ALL_TIMES
from recollex_engine.maintenance import Maintenance
from recollex_engine.memory import Memory, Recall, read_memories
from recollex_engine.operations import Operation, Retain
from recollex_engine.passage_vectors import passage_vectors
from recollex_engine.plan import Plan, find_plan
from recollex_engine.preparation import prepare
from recollex_engine.preset import Preset
from recollex_engine.question import Question
from recollex_engine.reader import Reader
from recollex_engine.recall import recall
from recollex_engine.recorded_op import op_at
from recollex_engine.replica import Replica
from recollex_engine.settings import Settings
from recollex_engine.statement import MAX_BATCH, Statement, check_embeddings
from recollex_engine.stats import Stats, count
from recollex_engine.surroundings import Embedder, Progress, Surroundings
from recollex_engine.tokens import TokenCounter, open_counter
from recollex_engine.view import View
from recollex_engine.writer import Overtaken, Writer

BATCH = 100
"""Memories in a call from which the garbage collector is paused while they are recorded."""


class Agent:
    """One agent's memory in one folder.

    Threads: any number may call anything; writes happen in one order. Nothing is put on disk
    before the first retain.
    """

    def __init__(self, name: str, folder: Path, surroundings: Surroundings) -> None:
        self.name = name
        self.folder = folder
        self._shared = surroundings
        self._opening = threading.RLock()
        self._writer: Writer | None = None
        self._maintenance: Maintenance | None = None
        self._reader: Reader | None = None
        self._analyzers: dict[str, Analyzer] = {}
        self._counter: TokenCounter | None = None
        self._facts: FactView | None = None
        self.clock = surroundings.clock
        self._closed = False
        if folder.exists() and not surroundings.read_only:
            self._writing()  # a second writer learns it here, not at its first retain

    # -- opening ---------------------------------------------------------------------------------

    def _writing(self) -> Writer:
        self._check_writable()
        with self._opening:
            self._check_open()
            if self._writer is None:
                self._shared.create()
                writer = Writer(
                    self.folder, self._shared.durability, self._shared.clock, self._embedder_for
                )
                try:
                    if writer.settings is not None:
                        self._embedder_for(writer.settings)
                except BaseException:
                    writer.close()  # or the folder stays locked
                    raise
                self._maintenance = Maintenance(self.name, writer, self._shared)
                self._writer = writer
            return self._writer

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError(f"agent {self.name!r} was closed: open the store again")

    def _check_writable(self) -> None:
        """Raise unless this agent may be written; nothing is put on disk."""
        self._check_open()
        if self._shared.read_only:
            raise ReadOnlyError(
                f"agent {self.name!r} was opened with read_only=True: open the store without it "
                "to write"
            )

    def _embedder_for(self, settings: Settings) -> Embedder:
        """Return the model, having checked that it is the one behind the agent's vectors."""
        embedder = self._shared.embedder()
        if embedder.fingerprint != settings.model:
            raise ModelMismatchError(self.name, settings.model, embedder.fingerprint)
        return embedder

    def view(self, op: int | None = None) -> View | None:
        """Return what is visible now, or was at operation ``op``; None before the first retain."""
        self._check_open()
        if self._writer is not None:
            return self._writer.replica.view(op)
        if self._reader is None:
            with self._opening:
                if self._reader is None:
                    if not (self.folder / "log").exists():
                        return None
                    reader = Reader(self.folder)
                    try:
                        if (settings := reader.replica.columns.settings) is not None:
                            self._embedder_for(settings)
                    except BaseException:
                        reader.close()
                        raise
                    self._reader = reader
        now = self._reader.view()
        return now if op is None else self._reader.replica.view(op)

    def replica(self) -> Replica:
        """Return the state behind `view`; only once there is one."""
        if self._writer is not None:
            return self._writer.replica
        assert self._reader is not None
        return self._reader.replica

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._shared.embedder().dimension

    def _analyzer(self, language: str) -> Analyzer:
        if language not in self._analyzers:
            self._analyzers[language] = Analyzer(language)
        return self._analyzers[language]

    def counter(self) -> TokenCounter:
        """Return the token counter of this process."""
        if self._counter is None:
            self._counter = open_counter(lambda text: self._shared.embedder().count_tokens(text))
        return self._counter

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
        if recorded_at is not None:
            self._check_recorded_at(recorded_at, writer)
        threshold = embedder.thresholds.link

        def record(plan: Plan) -> list[str]:
            fresh = [place for place in range(len(statements)) if place not in plan.held]
            said = self._shared.clock() if recorded_at is None else recorded_at
            settings = writer.settings if writer is not None else None
            analyzer = self._analyzer(settings.language if settings else self._shared.language)
            chosen = [statements[place] for place in fresh]
            with paused(len(chosen) >= BATCH):
                prepared = prepare(chosen, said, analyzer, self.counter())
            own = None if given is None else given[fresh]
            known = {place for place, at in enumerate(fresh) if at in plan.known}
            vectors = passage_vectors(
                embedder, prepared, known, own, self._shared.threads, progress
            )
            open_writer = self._writing()
            self._create(open_writer, embedder, recorded_at)
            with paused(len(chosen) >= BATCH):
                new = iter(
                    open_writer.retain(
                        prepared, vectors, recorded_at, plan.closed, threshold, plan.as_of
                    )
                )
            places = range(len(statements))
            return [plan.held[place] if place in plan.held else next(new) for place in places]

        try:
            ids = record(find_plan(writer, statements, replace_document))
        except Overtaken:
            writer = self._writing()
            with writer.lock:  # nobody writes meanwhile
                ids = record(find_plan(writer, statements, replace_document))
        self._writing()
        assert self._maintenance is not None
        self._maintenance.after_write()
        return ids

    def _check_recorded_at(self, recorded_at: int, writer: Writer | None) -> None:
        last = writer.log.position.recorded_at if writer is not None else BEFORE_ALL_TIMES
        if recorded_at <= last:
            raise InputError(
                f"recorded_at must be later than the last recorded time, {from_micros(last)}, "
                f"got {from_micros(recorded_at)}"
            )

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
        embedder = self._shared.embedder()
        writer = self._writing() if self.folder.exists() else None
        if not operations:
            return 0
        if recorded_at is not None:
            try:
                self._check_recorded_at(recorded_at, writer)
            except InputError as error:
                raise OperationError(where[0], error) if where else error from None
        statements = [each.statement for each in operations if isinstance(each, Retain)]
        said = self._shared.clock() if recorded_at is None else recorded_at
        settings = writer.settings if writer is not None else None
        analyzer = self._analyzer(settings.language if settings else self._shared.language)
        prepared = prepare(statements, said, analyzer, self.counter()) if statements else []

        def fill(draft: Draft) -> None:
            FactDraft(draft, self.name, prepared).add(operations, notes, where)

        if writer is None:  # what is refused must not make a folder
            fill(Draft(Replica(self.folder), Lexicon()))
        vectors = passage_vectors(embedder, prepared, set(), None, self._shared.threads, None)
        writer = self._writing()
        self._create(writer, embedder, recorded_at)
        draft = writer.transact(fill, vectors, recorded_at, embedder.thresholds.link)
        assert self._maintenance is not None
        self._maintenance.after_write()
        return len(draft.operations)

    def forget(self, ids: Sequence[str]) -> None:
        """Forget memories, as one transaction: they leave every later view."""
        self._check_writable()
        if not ids:
            return
        if not self.folder.exists():
            raise UnknownIdError(ids[0], self.name)
        self._writing().forget(ids, self.name)

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
            return Recall.empty(question.text)
        settings = view.columns.settings
        analyzer = self._analyzer(settings.language)
        return recall(view, question, preset, analyzer, embedder, now, settings.counter, explain)

    def facts(self, recorded: int | None = None, world: int | None = None) -> FactView:
        """Return the facts of a cut: as recorded by a moment, and as of a moment of the world."""
        view = self.view()
        if view is None:
            return FactView(Columns(self.folder / "none"), 0, world)
        columns, op = view.columns, view.op
        if recorded is not None:
            op = op_at(columns, op, recorded, self.clock)
        last = self._facts
        if last is not None and (last.columns, last.op, last.world) == (columns, op, world):
            return last
        self._facts = found = FactView(columns, op, world)
        return found

    def get(self, id: str) -> Memory:
        """Return the memory with this id. Raises `UnknownIdError` for none, or a forgotten one."""
        view = self.view()
        memory = view.columns.newest(id, view.memories, view.op) if view else None
        if view is None or memory is None:
            raise UnknownIdError(id, self.name)
        return read_memories(view, [memory])[0]

    def list(self, after: str | None, limit: int) -> list[Memory]:
        """Return up to ``limit`` open memories in recorded order, behind the memory ``after``."""
        view = self.view()
        if view is None:
            if after is not None:
                raise UnknownIdError(after, self.name)
            return []
        first = 0
        if after is not None:
            key = view.columns.dictionary["ids"].get(after)
            if key is None or not (view.of_memories("id") == key).any():
                raise UnknownIdError(after, self.name)
            first = int(np.flatnonzero(view.of_memories("id") == key)[-1]) + 1
        found = np.flatnonzero(view.open[first:])[:limit] + first
        return read_memories(view, found.tolist())

    def stats(self) -> Stats:
        """Return what the agent holds."""
        return count(self.view(), self.folder)

    def close(self) -> None:
        """Finish what is pending and let the next writer in; the second call does nothing."""
        with self._opening:
            if self._closed:
                return
            self._closed = True
            reader, maintenance = self._reader, self._maintenance
        if reader is not None:
            reader.close()
        if maintenance is not None:
            try:
                maintenance.close()
            finally:
                self._writer = None
