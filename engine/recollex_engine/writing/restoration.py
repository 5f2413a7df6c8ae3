"""What happens if the vectors file is lost? The model embeds the texts in the log again.

The order makes sure that a crash does not hide the loss: the new file is written under another
name; a `restore` operation for each run of rows is written to the log, with the checksum that holds
from then on; the manifest is removed, because its columns were made from the old vectors; the new
file replaces the old one. If a crash happens before this last step, the next opening starts again.
"""

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from itertools import groupby, islice
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import orjson

from recollex_engine.clock import Clock
from recollex_engine.domain.schema import HOLE, RETAINING
from recollex_engine.domain.settings import Settings
from recollex_engine.domain.turn import passages_to_embed
from recollex_engine.errors import CorruptError, ModelError
from recollex_engine.log.format import START
from recollex_engine.log.reader import LogFollower, LogTransaction
from recollex_engine.log.writer import LogWriter
from recollex_engine.models.embedder import unwarned
from recollex_engine.state.manifest import NAME as MANIFEST
from recollex_engine.state.replica import Replica
from recollex_engine.state.vector_batches import VectorBatch, is_whole, read_batches
from recollex_engine.storage.commit_word import CommitWord
from recollex_engine.storage.disk import flush_folder
from recollex_engine.storage.vectors_file import VectorsReader, VectorsWriter, checksum

CHUNK = 1024
"""Rows that are embedded or copied at once."""


class TextEmbedder(Protocol):
    """The part of an embedder that a restoration needs."""

    @property
    def fingerprint(self) -> str:
        """Names the model and its weights."""

    def embed(self, texts: list[str], /) -> npt.NDArray[np.float32]:
        """Return float32[n, dimension], each row of length 1."""


def mend_vectors(
    log: LogWriter,
    replica: Replica,
    commit: CommitWord,
    embedder_for: Callable[[Settings], TextEmbedder],
    clock: Clock,
) -> None:
    """Make lost vectors again, or cut off the operations whose vectors never reached the disk.

    ``replica`` missed the vectors. Operations that no flush has covered are cut off, with a
    warning, if they were not acknowledged, or if no model can make their vectors. Raises as
    `restore_vectors`.
    """
    path = replica.vectors_path
    torn = replica.torn_position(log.known_op)
    if torn is None or torn.op < commit.op:
        try:
            restore_vectors(log, path, embedder_for, clock)
            return
        except CorruptError:
            if torn is None:
                raise
    count = log.position.op - torn.op
    kept = log.cut(torn)
    aside = "" if kept is None else f", and kept in {kept}"
    warnings.warn(
        f"{path.parent}: {count} operations after operation {torn.op}, which no flush had covered, "
        f"were cut off, since their vectors are lost{aside}",
        RuntimeWarning,
        stacklevel=3,
    )


def restore_vectors(
    log: LogWriter,
    path: Path,
    embedder_for: Callable[[Settings], TextEmbedder],
    clock: Clock,
    *,
    expected: bool = False,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Embed again the texts whose vectors are missing in the file at ``path``.

    Batches whose checksum matches the log are kept; the others are embedded again from their texts.
    Batches whose new vectors match the checksum need no record. Unless the loss is ``expected``, a
    warning names the rows; vectors that a caller had given are replaced by the model's own. Raises
    `CorruptError` if the embedder has no model to make the vectors with; then nothing is changed.
    Replicas that were opened before must not be used afterwards.
    """
    batches, settings = read_batches(log.folder)
    if settings is None:
        raise CorruptError(log.folder, "the settings of an agent", "none")
    embedder = embedder_for(settings)
    held = VectorsReader(path, settings.dimension)
    lost = batches.lost(held)
    count = sum(batch.end - batch.first for batch in lost)
    what = f"{count} of {batches.rows} passages"
    if lost:
        what += f" (rows {lost[0].first} to {lost[-1].end - 1})"
    temporary = path.with_name(path.name + ".restored")
    temporary.unlink(missing_ok=True)
    runs: list[VectorBatch] = []
    warned = expected
    texts = texts_of(LogFollower(log.folder, START, verify=True).read_new())
    try:
        with VectorsWriter(temporary, settings.dimension) as writer:
            for run, is_lost in _runs(batches.in_force, lost):
                for first in range(run.first, run.end, CHUNK):
                    end = min(first + CHUNK, run.end)
                    mine = list(islice(texts, end - first))
                    if len(mine) < end - first:
                        wanted = f"the texts of {batches.rows} passages"
                        raise CorruptError(log.folder, wanted, "fewer")
                    if not is_lost:
                        writer.append(held.rows(end)[first:])
                        continue
                    vectors = unwarned(embedder.embed, mine)
                    writer.append(np.asarray(vectors, np.float16))
                    if progress is not None:
                        progress(end - first)
                    if not warned:
                        warned = True
                        _warn(path, what, embedder)
                if is_lost:
                    made = VectorsReader(temporary, settings.dimension)
                    inside = [b for b in lost if run.first <= b.first < run.end]
                    if not all(is_whole(made, batch) for batch in inside):
                        sha256 = checksum(made.rows(run.end)[run.first :])
                        runs.append(VectorBatch(run.first, run.end, sha256))
            writer.sync()
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, ModelError):
            raise CorruptError(
                path,
                f"the vectors of {batches.rows} passages",
                f"none for {what}, and {settings.model} cannot make them: put the file back from a "
                "copy",
            ) from error
        raise
    if runs:
        at = max(clock(), log.position.recorded_at + 1)
        log.append(at, [("restore", orjson.dumps(asdict(run))) for run in runs])
        log.sync()
    (path.parent / MANIFEST).unlink(missing_ok=True)
    temporary.rename(path)
    flush_folder(path.parent)


def _warn(path: Path, what: str, embedder: TextEmbedder) -> None:
    warnings.warn(
        f"{path}: the vectors of {what} are lost; embedding their texts again with "
        f"{embedder.fingerprint}",
        RuntimeWarning,
        stacklevel=3,
    )


def _runs(
    batches: list[VectorBatch], lost: list[VectorBatch]
) -> Iterator[tuple[VectorBatch, bool]]:
    """Yield runs of adjacent batches that are all lost or all kept, and whether they are lost."""
    gone = set(lost)
    for is_lost, run in groupby(batches, gone.__contains__):
        first, *rest = run
        last = rest[-1] if rest else first
        yield VectorBatch(first.first, last.end, ""), is_lost


def texts_of(transactions: Iterable[LogTransaction]) -> Iterator[str]:
    """Yield the text to embed for every row that ``transactions`` add; "" for an erased one."""
    for transaction in transactions:
        for operation in transaction.operations:
            payload = operation.payload
            if operation.kind in RETAINING and payload is not None:
                if HOLE in payload:
                    yield from [""] * payload[HOLE]
                    continue
                text = payload["text"]
                spans = payload.get("passages") or [(0, len(text))]
                yield from passages_to_embed(text, spans, payload.get("speaker"))
