"""Files of an agent's content, plain or sealed, and named arrays in one immutable file.

::

    sealed file = magic id { page }
    magic       = "rcxseal1"      8 bytes
    id          = 16 random bytes, new for each file that is made
    page        = length sealed
    length      = uint32, little-endian: bytes of ``sealed``
    sealed      = see `storage.encryption`: purpose "file " || id, bound to the page's offset in the
                  plain bytes

Whether an agent is encrypted decides (see `storage.encryption`): a plain file of an encrypted agent
is damage, and a sealed file of an agent that is not unlocked is refused.

Named arrays in one immutable file: the format of a segment's index on disk.

::

    file   = magic(8) header_bytes(u64) header padding array*
    magic  = b"RCXPACK1"
    header = JSON {"meta": {...}, "arrays": {name: [dtype, count, offset]}}

Every array starts at a multiple of 64 bytes from the start of the file and is little-endian.
The last 8 bytes are a second copy of the magic, so that a file that was cut short is detected.
"""

import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from recollex_engine.errors import CorruptError
from recollex_engine.storage.disk import (
    Bytes,
    FileSink,
    Replacement,
    replace_file,
    store_full,
    system_errors,
    write_at,
)
from recollex_engine.storage.encryption import (
    Cipher,
    bound_to,
    cipher_at,
    cipher_for_writing,
    locked,
)
from recollex_engine.storage.overlay import shared_bytes

PAGE_BYTES = 1 << 20
"""Plain bytes of a page, at most."""

_MAGIC = b"rcxseal1"
_ID_BYTES = 16
_HEADER_BYTES = len(_MAGIC) + _ID_BYTES
_LENGTH = struct.Struct("<I")


@dataclass(slots=True)
class SealedPages:
    """The pages of a sealed file up to some plain byte: where the next page goes.

    id: of the file. size: plain bytes in the pages. end: the byte of the file after them; None if
    the last page holds more than ``size``, so that nothing can be appended.
    """

    id: bytes
    size: int
    end: int | None

    def append(self, cipher: Cipher, data: Bytes, fd: int, path: Path) -> None:
        """Write ``data`` as the next pages; they count for who knows the new size."""
        assert self.end is not None
        pages = b"".join(_seal(cipher, self.id, [data], self.size))
        if not self.size:
            pages = _MAGIC + self.id + pages
        at = self.end if self.size else 0
        write_at(fd, pages, at, path)
        self.size += memoryview(data).nbytes
        self.end = at + len(pages)


def new_pages() -> SealedPages:
    """Return the pages of a file that holds nothing yet."""
    return SealedPages(os.urandom(_ID_BYTES), 0, 0)


def read_sealed(
    path: Path, stored: Bytes, cipher: Cipher, size: int | None = None
) -> tuple[NDArray[np.uint8], SealedPages]:
    """Return the first ``size`` plain bytes of a sealed file, all by default, and its pages.

    ``stored``: the bytes of the file. Raises `CorruptError` for a page that was altered, and for
    fewer bytes.
    """
    data = memoryview(stored)
    if data[: len(_MAGIC)] != _MAGIC:
        raise CorruptError(path, "a file that is encrypted as its agent is", "other bytes")
    id = bytes(data[len(_MAGIC) : _HEADER_BYTES])
    at = _HEADER_BYTES
    total = 0
    parts = []
    while at < len(data) if size is None else total < size:
        after = at + _LENGTH.size
        length = _LENGTH.unpack(data[at:after])[0] if after <= len(data) else 0
        sealed = data[after : after + length]
        is_there = 0 < length == len(sealed)
        plain = cipher.open(b"file " + id, sealed, bound_to(total)) if is_there else None
        if plain is None:
            raise CorruptError(path, f"an authentic page at byte {at}", "an altered or lost one")
        parts.append(plain)
        total += len(plain)
        at = after + length
    found = np.frombuffer(b"".join(parts), np.uint8)
    if size is None or size == total:
        return found, SealedPages(id, total, at)
    return found[:size], SealedPages(id, size, None)


def write_content(path: Path, *contents: Bytes, durable: bool = True) -> None:
    """Replace the content of ``path``, sealed if its agent is encrypted; see `replace_file`."""
    cipher = cipher_for_writing(path)
    if cipher is None:
        replace_file(path, *contents, durable=durable)
    else:
        write_sealed(path, cipher, *contents, durable=durable)


def write_sealed(path: Path, cipher: Cipher, *contents: Bytes, durable: bool = True) -> SealedPages:
    """Replace ``path`` with a sealed file of ``contents``, joined, and return its pages."""
    id = os.urandom(_ID_BYTES)
    pages = list(_seal(cipher, id, contents, 0))
    replace_file(path, _MAGIC + id, *pages, durable=durable)
    size = sum(memoryview(content).nbytes for content in contents)
    return SealedPages(id, size, _HEADER_BYTES + sum(map(len, pages)))


