"""What happens to a log after the last transaction that counts? It is cut off, and kept aside.

A crash may leave a part of a transaction, or, where power was lost before a flush, whole
transactions whose vectors are missing. None of them was promised to outlive that crash. Their bytes
go to ``torn-<op>.jsonl`` beside the log files, where ``op`` is the last operation that stays.
Nothing reads these files; they may be removed.
"""

import os
from pathlib import Path

from recollex_engine.errors import StoreFullError
from recollex_engine.log.files import (
    LogFile,
    compressed_path,
    file_numbers,
    plain_path,
    restore_file,
)
from recollex_engine.log.format import Position
from recollex_engine.storage.disk import Replacement, flush, flush_folder, open_file

_CHUNK = 1 << 20


def cut_after(folder: Path, end: Position) -> Path | None:
    """Cut a log at ``end``; return the file that keeps the bytes after it, None if there is none.

    Bytes that are all zeros are not kept, and on a full disk none are. The log is cut durably.
    Raises the plain `OSError` if it cannot be cut.
    """
    later = [number for number in file_numbers(folder) if number > end.file]
    kept = _set_aside(folder, end, later)
    for number in reversed(later):  # flushed one by one: a gap would hide what comes after it
        for path in (plain_path(folder, number), compressed_path(folder, number)):
            path.unlink(missing_ok=True)
        flush_folder(folder)
    path = plain_path(folder, end.file)
    if path.exists():
        fd = open_file(path, os.O_RDWR)
        try:
            os.ftruncate(fd, end.offset)
            flush(fd)  # before other bytes take their place: a mixture of both would look damaged
        finally:
            os.close(fd)
    else:
        restore_file(folder, end.file, end.offset)
    return kept


def _set_aside(folder: Path, end: Position, later: list[int]) -> Path | None:
    kept = folder / f"torn-{end.op}.jsonl"
    times = 1
    while kept.exists():
        times += 1
        kept = folder / f"torn-{end.op}-{times}.jsonl"
    empty = True
    try:
        with Replacement(kept) as sink:
            for number in (end.file, *later):
                file = LogFile(folder, number)
                at = end.offset if number == end.file else 0
                try:
                    while chunk := file.read(at, _CHUNK):
                        empty = empty and not chunk.strip(b"\0")
                        sink.write(chunk)
                        at += len(chunk)
                finally:
                    file.close()
            sink.sync()
            if not empty:
                sink.take_place()
                flush_folder(folder)
    except (OSError, StoreFullError):
        return None  # the disk is full, and what would be kept was never promised
    return None if empty else kept
