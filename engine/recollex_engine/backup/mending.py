"""What can a backup mend that a log cannot? Vectors that a caller gave."""

import os
from pathlib import Path

from recollex_engine.backup.agent_backup import VECTOR_ROWS
from recollex_engine.backup.manifest import last_manifest
from recollex_engine.backup.objects import read_piece
from recollex_engine.backup.records import read_record
from recollex_engine.backup.target import Target
from recollex_engine.state.replica import LOG
from recollex_engine.state.vector_batches import read_batches
from recollex_engine.storage.disk import flush, open_file, replace_file, write_at
from recollex_engine.storage.encryption import cipher_for_writing
from recollex_engine.storage.lock import WriterLock
from recollex_engine.storage.vectors_file import (
    HEADER_BYTES,
    bytes_checksum,
    open_rows,
    row_bytes,
    vectors_header,
)


def mend_vectors(folder: Path, name: str, target: Target) -> int:
    """Write damaged or lost vectors of an agent again, from its newest backup; return how many.

    Only batches whose checksum is the one that the log has are written. Returns 0 if the backup has
    no such agent, or other vectors. Raises `CorruptError` for a damaged log or backup, and
    `LockedError` while a writer has the agent open. Cost: reading the log, and the pieces with
    damaged rows.
    """
    entry = last_manifest(target).agents.get(name)
    if entry is None:
        return 0
    with WriterLock(folder / "LOCK"):
        batches, settings = read_batches(folder / LOG)
        record = read_record(target, entry)
        if settings is None or record.settings != settings:
            return 0
        path = folder / settings.vectors_file
        cipher = cipher_for_writing(path)
        header = vectors_header(settings.dimension, sealed=cipher is not None)
        size_of_row = row_bytes(settings.dimension, sealed=cipher is not None)
        if not path.exists():
            replace_file(path, header)

        def opened(stored: bytes, first: int) -> bytes:
            if cipher is None:
                return stored
            return open_rows(cipher, stored, settings.dimension, first).tobytes()

        pieces: dict[int, bytes] = {}
        mended = 0
        fd = open_file(path, os.O_RDWR)
        try:
            write_at(fd, header, 0, path)
            for batch in batches.in_force:
                offset = HEADER_BYTES + batch.first * size_of_row
                size = (batch.end - batch.first) * size_of_row
                held = opened(os.pread(fd, size, offset), batch.first)
                if batch.sha256 in (None, bytes_checksum(held)) or batch.end > record.rows:
                    continue
                wanted = range(batch.first // VECTOR_ROWS, (batch.end - 1) // VECTOR_ROWS + 1)
                pieces = {
                    each: pieces.get(each) or read_piece(target, record.vectors[each])
                    for each in wanted
                }
                first = (batch.first - wanted.start * VECTOR_ROWS) * size_of_row
                rows = b"".join(pieces.values())[first : first + size]
                if bytes_checksum(opened(rows, batch.first)) == batch.sha256:
                    write_at(fd, rows, offset, path)
                    mended += batch.end - batch.first
            flush(fd)
        finally:
            os.close(fd)
        return mended
