"""How does an agent get another data key, or its first? By a copy of its log and vectors.

The copy has the same operations, with the same numbers and times. Its lines have new salts, so its
chain of hashes is another one: lines of the old log and of the new one cannot be matched.
Stubs keep their commitments. Columns and indexes are built by the first opening.
"""

from collections.abc import Iterator
from pathlib import Path

from recollex_engine.agents.snapshot import check_vectors, copy_vectors, new_agent
from recollex_engine.errors import CorruptError, LockedError
from recollex_engine.log.files import plain_path
from recollex_engine.log.format import START, HeadFile, encode_header, lost_lines
from recollex_engine.log.reader import LogFollower
from recollex_engine.log.rewriting import copied_transactions
from recollex_engine.models.embedder import EmbeddingProgress
from recollex_engine.state.read_replica import is_erasing
from recollex_engine.state.replica import LOG
from recollex_engine.state.vector_batches import read_batches
from recollex_engine.storage.disk import FileSink, make_folder
from recollex_engine.storage.encryption import Cipher, create_key, open_key
from recollex_engine.storage.lock import WriterLock
from recollex_engine.storage.vectors_file import VectorsReader


def recrypt(
    source: Path,
    name: str,
    path: Path,
    key: bytes | None,
    new_key: bytes | None,
    progress: EmbeddingProgress | None = None,
) -> None:
    """Copy the agent in the folder ``source`` to the store at ``path``, as agent ``name``.

    ``key``: of the agent, None if it is not encrypted; ``new_key``: of the copy, the same. Raises
    `LockedError` while a writer has the agent open, or an erasure was begun, and `CorruptError` for
    a damaged log or damaged vectors; then no copy is made. Cost: 20 us for an operation.
    """
    with WriterLock(source / "LOCK"):
        if is_erasing(source):
            raise LockedError(source, "an erasure", "open the agent for writing to complete it")
        cipher = open_key(source, key)
        with new_agent(path, name) as folder:
            new = None if new_key is None else create_key(folder, new_key)
            make_folder(folder / LOG)
            with FileSink(plain_path(folder / LOG, START.file)) as log:
                log.write(encode_header(START.file, START, new is not None))
                for lines in _lines(source, new, progress):
                    log.write(lines)
            _copy_vectors(source, folder)
            del new
        del cipher


def _lines(source: Path, new: Cipher | None, progress: EmbeddingProgress | None) -> Iterator[bytes]:
    """Yield the lines of each transaction of a log as the copy has them."""
    head = HeadFile(source / LOG).read()
    follower = LogFollower(source / LOG, verify=True, head=head)
    try:
        for lines in copied_transactions(follower, new):
            yield b"".join(lines)
            if progress is not None:
                progress(len(lines))
        if head is not None and follower.position.op < head.op:
            raise lost_lines(source / LOG, head, follower.position.op)
    finally:
        follower.close()


def _copy_vectors(source: Path, folder: Path) -> None:
    """Copy the vectors that the log of the copy names, and compare them with its checksums."""
    batches, settings = read_batches(folder / LOG)
    if not batches.rows:
        return
    if settings is None:
        raise CorruptError(source / LOG, "the settings of an agent", "none")
    vectors = VectorsReader(source / settings.vectors_file, settings.dimension)
    check_vectors(batches, vectors)
    copy_vectors(vectors, folder / settings.vectors_file, batches.rows)
