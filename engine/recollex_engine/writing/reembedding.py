"""How does an agent move to another model? Its texts are embedded again into a second file.

::

    vectors-2.f16        the new vectors, in row order
    vectors-2.progress   {"model": FINGERPRINT, "dimension": D}
                         {"rows": N, "texts": SHA256, "vectors": SHA256}     a line for each batch

A batch counts once its line is written. After an interruption, batches whose texts and vectors
match the checksums are kept, and the work continues after them. The lines of an encrypted agent are
sealed. Until all is embedded, the old
vectors are used, and a writer may write. Then the writer's lock is taken, texts that were added
meanwhile are embedded, and one operation, `reembed`, is written to the log with the new settings
and the checksums. A reader that has not read this operation uses the old file; a reader that has
uses the new one. The columns start again in a folder of their own, because some of them are
computed from vectors.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import orjson

from recollex_engine.clock import Clock
from recollex_engine.domain.settings import REEMBED, Settings
from recollex_engine.errors import CorruptError, FormatError, InputError, LockedError
from recollex_engine.log.format import decode_bytes, encode_bytes
from recollex_engine.log.reader import LogFollower
from recollex_engine.log.writer import LogWriter
from recollex_engine.models.embedder import Embedder, EmbeddingProgress, embed_all
from recollex_engine.state.manifest import NAME as MANIFEST
from recollex_engine.state.replica import LOG
from recollex_engine.state.vector_batches import BATCH, read_batches
from recollex_engine.storage.commit_word import CommitWord
from recollex_engine.storage.disk import flush, open_file, replace_file, store_full, write_at
from recollex_engine.storage.encryption import cipher_for_writing
from recollex_engine.storage.lock import WriterLock
from recollex_engine.storage.unfinished import check_own_files
from recollex_engine.storage.vectors_file import Rows, VectorsReader, VectorsWriter, checksum
from recollex_engine.writing.restoration import texts_of

_PURPOSE = b"progress"

Watch = Callable[[int], AbstractContextManager[EmbeddingProgress | None]]
"""Takes the number of passages, and returns a progress callback."""


def reembed(
    folder: Path,
    name: str,
    embedder: Embedder,
    clock: Clock,
    threads: int = 1,
    watch: Watch = lambda _: nullcontext(),
) -> int:
    """Move agent ``name`` in ``folder`` to ``embedder``; return how many passages were embedded.

    That is fewer than all if an earlier call was interrupted, and 0 if the vectors are the model's
    already. Vectors that a caller had given are replaced by the model's own.

    Raises `LockedError` while a writer has the agent open, and `StoreFullError`; then the new
    vectors are kept for the next call. Raises `InputError` if there is no such agent. Cost: the
    embedding, and at the end reading the log, 10 us for each operation; during this no writer can
    open the agent.
    """
    log = folder / LOG
    if not log.is_dir():
        raise InputError(f"there is no agent {name!r} in {folder.parent.parent}")
    with alone_in(folder / "REEMBED", "that is another reembed: wait for it") as own:
        check_own_files(folder)
        batches, settings = read_batches(log)
        if settings is None or settings.model == embedder.fingerprint:
            return 0
        moved = replace(
            settings,
            model=embedder.fingerprint,
            dimension=embedder.dimension,
            embedding=settings.embedding + 1,
        )
        new = _NewVectors(folder, moved, embedder, threads, own.check_place)
        follower = LogFollower(log, verify=True)
        try:
            with watch(batches.rows) as progress:
                published = CommitWord(folder / "COMMIT").op
                new.extend(texts_of(follower.read_new(published)), progress)
                done = (
                    "what it holds is embedded: close that writer, then reembed only changes over"
                )
                own.check_place()
                with alone_in(folder / "LOCK", done), LogWriter(log) as writer:
                    new.extend(texts_of(follower.read_new(writer.position.op)), progress)
                    payload = {"settings": moved.to_payload(), "batches": new.batches}
                    at = max(clock(), writer.position.recorded_at + 1)
                    position = writer.append(at, [(REEMBED, orjson.dumps(payload))])
                    writer.sync()
                    with CommitWord(folder / "COMMIT", writable=True) as word:
                        word.op = position.op
                    (folder / MANIFEST).unlink(missing_ok=True)
        finally:
            follower.close()
            new.close()
        remove_former(folder, moved)
        return new.made


def remove_former(folder: Path, settings: Settings) -> None:
    """Remove files of former vectors; processes that have mapped them keep them."""
    for number in range(1, settings.embedding):
        former = replace(settings, embedding=number)
        (folder / former.vectors_file).unlink(missing_ok=True)
        shutil.rmtree(folder / former.columns_folder, ignore_errors=True)
    if settings.embedding > 1:
        _record(folder, settings).unlink(missing_ok=True)


@contextmanager
def alone_in(path: Path, remedy: str) -> Iterator[WriterLock]:
    """Hold a lock file during the body, which gets the lock.

    Raises `LockedError`, with what to do, if it is held.
    """
    try:
        lock = WriterLock(path)
    except LockedError as error:
        raise LockedError(error.path, error.holder, remedy) from None
    with lock:
        yield lock


def _record(folder: Path, settings: Settings) -> Path:
    return (folder / settings.vectors_file).with_suffix(".progress")


class _NewVectors:
    """The new vectors: their file, and the record of its finished batches.

    batches: (end, checksum) of each, as they will be in the log. made: the number of rows that were
    embedded. check: raises if the folder was moved while a model worked for hours.
    """

    def __init__(
        self,
        folder: Path,
        settings: Settings,
        embedder: Embedder,
        threads: int,
        check: Callable[[], None],
    ) -> None:
        self._check = check
        self._path = folder / settings.vectors_file
        self._record = _record(folder, settings)
        self._embedder = embedder
        self._threads = threads
        head: dict[str, object] = {"model": settings.model, "dimension": settings.dimension}
        self._cipher = cipher_for_writing(self._record)
        self._lines = [self._line(head)]
        self._recorded = self._read(head)
        self._writer: VectorsWriter | None = None
        self._reader = VectorsReader(self._path, settings.dimension)
        self.batches: list[tuple[int, str]] = []
        self.rows = 0
        self.made = 0

    def _read(self, head: dict[str, object]) -> list[dict[str, object]]:
        """Return the recorded batches in order; none if they are of another model."""
        lines: list[dict[str, object]] = []
        with suppress(FileNotFoundError, ValueError):  # the last line may be torn
            for line in self._record.read_bytes().splitlines():
                lines.append(self._said(line))  # noqa: PERF401 - those before it count
        if not lines or lines[0] != head:
            self._record.unlink(missing_ok=True)
            self._path.unlink(missing_ok=True)
        return lines[1:][::-1] if lines and lines[0] == head else []

    def _line(self, said: dict[str, object]) -> bytes:
        """Return a line of the record; of an encrypted agent it is sealed, in base64."""
        data = orjson.dumps(said)
        if self._cipher is not None:
            data = encode_bytes(self._cipher.seal(_PURPOSE, data, b""))
        return data + b"\n"

    def _said(self, line: bytes) -> dict[str, object]:
        """Return what a line of the record says. Raises `ValueError` for a damaged one."""
        data: bytes | None = line
        if self._cipher is not None:
            data = self._cipher.open(_PURPOSE, decode_bytes(line), b"")
        said: dict[str, object] = orjson.loads(data or b"")
        return said

    def extend(self, texts: Iterator[str], progress: EmbeddingProgress | None) -> None:
        """Embed the next ``texts``, unless an earlier call has done so."""
        while True:
            rows = self._recorded[-1].get("rows") if self._recorded else BATCH
            batch = list(islice(texts, rows if isinstance(rows, int) else 0))
            if not batch:
                return
            said = hashlib.sha256("\0".join(batch).encode("utf-8", "surrogatepass")).hexdigest()
            line: dict[str, object] = {"rows": len(batch), "texts": said}
            held = self._held(len(batch))
            if held is not None and self._recorded[-1] == line | {"vectors": checksum(held)}:
                self._lines.append(self._line(self._recorded.pop()))
                self._count(held)
                if progress is not None:
                    progress(len(batch))
                continue
            self._recorded.clear()
            found = embed_all(self._embedder, batch, self._threads, progress)
            vectors = found.astype(np.float16)
            self._append(vectors, self._line(line | {"vectors": checksum(vectors)}))
            self._count(vectors)
            self.made += len(batch)

    def _count(self, vectors: Rows) -> None:
        self.rows += len(vectors)
        self.batches.append((self.rows, checksum(vectors)))

    def _held(self, count: int) -> Rows | None:
        """Return the next ``count`` rows of the file; None if they are missing or not recorded."""
        if not self._recorded:
            return None
        with suppress(CorruptError, FormatError):
            return self._reader.rows(self.rows + count)[self.rows :]
        return None

    def _append(self, vectors: Rows, line: bytes) -> None:
        """Write and flush vectors, then the line that records them."""
        self._check()
        if self._writer is None:
            if not self.rows:
                self._path.unlink(missing_ok=True)
            self._writer = VectorsWriter(self._path, vectors.shape[1], self.rows)
            replace_file(self._record, b"".join(self._lines))
        self._writer.append(vectors)
        self._writer.sync()
        try:
            fd = open_file(self._record, os.O_WRONLY)
            try:
                write_at(fd, line, os.fstat(fd).st_size, self._record)
                flush(fd)
            finally:
                os.close(fd)
        except OSError as error:
            raise store_full(error, self._record, "record what is embedded") from error

    def close(self) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()
