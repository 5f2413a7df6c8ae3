"""The files of a log folder: names, reading plain or compressed files, compressing, restoring.

A log file exists in at least one of two forms, plain or compressed, at every moment. Where both
exist, the plain one counts, because it may have been written to since.
"""

import contextlib
import gzip
import os
import re
import zlib
from pathlib import Path

from recollex_engine.errors import CorruptError
from recollex_engine.storage.disk import (
    Replacement,
    flush_folder,
    open_file,
    replace_file,
    store_full,
    system_errors,
)

_NAME = re.compile(r"(\d{8,})\.jsonl(\.gz)?")
_COMPRESSION_LEVEL = 6
_GZIP = 31  # zlib's wbits for a gzip header, and a checksum at the end
_SMALL = 1 << 20
"""Files of up to this many compressed bytes are decompressed whole, in a third of the time."""
_CACHED = 1 << 17
"""Files of up to this many compressed bytes stay cached once decompressed: opening reads a log
twice."""
_last: tuple[tuple[int, ...], bytes] = ((), b"")
"""The file that was decompressed last: its identity by fstat, and its content."""


def plain_path(folder: Path, file: int) -> Path:
    """Return the path of log file number ``file`` in plain form."""
    return folder / f"{file:08}.jsonl"


def compressed_path(folder: Path, file: int) -> Path:
    """Return the path of log file number ``file`` in compressed form."""
    return folder / f"{file:08}.jsonl.gz"


def file_exists(folder: Path, file: int) -> bool:
    """Return whether the log has this file, in either form."""
    plain = plain_path(folder, file)  # checked twice: it may become plain again in between
    return plain.exists() or compressed_path(folder, file).exists() or plain.exists()


def file_numbers(folder: Path) -> list[int]:
    """Return the numbers of the log's files, ascending, each once; [] if there is no folder."""
    if not folder.is_dir():
        return []
    names = (_NAME.fullmatch(name) for name in os.listdir(folder))  # noqa: PTH208 - names alone
    return sorted({int(match[1]) for match in names if match})


class LogFile:
    """One log file open for reading, at offsets in its uncompressed bytes.

    It stays readable when the file changes its form meanwhile: the descriptor keeps the old bytes.

    Threads: one at a time.
    """

    def __init__(self, folder: Path, file: int) -> None:
        self._plain, self._compressed = plain_path(folder, file), compressed_path(folder, file)
        self._fd = -1  # before anything that can fail: `close` looks at it
        self._gzip: gzip.GzipFile | None = None
        self._whole: bytes | None = None
        # A change of form, in either direction, makes the new file before it removes the old one.
        for path in (self._plain, self._compressed, self._plain):
            try:
                self._fd = open_file(path, os.O_RDONLY)
                self.path = path
                return
            except FileNotFoundError:
                continue
        self.path = self._plain
        raise CorruptError(self.path, "a file of the log", "none") from None

    def read(self, offset: int, size: int) -> bytes:
        """Return up to ``size`` bytes at ``offset``; b"" at the end of the file."""
        if self.path is self._plain:
            with system_errors(self.path):
                return os.pread(self._fd, size, offset)
        try:
            if self._whole is None and self._gzip is None:
                self._decompress()
            if self._whole is not None:
                return self._whole[offset : offset + size]
            assert self._gzip is not None
            if self._gzip.tell() != offset:
                self._gzip.seek(offset)
            return self._gzip.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise CorruptError(self.path, "compressed lines", f"damage ({error})") from error

    def _decompress(self) -> None:
        """Decompress a small file whole; prepare to stream a large one."""
        global _last
        status = os.fstat(self._fd)
        size = status.st_size
        if size <= _SMALL:
            held = (status.st_dev, status.st_ino, size, status.st_mtime_ns, status.st_ctime_ns)
            last, whole = _last
            if last != held:
                whole = zlib.decompress(os.pread(self._fd, size, 0), wbits=_GZIP)
                if size <= _CACHED:
                    _last = (held, whole)
            self._whole = whole
        else:
            source = os.fdopen(self._fd, "rb", closefd=False)
            self._gzip = gzip.GzipFile(fileobj=source, mode="rb")

    def is_superseded(self) -> bool:
        """Return whether the file has changed its form by now; the new one may hold more lines.

        Cost: 4 us.
        """
        for path in (self._plain, self._compressed):
            try:
                return not os.path.samestat(path.stat(), os.fstat(self._fd))
            except FileNotFoundError:
                continue
        return False

    def line_number(self, offset: int) -> int:
        """Return the 1-based number of the line at ``offset``. Cost: reading the file up to it."""
        lines = 1
        at = 0
        while at < offset:
            chunk = self.read(at, min(1 << 20, offset - at))
            if not chunk:
                break
            lines += chunk.count(b"\n")
            at += len(chunk)
        return lines

    def close(self) -> None:
        """Close the descriptor; the second call does nothing."""
        if self._gzip is not None:
            self._gzip.close()
        # first: never closed twice, when it may be another file's
        fd = self._fd
        self._fd = -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.close()


def forget_content() -> None:
    """Drop the cached content of the file that was decompressed last."""
    global _last
    _last = ((), b"")


def compress_before(folder: Path, last: int) -> int:
    """Compress the plain files before ``last``; return how many.

    Raises as `compress_file`; the log stays intact.
    """
    files = [n for n in file_numbers(folder) if n < last and plain_path(folder, n).exists()]
    for file in files:
        compress_file(folder, file)
    return len(files)


def compress_file(folder: Path, file: int) -> None:
    """Replace a file by its compressed form; readers find one of the two at every moment.

    Equal input gives equal output bytes. Raises `StoreFullError`; the plain file stays then.
    """
    plain = plain_path(folder, file)
    compressed = compressed_path(folder, file)
    try:
        with plain.open("rb") as source, Replacement(compressed) as sink:
            # Not a `GzipFile`: after a failed first write the garbage collector closes it, and it
            # then writes to a descriptor that may be another file's by that time.
            packer = zlib.compressobj(_COMPRESSION_LEVEL, wbits=_GZIP)
            while chunk := source.read(1 << 20):
                if packed := packer.compress(chunk):
                    sink.write(packed)
            sink.write(packer.flush())
            sink.sync()
            sink.take_place()
        flush_folder(folder)
        plain.unlink()
    except OSError as error:
        raise store_full(error, compressed, f"compress {plain.name}") from error


def restore_file(folder: Path, file: int, size: int) -> None:
    """Replace a compressed file by its first ``size`` plain bytes; readers always find one form.

    Does nothing to a plain file. Raises `StoreFullError`; the compressed file stays then.
    """
    plain = plain_path(folder, file)
    compressed = compressed_path(folder, file)
    if plain.exists():
        return
    source = LogFile(folder, file)
    try:
        data = source.read(0, size)
    finally:
        source.close()
    replace_file(plain, data)
    with contextlib.suppress(OSError):  # the plain one counts
        compressed.unlink()
