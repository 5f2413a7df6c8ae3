"""How is one agent's memory written? Retained, corrected, forgotten, in transactions."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from recollex_engine.agents.agent_files import AgentFiles
from recollex_engine.agents.erasing import erasing_of, select
from recollex_engine.agents.log_head import end_of
from recollex_engine.agents.readable_agent import ReadableAgent
from recollex_engine.clock import from_micros
from recollex_engine.domain.act import RETAIN, Act, note
from recollex_engine.domain.checks import check_embeddings
from recollex_engine.domain.erasure import Erasure, Selection
from recollex_engine.domain.filter import Filter
from recollex_engine.domain.operations import Operation
from recollex_engine.domain.retention import RETENTION, Expiry, Retention
from recollex_engine.domain.settings import Settings
from recollex_engine.domain.statement import MAX_BATCH, Statement
from recollex_engine.errors import InputError, OperationError, UnknownIdError
from recollex_engine.log.format import START
from recollex_engine.log.head import Head
from recollex_engine.models.embedder import Embedder, Progress
from recollex_engine.state.replica import LOG, Replica
from recollex_engine.state.view import View
from recollex_engine.text.analyzer import ANALYZER_VERSION
from recollex_engine.text.token_counter import TokenCounter, open_counter
from recollex_engine.writing.correction import find_amendment, find_correction
from recollex_engine.writing.erasing_writer import erase_with
from recollex_engine.writing.erasure import read_plan
from recollex_engine.writing.erasure_plan import Counts, Erasing
from recollex_engine.writing.plan import find_plan
from recollex_engine.writing.recording import record_operations, record_statements
from recollex_engine.writing.reembedding import alone_in
from recollex_engine.writing.retention import to_erase
from recollex_engine.writing.store_context import StoreContext
from recollex_engine.writing.taking_away import of_filter, of_ids
from recollex_engine.writing.write_context import WriteContext
from recollex_engine.writing.writer import StalePlan, Unsettled, Writer

Written = TypeVar("Written")


class Agent(ReadableAgent):
    """One agent's memory in one folder.

    Threads: any number may call any method; writes happen in one order.
    """

    def __init__(
        self, name: str, folder: Path, context: StoreContext, key: bytes | None = None
    ) -> None:
        super().__init__(name, folder, context)
        self.files: AgentFiles = AgentFiles(name, folder, context, key)
        self._counter: TokenCounter | None = None

    def writable(self) -> "Agent":
        """Return the agent itself; a cut raises `ReadOnlyError`."""
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
        ``replace_document``: a document whose open memories are closed in the same transaction,
        unless they are among the statements.
        """
        self.files.check_writable()
        if len(statements) > MAX_BATCH:
            raise InputError(
                f"one call may retain up to {MAX_BATCH:,} memories, got {len(statements):,}: "
                "retain them in batches"
            )
        embedder = self.embedder
        given = None
        if embeddings is not None:
            given = check_embeddings(embeddings, "embedding", len(statements), embedder.dimension)
        if not statements and replace_document is None:
            return []
        first = self._write_context(embedder, recorded_at)
        first.check_recorded_at()

        def write(context: WriteContext) -> list[str]:
            plan = find_plan(context.writer, statements, replace_document)
            return record_statements(context, statements, plan, given, RETAIN, progress)

        return self._write(first, write)

    def correct(
        self,
        id: str,
        text: str,
        changes: dict[str, Any],
        act: Act,
        embedding: object = None,
        recorded_at: int | None = None,
    ) -> None:
        """Close the open memory ``id`` and record its replacement under the same id.

        See `correction.find_correction`. ``act``: who corrects it, and why.
        """
        self.files.check_writable()
        if not self.folder.exists():
            raise UnknownIdError(id, self.name)
        given = None
        if embedding is not None:
            given = check_embeddings([embedding], "embedding", 1, self.dimension)
        first = self._write_context(self.embedder, recorded_at)
        first.check_recorded_at()

        def write(context: WriteContext) -> None:
            assert context.writer is not None
            plan, statement = find_correction(context.writer, self.name, id, text, changes)
            record_statements(context, [statement], plan, given, act, None)

        self._write(first, write)

    def amend(
        self, id: str, changes: dict[str, Any], act: Act, recorded_at: int | None = None
    ) -> None:
        """Change fields of the open memory ``id``, but not its text; nothing is embedded."""
        self.files.check_writable()
        if not self.folder.exists():
            raise UnknownIdError(id, self.name)
        first = self._write_context(self.embedder, recorded_at)
        first.check_recorded_at()

        def write(context: WriteContext) -> None:
            assert context.writer is not None
            plan, statement, computed = find_amendment(context.writer, self.name, id, changes)
            record_statements(context, [statement], plan, None, act, None, computed)

        self._write(first, write)

    def take_away(self, act: Act, ids: Sequence[str], recorded_at: int | None = None) -> int:
        """Forget or archive memories as one transaction: later views do not show them.

        Returns how many.
        """
        self.files.check_writable()
        if not ids:
            return 0
        if not self.folder.exists():
            raise UnknownIdError(ids[0], self.name)
        choose = of_ids(ids, act.kind, self.name)
        return self._settled(lambda writer: writer.take_away(act, choose, recorded_at))

    def take_away_those(self, act: Act, wanted: Filter, recorded_at: int | None = None) -> int:
        """Do so with the open memories that pass a filter; return how many."""
        self.files.check_writable()
        if not self.folder.exists():
            return 0
        return self._settled(lambda writer: writer.take_away(act, of_filter(wanted), recorded_at))

    def erase(self, selection: Selection, note: dict[str, str], preview: bool = False) -> Erasure:
        """Erase memories from every file of the agent; ``preview`` only counts them.

        ``note``: who does it, and why. Later calls wait meanwhile; recalls go on. Raises
        `LockedError` while another process moves the agent to another model. Cost: that of a
        rebuild, 50 us for a memory.
        """
        self.files.check_writable()
        if not self.folder.exists():
            if selection.ids:
                raise UnknownIdError(selection.ids[0], self.name)
            return Erasure(**asdict(Counts()))
        return self.erase_chosen(lambda view: select(view, selection, self.name), note, preview)

    def erase_chosen(
        self, choose: Callable[[View], Erasing], note: dict[str, str], preview: bool = False
    ) -> Erasure:
        """Erase what ``choose`` returns for the view of now; see `erase`. The agent exists."""
        return self._settled(lambda writer: self._erase_once(writer, choose, note, preview))

    def _erase_once(
        self,
        writer: Writer,
        choose: Callable[[View], Erasing],
        note: dict[str, str],
        preview: bool,
    ) -> Erasure:
        maintenance = self.files.maintenance
        alone = "it makes vectors of what would be erased: wait for it"
        with alone_in(self.folder / "REEMBED", alone), maintenance.paused(), writer.lock:
            replica = writer.replica
            erasing = choose(replica.view(replica.columns.op))
            if preview:
                return Erasure(**asdict(read_plan(self.folder / LOG, erasing)[0].counts))
            was_folded = replica.manifest is not None
            del replica
            counts, operation = erase_with(writer, erasing, note)
            self._facts = None
        if operation is None:
            return Erasure(**asdict(counts))
        if was_folded:
            maintenance.fold_again()
        at = from_micros(operation.recorded_at)
        return Erasure(**asdict(counts), op=operation.op, recorded_at=at)

    def set_rules(self, rules: Sequence[Retention], note: dict[str, str]) -> None:
        """Set all retention rules of the agent; later writes and `expire` apply them."""
        self.files.check_writable()
        context = self._write_context(self.embedder, None)
        context.open()
        self._settled(lambda writer: writer.set_rules(rules, note))

    def expire(self) -> Expiry:
        """Apply the retention rules as of now; see `Expiry`. Cost: an erasure where one is due."""
        self.files.check_writable()
        if not self.folder.exists():
            return Expiry()
        forgotten = self._settled(lambda writer: writer.expire())
        erasing = [rule for rule in self.retention() if rule.erase]
        now, view = self.clock(), self.view()
        if view is None or not len(to_erase(view.columns, erasing, now)):
            return Expiry(forgotten=forgotten)
        done = self.erase_chosen(
            lambda view: erasing_of(view, to_erase(view.columns, erasing, now)),
            note(RETENTION, "; ".join(rule.why for rule in erasing)),
        )
        return Expiry(forgotten=forgotten, erased=done.memories)

    def transact(
        self,
        operations: Sequence[Operation],
        notes: Sequence[dict[str, str]],
        recorded_at: int | None = None,
        where: Sequence[str] | None = None,
    ) -> int:
        """Record ``operations`` as one transaction: all of them or none.

        ``notes`` hold for each operation who makes it and why, ``where`` its name in an error; see
        `FactDraft.add`. Returns the number of records; an operation that changes nothing makes
        none.
        """
        self.files.check_writable()
        embedder = self.embedder
        if not operations:
            return 0
        first = self._write_context(embedder, recorded_at)
        try:
            first.check_recorded_at()
        except InputError as error:
            raise OperationError(where[0], error) if where else error from None
        return self._write(
            first, lambda context: record_operations(context, operations, notes, where)
        )

    def _write_context(
        self, embedder: Embedder, recorded_at: int | None, held: Writer | None = None
    ) -> WriteContext:
        """Return the objects that a write needs; a folder that does not exist is not made yet.

        ``held``: the writer whose lock this thread holds, if it holds one.
        """
        shared = self.context
        writer = held or (self.files.writer() if self.folder.exists() else None)
        settings = None if writer is None else writer.settings
        if settings is None:
            settings = Settings(
                embedder.fingerprint,
                embedder.dimension,
                shared.language,
                ANALYZER_VERSION,
                self.counter().name,
                locale=shared.locale,
            )
        return WriteContext(
            agent=self.name,
            folder=self.folder,
            writer=writer,
            open_writer=self.files.writer if held is None else lambda: held,
            settings=settings,
            embedder=embedder,
            analyzer=shared.analyzer(settings.language),
            counter=self.counter,
            clock=self.clock,
            threads=shared.threads,
            recorded_at=recorded_at,
        )

    def _write(self, context: WriteContext, write: Callable[[WriteContext], Written]) -> Written:
        """Call ``write`` and return its result; call it again if its plan was stale.

        Optimistic concurrency: the first call plans and embeds without the writer's lock. The
        second holds it, so that no other thread can record anything meanwhile.
        """
        embedder, recorded_at = context.embedder, context.recorded_at
        while True:
            try:
                written = self._write_once(context, write)
                break
            except Unsettled:  # another thread's write was interrupted
                context = self._write_context(embedder, recorded_at)
        self.files.maintenance.after_write()
        return written

    def _write_once(
        self, context: WriteContext, write: Callable[[WriteContext], Written]
    ) -> Written:
        try:
            return write(context)
        except Unsettled:
            raise
        except StalePlan:
            writer = self.files.writer()
            with writer.lock:
                return write(self._write_context(context.embedder, context.recorded_at, writer))

    def _settled(self, work: Callable[[Writer], Written]) -> Written:
        """Return ``work(writer)``, with a writer whose log was opened again if that is needed."""
        while True:
            try:
                return work(self.files.writer())
            except Unsettled:
                continue

    @contextmanager
    def together(self) -> Iterator[None]:
        """Let this thread's writes in the body share one flush; see `Writer.together`."""
        if self.context.read_only or not self.folder.exists():
            yield  # the first write makes the folder, and has a flush of its own
            return
        with self.files.writer().together():
            yield

    def checkpoint(self) -> None:
        """Fold the tail into the indexes, so that opening is quick; recalls return the same.

        Raises `StoreFullError`; then the state is as before.
        """
        self.files.check_writable()
        if self.folder.exists():
            self._settled(lambda _: self.files.maintenance.checkpoint())

    # -- reading ---------------------------------------------------------------------------------

    def check_open(self) -> None:
        """Raise `ClosedError` once the agent was closed."""
        self.files.check_open()

    def view(self, op: int | None = None) -> View | None:
        """Return the view of now, or of operation ``op``; None before the first retain."""
        return self.files.view(op)

    def replica(self) -> Replica:
        """Return the replica that `view` reads; only after there is one."""
        return self.files.replica()

    def head(self) -> Head:
        """Return the end of the log; of an agent that can be written, it is on the disk by then."""
        self.files.check_open()
        if self.folder.exists() and not self.context.read_only:
            return self._settled(end_of)
        return Head.of(START if self.view() is None else self.replica().position)

    def counter(self) -> TokenCounter:
        """Return the token counter of this process."""
        if self._counter is None:
            self._counter = open_counter(lambda text: self.context.embedder().count_tokens(text))
        return self._counter

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
        if self.files.opened_writer is not None:
            return self._settled(lambda writer: writer.op_at(recorded_at))
        return view.op if view is not None else 0

    def close(self) -> None:
        """Finish pending work and release the lock file; a second call does nothing."""
        self.files.close()
