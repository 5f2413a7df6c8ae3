"""What did an earlier writer leave unflushed? It is written once more, before it counts as flushed.

A system that could not write bytes to the disk may say so to one flush only. It goes on showing the
bytes, and no later flush writes them: a checkpoint over them would promise what a loss of power
takes. A writer whose flush failed writes no further, so they lie between the last flush and the
next opening. Written again, as they are, they are bytes that the next flush must take.
"""

import os
from pathlib import Path

from recollex_engine.log.files import plain_path
from recollex_engine.log.format import START
from recollex_engine.log.writer import LogWriter
from recollex_engine.state.replica import Replica
from recollex_engine.storage.disk import open_file, system_errors, write_at
from recollex_engine.storage.encryption import cipher_at
from recollex_engine.storage.vectors_file import HEADER_BYTES, row_bytes

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
