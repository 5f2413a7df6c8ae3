"""How is a transaction written? It is logged, applied, made durable and published.

The writer alone holds the agent's lock file. A call is one transaction: all of it is in the log, or
nothing. What depends on chance or on the version of the code, such as links, is logged with it.

What did an earlier writer leave unflushed? It is written once more, before it counts as flushed.
A system that could not write bytes to the disk may say so to one flush only. It goes on showing the
bytes, and no later flush writes them: a checkpoint over them would promise what a loss of power
takes. A writer whose flush failed writes no further, so they lie between the last flush and the
next opening. Written again, as they are, they are bytes that the next flush must take.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import orjson

from recollex_engine.clock import Clock, check_recorded_at
from recollex_engine.domain.removal import RETENTION, Retention
from recollex_engine.domain.settings import Settings
from recollex_engine.domain.trust import Act
from recollex_engine.errors import ClosedError, CorruptError, InputError
from recollex_engine.log.durability import Durability
from recollex_engine.log.files import plain_path
from recollex_engine.log.format import BEFORE_ALL_TIMES, START
from recollex_engine.log.home import LogHome
from recollex_engine.log.reader import (
    LogFollower,
    LogOperation,
    LogTransaction,
    StartProgress,
    progress_for,
)
from recollex_engine.log.writer import LogWriter
from recollex_engine.state.integrity import warn_of_answers
from recollex_engine.state.replica import LOG, Replica, read_files_ahead
from recollex_engine.state.view import View
from recollex_engine.storage.commit_word import CommitWord
from recollex_engine.storage.disk import (
    FolderFlush,
    flush_file,
    make_folder,
    open_file,
    system_errors,
    write_at,
)
from recollex_engine.storage.encryption import cipher_at, open_or_create_key
from recollex_engine.storage.lock import WriterLock
from recollex_engine.storage.unfinished import check_own_files
from recollex_engine.storage.vectors_file import HEADER_BYTES, VectorsWriter, checksum, row_bytes
from recollex_engine.writing.draft import Draft, Lexicon
from recollex_engine.writing.erasure import complete
from recollex_engine.writing.reembedding import remove_former
from recollex_engine.writing.restoration import TextEmbedder, mend_vectors, restore_vectors
from recollex_engine.writing.retention import RetentionRules, confirmed, rules_in_force
from recollex_engine.writing.taking_away import ChooseMemories, with_unsupported


# What does a writer do about damaged files? It starts from the log again, or says what is lost.
class Damaged(Protocol):
    """The parts of a writer that follow from its files."""

    lock: Any
    replica: Replica
    lexicon: Lexicon

    def started_again(self, *, whole: bool) -> Replica:
        """Return a replica of the files as they are now; ``whole``: compared with checksums."""


def view_of(writer: Damaged, op: int | None = None) -> View:
    """Return the view of now, or of operation ``op``; of new columns, if they were damaged."""
    if writer.replica.integrity.found:
        _start_again(writer)
    return writer.replica.view(op)


def make_sure(writer: Damaged, *, vectors: bool = True) -> None:
    """Return once all files were compared with their checksums: records rely on them.

    ``vectors`` False leaves out the vectors. Cost: nothing but the first time: then 0.3 ns for each
    byte that is not compared yet.
    """
    integrity = writer.replica.integrity
    if not integrity.is_done:
        integrity.finish(vectors=vectors)
    if integrity.found:
        _start_again(writer)


def _start_again(writer: Damaged) -> None:
    """Open the columns again where some were found to be damaged, comparing all of them first.

    Nothing was recorded since ``writer`` was opened: records wait for the comparison. Warns of the
    damage.
    """
    with writer.lock:
        before = writer.replica
        integrity = writer.replica.integrity
        if not integrity.found:
            return
        integrity.found = False
        integrity.note_lost(before.is_current)
        if integrity.damage is not None:
            warn_of_answers(integrity.damage)
            replica = writer.started_again(whole=True)
            replica.published = before.published
            replica.generation = before.generation
            writer.lexicon = Lexicon()
            writer.replica = replica


def finish_comparing(replica: Replica) -> None:
    """Compare all files but the vectors to the end, and warn of damage, before closing."""
    integrity = replica.integrity
    integrity.finish(vectors=False)
    if integrity.found and integrity.damage is not None:
        warn_of_answers(integrity.damage)
    integrity.note_lost(replica.is_current)


def restored(
    log: LogWriter,
    replica: Replica,
    commit: CommitWord,
    embedder_for: Callable[[Settings], TextEmbedder],
    clock: Clock,
    is_lost: bool,
) -> bool:
    """Embed again what is missing in the vectors file; return whether anything was changed.

    Does nothing unless vectors of the last operations are missing (``is_lost``, see
    `mend_vectors`), or the file differs from its checksum. If it differs in places and no model can
    make the vectors, warn and go on.
    """
    if is_lost:
        mend_vectors(log, replica, commit, embedder_for, clock)
        return True
    if replica.integrity.lost is None:
        return False
    try:
        restore_vectors(log, replica.vectors_path, embedder_for, clock)
    except CorruptError:
        replica.integrity.note_lost(replica.is_current)
        return False
    return True


_CHUNK = 1 << 20


def write_again(log: LogWriter, replica: Replica) -> bool:
    """Write again what follows the last checkpoint, unless HEAD says that all is flushed.

    For an opening, before anything is flushed. Return whether there was something. Raises
    `StoreFullError`. Cost: none after a flush of the last operation; else reading and writing the
    vectors after the checkpoint, and the last file of the log, of up to 64 MiB.
    """
    if log.known_op == log.position.op:
        return False
    manifest = replica.manifest
    settings = replica.settings
    last = log.position.file
    begun = START if manifest is None else manifest.position
    _rewrite(plain_path(log.folder, last), begun.offset if begun.file == last else 0)
    if settings is not None:
        rows = (
            0 if manifest is None else max((each.end_row for each in manifest.segments), default=0)
        )
        sealed = cipher_at(replica.vectors_path) is not None
        size = row_bytes(settings.dimension, sealed=sealed)
        _rewrite(replica.vectors_path, HEADER_BYTES + rows * size)
    return True


def _rewrite(path: Path, at: int) -> None:
    """Write the bytes of a file from ``at`` on as they are; nothing if there is no such file."""
    try:
        fd = open_file(path, os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        while True:
            with system_errors(path):
                data = os.pread(fd, _CHUNK, at)
            if not data:
                return
            write_at(fd, data, at, path)
            at += len(data)
    finally:
        os.close(fd)


class StalePlan(Exception):  # noqa: N818 - not an error: the caller plans again
    """Another thread recorded something since the caller made its plan."""


class Unsettled(StalePlan):
    """An interrupted write left the columns apart from the log: the caller opens the log again."""


class Writer:
    """The one writer of an agent's folder.

    An interrupt, or any error, between the log and the columns sets `must_reopen`: then every call
    raises `Unsettled` with nothing written, and `AgentFiles` opens the log again.

    Threads: any number; appends happen in one order, and threads that wait share one flush.
    """

    def __init__(
        self,
        folder: Path,
        durability: Durability,
        clock: Clock,
        embedder_for: Callable[[Settings], TextEmbedder],
        on_flush: Callable[[float], None] | None = None,
        start_progress: StartProgress | None = None,
        key: bytes | None = None,
        home: LogHome | None = None,
    ) -> None:
        make_folder(folder)
        self._has_home = home is not None
        self._names = FolderFlush(folder, folder.parent, folder.parent.parent)
        self.lock_file: WriterLock = WriterLock(folder / "LOCK")
        read_files_ahead(folder)
        try:
            check_own_files(folder)
            self._cipher = open_or_create_key(folder, key, has_log=(folder / LOG).exists())
            complete(folder)
            self.clock = clock
            self.lexicon: Lexicon = Lexicon()
            self.must_reopen: bool = False
            self._left_unflushed = True  # until a flush: vectors of an earlier process
            self._recording = False  # set while the columns may lack what the log has
            self._rules: RetentionRules | None = None  # None: to be read from the log
            self._drafting = False  # set while the lexicon may have names that the log lacks
            self.shown: int = BEFORE_ALL_TIMES  # the latest time of a cut that a caller was given
            self.vectors: VectorsWriter | None = None
            self.lock: threading.RLock = threading.RLock()
            self._publishing, self._together = threading.Lock(), threading.local()
            self.replica: Replica = Replica(folder)
            self.commit_word: CommitWord = CommitWord(folder / "COMMIT", writable=True)
            lost: list[Path] = []

            def read(follower: LogFollower) -> None:
                try:
                    self._recover(follower, start_progress)
                except CorruptError as error:
                    if self.settings is None or error.path != self.replica.vectors_path:
                        raise
                    lost.append(error.path)

            self.log: LogWriter = LogWriter(
                folder / LOG,
                self.replica.position,
                durability=durability,
                on_flush=on_flush,
                before_flush=self._flush_vectors,
                read=read,
                home=home,
            )
            if home is not None and (lost or self.replica.integrity.lost is not None):
                raise CorruptError(self.replica.vectors_path, "the vectors of its home", "others")
            self._left_unflushed = home is None and write_again(self.log, self.replica)
            if restored(self.log, self.replica, self.commit_word, embedder_for, clock, bool(lost)):
                self.replica = self.started_again(start_progress)
            # It never decreases, not even if the manifest was lost: readers wait for a greater one.
            self.replica.generation = max(self.replica.generation, self.commit_word.generation)
            self.commit_word.generation = self.replica.generation
            self.commit_word.op = self.replica.published
            if self.settings is not None:
                remove_former(folder, self.settings)
        except BaseException:
            try:
                if hasattr(self, "log"):
                    self.log.close()
            finally:
                self.lock_file.close()
            raise

    def started_again(self, progress: StartProgress | None = None, whole: bool = False) -> Replica:
        """Return a replica of the files as they are now."""
        replica = Replica(self.log.folder.parent, whole=whole)
        follower = LogFollower(self.log.folder, replica.position, verify=True)
        try:
            self._recover(follower, progress, replica)
        finally:
            follower.close()
        return replica

    def _recover(
        self,
        follower: LogFollower,
        start_progress: StartProgress | None,
        replica: Replica | None = None,
    ) -> None:
        """Apply the log after the last checkpoint, and check that its vectors are in the file.

        Raises `CorruptError` with the path of the vectors file if they are not.
        """
        replica = replica or self.replica
        with progress_for(start_progress, self.commit_word.op - replica.published) as progress:
            replica.follow(follower, None, check_vectors=True, progress=progress)
        if replica.columns.rows:
            replica.rows_of_file(0, replica.columns.rows)

    def _flush_vectors(self) -> None:
        self._names.flush()
        if self.vectors is not None:
            self.vectors.sync()
        elif self._left_unflushed and self.settings is not None:
            flush_file(self.replica.vectors_path)
        self._left_unflushed = False

    @property
    def settings(self) -> Settings | None:
        """The settings of the agent; None before it was created."""
        return self.replica.settings

    def check_place(self) -> None:
        """Raise `StoreMovedError` if a file that is open lost its name. Cost: 4 us."""
        self.lock_file.check_place()
        self.log.check_place()

    def check(self) -> None:
        """Raise `Unsettled`, or as `check_place` and `LogWriter.check`; the caller holds `lock`."""
        self.check_settled()
        self.check_place()
        self.log.check()

    def check_settled(self) -> None:
        """Raise `Unsettled` unless the columns hold what the log has; the caller holds `lock`."""
        self.must_reopen = self.must_reopen or self._recording or self.log.must_reopen
        if self.must_reopen:
            raise Unsettled

    def create(self, settings: Settings, before: int | None) -> None:
        """Record the settings of an agent that has none; ``before``: the next recorded time."""
        with self.lock:
            self.check()
            if self.settings is None:
                at = None if before is None else before - 1
                self._commit([("create", settings.to_payload())], None, at)

    def transact(
        self,
        fill: Callable[[Draft], None],
        vectors: npt.NDArray[np.float16],
        recorded_at: int | None,
        link_threshold: float | None = None,
        as_of: int | None = None,
    ) -> Draft:
        """Record what ``fill`` puts into a draft, as one transaction; return the draft.

        ``vectors`` float16[passages, dimension]: of the passages of all statements that ``fill``
        adds, in order. A statement that is equal to the memory with its id is left out; else it
        replaces that memory. ``as_of``: the last operation when the caller made its plan; raises
        `StalePlan` if another was recorded since. If ``fill`` raises, nothing is recorded.
        """
        try:
            self.log.check()
        except ClosedError:
            self.check_settled()  # another writer may have taken its place
            raise
        with self.lock:
            self.check()
            self.check_recorded_at(recorded_at)
            if as_of is not None and self.replica.columns.op > as_of:
                raise StalePlan
            if self._drafting:
                self.lexicon.forget_names()
            self._drafting = True
            draft = Draft(self.replica, self.lexicon)
            try:
                fill(draft)
            except InputError:
                self.publish(self.replica.columns.op)  # the settings of a new agent are recorded
                raise
            op = self._record(draft, vectors.view(np.uint16), recorded_at, link_threshold)
            self._drafting = False
            if draft.operations:
                with suppress(OSError):  # it is logged; the next call applies the rules
                    last = self.log.position.recorded_at
                    self._expire(min(last, self.clock()), last + 1)
                op = self.replica.columns.op
        self.publish(op)
        return draft

    def _record(
        self,
        draft: Draft,
        vectors: npt.NDArray[np.uint16],
        recorded_at: int | None,
        link_threshold: float | None,
    ) -> int:
        """Write the vectors, find the links, commit; return the last op, not yet published."""
        if not draft.operations:
            return self.replica.columns.op
        if len(draft.kept) < len(vectors):
            vectors = vectors[draft.kept]
        stored = b""
        if len(vectors):
            stored = self._append_vectors(vectors)
            if link_threshold is not None:
                draft.link(vectors, link_threshold)
            draft.retained[0]["vectors"] = {"rows": len(vectors), "sha256": checksum(vectors)}
        draft.count_tokens()
        return self._commit(draft.announced, vectors, recorded_at, stored)

    def take_away(self, act: Act, choose: ChooseMemories, recorded_at: int | None = None) -> int:
        """Record that memories are forgotten or archived, as one transaction; return how many.

        Nothing is recorded if ``choose`` raises, or returns none.
        """
        with self.lock:
            self.check()
            self.check_recorded_at(recorded_at)
            if not (memories := choose(self.replica)):
                return 0
            records = [(act.kind, {"memories": memories, **act.note})]
            op = self._commit(with_unsupported(self.replica, records), None, recorded_at)
        self.publish(op)
        return len(memories)

    def set_rules(self, rules: Sequence[Retention], note: dict[str, str]) -> None:
        """Record the retention rules that hold from now on; they are applied by later calls."""
        with self.lock:
            self.record(RETENTION, {"rules": [rule.to_dict() for rule in rules], **note})
            self._rules = RetentionRules(rules)

    def record(self, kind: str, payload: dict[str, Any]) -> None:
        """Record one operation without memories, as one transaction."""
        with self.lock:
            self.check()
            op = self._commit([(kind, payload)], None, None)
        self.publish(op)

    def expire(self) -> int:
        """Forget what is due by the rules and the clock; return how many memories."""
        with self.lock:
            self.check()
            forgotten = self._expire(self.clock(), None)
            op = self.replica.columns.op
        self.publish(op)
        return forgotten

    def _expire(self, now: int, recorded_at: int | None) -> int:
        """Forget what is due at ``now``, as one transaction; return how many memories."""
        columns = self.replica.columns
        try:
            if self._rules is None:
                self._rules = RetentionRules(rules_in_force(columns, columns.op, self.log.folder))
            rules = self._rules
            if due := (rules.due(columns, confirmed(columns, now)) if rules else []):
                self._commit(due, None, recorded_at)
            return sum(len(payload["memories"]) for _, payload in due)
        except BaseException:
            self._rules = None  # what they noted as gone may not be
            raise

    def check_recorded_at(self, recorded_at: int | None) -> None:
        """Raise `InputError` unless a time that a caller gave can be the next recorded time."""
        if recorded_at is not None:
            check_recorded_at(recorded_at, self.clock(), self.log.position.recorded_at)

    def _commit(
        self,
        payloads: Sequence[tuple[str, dict[str, Any]]],
        vectors: npt.NDArray[np.uint16] | None,
        recorded_at: int | None,
        stored: bytes = b"",
    ) -> int:
        """Log and apply one transaction; return its last op, not yet published.

        ``stored``: the bytes of its vectors' rows, for a home.
        """
        last = self.log.position.recorded_at
        at = max(self.clock(), last + 1, self.shown + 1) if recorded_at is None else recorded_at
        encoded = [(kind, orjson.dumps(payload)) for kind, payload in payloads]
        before = self.log.position
        self._recording = True
        try:
            position = self.log.append(at, encoded, stored)
        except BaseException:
            if self.log.position is before:  # the log refused it
                self._recording = False
            raise
        if self._names.is_done and not self._left_unflushed:
            self.log.begin_flush(self.vectors)  # the disk writes while the columns are extended
        first = position.op - len(payloads) + 1
        operations = [
            LogOperation(op, at, kind, payload)
            for op, (kind, payload) in enumerate(payloads, first)
        ]
        try:
            self.replica.apply([LogTransaction(at, first, operations, position)], vectors)
        except BaseException:
            self.must_reopen = True
            raise
        self._recording = False
        return position.op

    def op_at(self, recorded_at: int) -> int:
        """Return the last operation recorded by a time that the clock has reached; it is durable.

        Later transactions get later times, unless their caller gives the time.
        """
        with self.lock:  # waits for an in-flight transaction that has its time already
            self.check_settled()
            self.shown = max(self.shown, recorded_at)
            op = self.replica.columns.op_at(recorded_at)
        self.publish(op)
        return op

    def _append_vectors(self, vectors: npt.NDArray[np.uint16]) -> bytes:
        """Write the vectors of a transaction that is about to be logged.

        Return their bytes if the log has a home, which needs them.
        """
        columns = self.replica.columns
        if self.vectors is None:
            self.vectors = VectorsWriter(self.replica.vectors_path, columns.dimension, columns.rows)
            self.check_place()  # after the opening: it was in our folder
        self.vectors.rewind(columns.rows)  # a failed transaction may have left some
        stored = self.vectors.append(vectors.view(np.float16))
        return bytes(stored) if self._has_home else b""

    @contextmanager
    def together(self) -> Iterator[None]:
        """Let this thread's transactions in the body share one flush, at the end of the body.

        Each stays a transaction of its own. Before the body has ended, none is durable and no view
        shows it. An error at the end concerns all of them.
        """
        held = self._together
        held.op = 0
        try:
            yield
        finally:
            op = held.op
            del held.op
            if op:
                self.publish(op)

    def publish(self, op: int) -> None:
        """Wait until ``op`` is as durable as the store asks for, then show it to readers."""
        if hasattr(self._together, "op"):
            self._together.op = max(op, self._together.op)
            return
        self.log.wait_durable(op)
        with self._publishing:  # not `lock`: no call waits here for another call's transaction
            self.replica.published = max(op, self.replica.published)  # first: COMMIT may refuse
            self.commit_word.op = max(op, self.commit_word.op)

    def close(self) -> None:
        """Flush and close, and release the lock file."""
        try:
            self.log.close(alone=self.lock_file.is_kept)
        finally:
            for file in (self.vectors, self.commit_word, self.replica, self.lock_file):
                if file is not None:
                    file.close()
