"""How is one agent's memory written? Retained, corrected, forgotten, in transactions."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from recollex_engine.agents.folder_names import remove_left_over
from recollex_engine.agents.readable_agent import OpenedAgent, forgotten_with, none_written
from recollex_engine.clock import check_recorded_at, from_micros
from recollex_engine.domain.checks import check_embeddings, refuse_reserved
from recollex_engine.domain.filter import Filter
from recollex_engine.domain.ids import ERASED_IDS, erased_ids, new_key
from recollex_engine.domain.operations import Operation
from recollex_engine.domain.removal import RETENTION, Erasure, Expiry, Retention, Selection
from recollex_engine.domain.schema import ERASE, NONE
from recollex_engine.domain.settings import Settings
from recollex_engine.domain.statement import MAX_BATCH, Statement
from recollex_engine.domain.trust import RETAIN, Act, note
from recollex_engine.errors import InputError, OperationError, UnknownIdError
from recollex_engine.log.reader import LogOperation, last_of_kind
from recollex_engine.models.embedder import Embedder, EmbeddingProgress
from recollex_engine.ranking.filters import passing
from recollex_engine.recall import lookups
from recollex_engine.state.access_journal import entries
from recollex_engine.state.replica import LOG
from recollex_engine.state.view import View
from recollex_engine.text.analyzer import ANALYZER_VERSION
from recollex_engine.writing.contexts import WriteContext
from recollex_engine.writing.draft import Lexicon
from recollex_engine.writing.erasure import Intent, begun, finish, read_plan, remove_intent
from recollex_engine.writing.erasure_plan import Counts, Erasing
from recollex_engine.writing.recording import (
    add_surfaces,
    find_amendment,
    find_correction,
    find_plan,
    record_operations,
    record_statements,
)
from recollex_engine.writing.reembedding import alone_in
from recollex_engine.writing.retention import confirmed, to_erase
from recollex_engine.writing.taking_away import (
    FORGET,
    ChooseMemories,
    of_filter,
    of_ids,
    resting_on,
)
from recollex_engine.writing.writer import StalePlan, Unsettled, Writer


# Which memories are erased? Those that a selection finds in a view.
def select(view: View, selection: Selection, agent: str) -> Erasing:
    """Return the memories that a selection finds, open and closed, with all versions of their ids.

    Raises `UnknownIdError` for an id that the agent does not have. Cost: O(memories).
    """
    if selection.everything:
        return Erasing(everything=True)
    ids = view.of_memories("id")
    erased = view.of_memories("closed_by") == view.of_memories("op")
    mask = np.ones(view.memories, np.uint8)
    mask[erased] = 0
    if selection.ids:
        keys = [_key(view, id, agent) for id in selection.ids]
        mask[~np.isin(ids, np.array(keys, ids.dtype))] = 0
    mask = passing(view, selection.filter, mask)
    found = np.isin(ids, np.unique(ids[mask == 1]))
    return erasing_of(view, np.flatnonzero(found))


def erasing_of(view: View, memories: npt.NDArray[np.int64]) -> Erasing:
    """Return what to erase for some memories, by their ordinals: int64[n].

    Facts and opinions that rest on one of them go with it: they may say what it said.
    """
    memories = np.union1d(memories, resting_on(view, memories))
    documents = np.unique(view.of_memories("document")[memories])
    names = (view.columns.label(each) for each in documents.tolist() if each != NONE)
    return Erasing(frozenset(memories.tolist()), frozenset(name for name in names if name))


def _key(view: View, id: str, agent: str) -> int:
    key = view.columns.dictionary["ids"].get(id)
    if key is None or not bool(np.any(view.of_memories("id") == key)):
        raise UnknownIdError(id, agent)
    return key


# How does an open writer erase? It has the files rewritten, and opens them again.
def erase_with(
    writer: Writer, erasing: Erasing, note: dict[str, str]
) -> tuple[Counts, LogOperation | None]:
    """Erase memories from every file; return the counts, and the operation that says so.

    The caller has held ``writer.lock`` since it chose what to erase. No checkpoint runs and no
    graph is built meanwhile. See `erasure`. If it fails midway, the writer refuses every later
    write, and the next opening completes the erasure. None for an erasure of nothing.
    """
    folder = writer.log.folder.parent
    writer.log.sync()
    plan = read_plan(writer.log.folder, erasing)[0]
    counts = plan.counts
    if not any(asdict(counts).values()) and not erasing.everything:
        return counts, None
    at = max(writer.clock(), writer.log.position.recorded_at + 1, writer.shown + 1)
    payload = note | asdict(counts)
    if erasing.everything:
        payload["everything"] = True
    if plan.ids:
        last = last_of_kind(writer.log.folder, ERASE)
        said = {} if last is None or last.payload is None else last.payload
        key = said.get(ERASED_IDS, {}).get("key") or new_key()  # one key: one digest an id to ask
        payload[ERASED_IDS] = erased_ids(key, plan.ids)
    intent = Intent(writer.log.position.op + 1, at, erasing, payload)
    intent.write(folder)
    try:
        finish(folder, intent, writer.log)
        # Before the intent is removed: a backup without it reads as far as COMMIT, and would have
        # the stubs, but not the operation that says so.
        writer.commit_word.op = intent.op
        remove_intent(folder)
        generation = max(writer.replica.generation, writer.commit_word.generation)
        replica = writer.started_again()
        replica.generation = max(replica.generation, generation)
        writer.replica, writer.lexicon = replica, Lexicon()
    except OSError as error:
        writer.log.poison(error)
        raise begun(error, folder) from error
    except BaseException as error:
        writer.log.poison(error)
        raise
    return counts, LogOperation(intent.op, at, ERASE, payload)


Written = TypeVar("Written")


class Agent(OpenedAgent):
    """One agent's memory in one folder.

    Threads: any number may call any method; writes happen in one order.
    """

    def writable(self) -> "Agent":
        """Return the agent itself; a cut raises `ReadOnlyError`."""
        return self

    def retain(
        self,
        statements: Sequence[Statement],
        embeddings: object = None,
        recorded_at: int | None = None,
        replace_document: str | None = None,
        progress: EmbeddingProgress | None = None,
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
        for each in statements:
            if each.id is not None:
                refuse_reserved(each.id)
        embedder = self.embedder
        given = None
        if embeddings is not None:
            given = check_embeddings(embeddings, "embedding", len(statements), embedder.dimension)
        if not statements and replace_document is None:
            if recorded_at is not None:
                check_recorded_at(recorded_at, self.clock())
            return []

        def write(context: WriteContext) -> list[str]:
            said = list(map(context.placed, statements))
            plan = find_plan(context.writer, said, replace_document)
            return record_statements(context, said, plan, given, RETAIN, progress)

        return self._write(write, recorded_at)

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
        if not self.files.are_there:
            raise UnknownIdError(id, self.name)
        given = None
        if embedding is not None:
            given = check_embeddings([embedding], "embedding", 1, self.dimension)

        def write(context: WriteContext) -> None:
            assert context.writer is not None
            plan, statement = find_correction(context.writer, self.name, id, text, changes)
            record_statements(context, [statement], plan, given, act, None)

        self._write(write, recorded_at)

    def amend(
        self, id: str, changes: dict[str, Any], act: Act, recorded_at: int | None = None
    ) -> None:
        """Change fields of the open memory ``id``, but not its text; nothing is embedded."""
        self.files.check_writable()
        if not self.files.are_there:
            raise UnknownIdError(id, self.name)

        def write(context: WriteContext) -> None:
            assert context.writer is not None
            plan, statement, computed = find_amendment(context.writer, self.name, id, changes)
            record_statements(context, [statement], plan, None, act, None, computed)

        self._write(write, recorded_at)

    def take_away(self, act: Act, ids: Sequence[str], recorded_at: int | None = None) -> int:
        """Forget or archive memories as one transaction: later views do not show them.

        Returns how many.
        """
        self.files.check_writable()
        if not ids:
            return 0
        if not self.files.are_there:
            raise UnknownIdError(ids[0], self.name)
        return self._take_away(act, of_ids(ids, act.kind, self.name), (), recorded_at)

    def take_away_matching(self, act: Act, wanted: Filter, recorded_at: int | None = None) -> int:
        """Do so with the open memories that pass a filter; return how many."""
        wanted.check_removal()
        self.files.check_writable()
        if not self.files.are_there:
            return 0
        return self._take_away(act, of_filter(wanted), wanted.document_id, recorded_at)

    def _take_away(
        self, act: Act, choose: ChooseMemories, documents: Collection[str], recorded_at: int | None
    ) -> int:
        """Do so with what ``choose`` returns; the talks of ``documents`` forget, too."""
        with none_written(self.heard if act.kind == FORGET else (), documents) as heard:
            chosen = heard.taking(choose)
            return self.settled(lambda writer: writer.take_away(act, chosen, recorded_at))

    def erase(self, selection: Selection, note: dict[str, str], preview: bool = False) -> Erasure:
        """Erase memories from every file of the agent; ``preview`` only counts them.

        ``note``: who does it, and why. Recalls go on meanwhile. Raises `LockedError` while another
        process moves the agent to another model. Cost: that of a rebuild, 50 us for a memory.
        """
        self.files.check_writable()
        if not self.files.are_there:
            if selection.ids:
                raise UnknownIdError(selection.ids[0], self.name)
            with none_written(() if preview else self.heard, selection.filter.document_id) as heard:
                heard.forget(None if selection.everything else ())
            return Erasure(**asdict(Counts()))
        chosen = partial(select, selection=selection, agent=self.name)
        return self.erase_chosen(chosen, note, preview, selection.filter.document_id)

    def erase_chosen(
        self,
        choose: Callable[[View], Erasing],
        note: dict[str, str],
        preview: bool = False,
        documents: Collection[str] = (),
    ) -> Erasure:
        """Erase what ``choose`` returns for the view of now; see `erase`. The agent exists."""
        with none_written(() if preview else self.heard, documents) as heard:
            chosen = heard.erasing(choose)
            return self.settled(lambda writer: self._erase_once(writer, chosen, note, preview))

    def _erase_once(
        self,
        writer: Writer,
        choose: Callable[[View], Erasing],
        note: dict[str, str],
        preview: bool,
    ) -> Erasure:
        maintenance = self.files.maintenance
        alone = "it computes again what belongs to what would be erased: wait for it"
        with alone_in(self.folder / "REEMBED", alone), maintenance.paused(), writer.lock:
            replica = writer.replica
            erasing = choose(replica.view(replica.columns.op))
            if preview:
                return Erasure(**asdict(read_plan(self.folder / LOG, erasing)[0].counts))
            was_folded = replica.manifest is not None
            del replica
            self.context.accesses.write()
            counts, operation = erase_with(writer, erasing, note)
            self._facts = None
        remove_left_over(self.folder.parent.parent)
        if operation is None:
            return Erasure(**asdict(counts))
        if was_folded:
            maintenance.fold_again()
        at = from_micros(operation.recorded_at)
        return Erasure(**asdict(counts), op=operation.op, recorded_at=at)

    def used(self, ids: Sequence[str], kinds: Sequence[str]) -> None:
        """Record that memories were used, or helped or misled; see `access_journal.KINDS`.

        Raises `UnknownIdError` for an id that is not there; then nothing is recorded.
        """
        self.files.check_open()
        view = self.view()
        if view is None:
            raise UnknownIdError(ids[0], self.name)
        memories = np.array([lookups.ordinal(view, id, self.name) for id in ids], np.int64)
        now = self.clock()
        self.journal.append(np.concatenate([entries(now, memories, kind) for kind in kinds]), now)

    def set_rules(self, rules: Sequence[Retention], note: dict[str, str]) -> None:
        """Set all retention rules of the agent; later writes and `expire` apply them."""
        self.files.check_writable()
        with self.files:
            self._write_context(self.embedder, None).open()
        self.settled(lambda writer: writer.set_rules(rules, note))

    def expire(self) -> Expiry:
        """Apply the retention rules as of now; see `Expiry`. Cost: an erasure where one is due."""
        self.files.check_writable()
        if not self.files.are_there:
            return Expiry()
        forgotten = self.settled(lambda writer: writer.expire())
        erasing = [rule for rule in self.retention() if rule.erase]
        view = self.view()
        if view is None:
            return Expiry(forgotten=forgotten)
        now = confirmed(view.columns, self.clock())
        if not len(to_erase(view.columns, erasing, now)):
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
        if not operations:
            return 0
        if recorded_at is not None:
            try:
                with self.files:
                    self._write_context(self.embedder, recorded_at).check_recorded_at()
            except InputError as error:
                raise OperationError(where[0], error) if where else error from None

        with forgotten_with(self.heard, operations, self.view):
            return self._write(
                lambda context: record_operations(context, operations, notes, where), recorded_at
            )

    def add_surfaces(self, progress: EmbeddingProgress | None = None) -> int:
        """Record the surfaces of facts, events and episodes that have none; return how many."""
        self.files.check_writable()
        if not self.files.are_there:
            return 0
        return self._write(lambda context: add_surfaces(context, progress), None)

    def _write_context(
        self, embedder: Embedder, recorded_at: int | None, held: Writer | None = None
    ) -> WriteContext:
        """Return the objects that a write needs; a folder that does not exist is not made yet.

        ``held``: the writer whose lock this thread holds, if it holds one.
        """
        shared = self.context
        writer = held
        if held is None and self.files.are_there:
            writer = self.files.writer()
        settings = None if writer is None else writer.settings
        if settings is None:
            settings = Settings(
                embedder.fingerprint,
                embedder.dimension,
                shared.language,
                ANALYZER_VERSION,
                self.counting.counter(None).name,
                locale=shared.locale,
                zone=shared.zone,
                entity_rule=shared.naming.rule,
            )
        return WriteContext(
            agent=self.name,
            folder=self.folder,
            writer=writer,
            open_writer=self.files.writer if held is None else lambda: held,
            settings=settings,
            embedder=embedder,
            analyzer=shared.analyzer(settings.language),
            counter=partial(self.counting.counter, settings.counter),
            clock=self.clock,
            threads=shared.threads,
            typed_by=shared.naming.typed_by,
            recorded_at=recorded_at,
        )

    def _write(self, write: Callable[[WriteContext], Written], recorded_at: int | None) -> Written:
        """Call ``write`` and return its result; call it again if its plan was stale.

        Optimistic concurrency: the first call plans and embeds without the writer's lock. The
        second holds it, so that no other thread can record anything meanwhile.
        """
        embedder = self.embedder
        with self.files:
            context = self._write_context(embedder, recorded_at)
            context.check_recorded_at()
            while True:
                try:
                    written = self._write_once(context, write)
                    break
                except Unsettled:  # another thread's write was interrupted
                    context = self._write_context(embedder, recorded_at)
            self.files.maintenance.after_write()
        for tell in self.context.written:
            tell(self)
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

    @contextmanager
    def together(self) -> Iterator[None]:
        """Let this thread's writes in the body share one flush; see `Writer.together`."""
        if self.context.read_only or not self.files.are_there:
            yield  # the first write makes the folder, and has a flush of its own
            return
        with self.files, self.files.writer().together():
            yield

    def checkpoint(self) -> None:
        """Fold the tail into the indexes, so that opening is quick; recalls return the same.

        Raises `StoreFullError`; then the state is as before.
        """
        self.files.check_writable()
        if self.files.are_there:
            self.settled(lambda _: self.files.maintenance.checkpoint())
