"""Named arrays in one immutable file: the format of a segment's index on disk.

::

    file   = magic(8) header_bytes(u64) header padding array*
    magic  = b"RCXPACK1"
    header = JSON {"meta": {...}, "arrays": {name: [dtype, count, offset]}}

Every array starts at a multiple of 64 bytes from the start of the file and is little-endian.
The last 8 bytes are a second copy of the magic, so that a file that was cut short is detected.
"""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from recollex_engine.errors import CorruptError
from recollex_engine.storage.agent_key import cipher_for_writing
from recollex_engine.storage.content_file import map_content, write_sealed
from recollex_engine.storage.disk import FileSink, Replacement, store_full

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
