"""What does a writer do about damaged files? It starts from the log again, or says what is lost."""

from collections.abc import Callable
from typing import Any, Protocol

from recollex_engine.clock import Clock
from recollex_engine.domain.settings import Settings
from recollex_engine.errors import CorruptError
from recollex_engine.log.writer import LogWriter
from recollex_engine.state.integrity import warn_of_answers
from recollex_engine.state.replica import Replica
from recollex_engine.state.view import View
from recollex_engine.storage.commit_word import CommitWord
from recollex_engine.writing.lexicon import Lexicon
from recollex_engine.writing.restoration import TextEmbedder, mend_vectors, restore_vectors


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