def read_content(path: Path) -> Bytes:
    """Return the plain bytes of a file.

    Raises `FileNotFoundError`, `CorruptError` for a page that was altered, `EncryptionError` if the
    file is encrypted and its agent is not unlocked.
    """
    with system_errors(path):
        stored = path.read_bytes()
    cipher = cipher_at(path)
    if cipher is not None:
        return read_sealed(path, stored, cipher)[0].data
    if stored[: len(_MAGIC)] == _MAGIC:
        raise locked(path)
    return stored


def map_content(path: Path) -> Bytes:
    """Return the plain bytes of a file that is not empty, mapped where they are not encrypted.

    A map holds no descriptor. Raises as `read_content`, and `ValueError` for an empty file.
    """
    cipher = cipher_at(path)
    with system_errors(path), path.open("rb") as file:
        if cipher is None:
            size = os.fstat(file.fileno()).st_size
            if not size:
                raise ValueError(f"{path} is empty")
            mapped = shared_bytes(file.fileno(), size).data
            if mapped[: len(_MAGIC)] == _MAGIC:
                raise locked(path)
            return mapped
        stored = file.read()
    return read_sealed(path, stored, cipher)[0].data


def _seal(cipher: Cipher, id: bytes, contents: Iterable[Bytes], start: int) -> Iterator[bytes]:
    """Yield the pages of ``contents``, whose first byte is plain byte ``start`` of the file."""
    for content in contents:
        data = memoryview(content).cast("B")
        for at in range(0, len(data), PAGE_BYTES):
            part = data[at : at + PAGE_BYTES]
            sealed = cipher.seal(b"file " + id, part, bound_to(start))
            yield _LENGTH.pack(len(sealed)) + sealed
            start += len(part)


MAGIC = b"RCXPACK1"
ALIGNMENT = 64


def write_arrays(path: Path, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
    """Write ``arrays`` and ``meta`` (JSON values) to ``path``; durable once this returns.

    Raises `StoreFullError` when the disk is full; the old file at ``path`` stays then.
    """
    directory: dict[str, list[Any]] = {}
    header = b""
    for _ in range(3):  # offsets depend on the header's size, which depends on the offsets
        at = _aligned(len(MAGIC) + 8 + len(header))
        for name, array in arrays.items():
            directory[name] = [array.dtype.newbyteorder("<").str, array.size, at]
            at = _aligned(at + array.nbytes)
        header = orjson.dumps({"meta": meta, "arrays": directory})
    cipher = cipher_for_writing(path)
    if cipher is not None:
        sink = BytesIO()
        _write(sink, header, arrays, directory, at)
        write_sealed(path, cipher, sink.getbuffer())
        return
    try:
        with Replacement(path) as file:  # the old file may be mapped, so it is not overwritten
            _write(file, header, arrays, directory, at)
            file.sync()
            file.take_place()
    except OSError as error:
        raise store_full(error, path, f"write {path.name}") from error


def read_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the arrays of ``path``, one-dimensional and read-only, and its meta.

    They are maps of the file, or in memory if it is encrypted.

    Raises `CorruptError` for a file that was cut short or is not an array file.
    """
    try:
        mapped = map_content(path)
    except FileNotFoundError:
        raise CorruptError(path, "a pack", "no file") from None
    except ValueError:  # an empty file cannot be mapped
        mapped = b""
    if len(mapped) < len(MAGIC) + 8:
        raise CorruptError(path, "a pack of at least 16 bytes", f"{len(mapped)} bytes")
    if mapped[:8] != MAGIC or mapped[-8:] != MAGIC:
        raise CorruptError(path, "a whole pack", "other bytes at its start or end")
    length = int.from_bytes(mapped[8:16], "little")
    try:
        header = orjson.loads(mapped[16 : 16 + length])
        arrays = {
            name: np.frombuffer(mapped, dtype=dtype, count=count, offset=offset)
            for name, (dtype, count, offset) in header["arrays"].items()
        }
        return arrays, header["meta"]
    except (AttributeError, KeyError, SyntaxError, TypeError, ValueError) as error:
        # A dtype such as "(2,f4" is a SyntaxError of numpy's.
        raise CorruptError(path, "a header that fits the file", repr(error)) from error


def _write(
    file: FileSink | BytesIO,
    header: bytes,
    arrays: dict[str, np.ndarray],
    directory: dict[str, list[Any]],
    end: int,
) -> None:
    """Write header, arrays and the second magic, at ``end``."""
    size = file.write(MAGIC + len(header).to_bytes(8, "little") + header)
    for name, array in arrays.items():
        size += file.write(bytes(directory[name][2] - size))
        if array.size:
            size += file.write(np.ascontiguousarray(array).view(np.uint8).data)
    file.write(bytes(end - size) + MAGIC)


def whole_file(arrays: dict[str, np.ndarray]) -> NDArray[np.uint8]:
    """Return all bytes of the file that `read_arrays` mapped: none if it has no array."""
    mapped: Any = next((array.base for array in arrays.values()), b"")
    return np.frombuffer(mapped, np.uint8)


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT
