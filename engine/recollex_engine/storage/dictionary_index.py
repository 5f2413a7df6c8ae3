"""The index of a dictionary: the hashes of its strings in order, and the number of each.

::

    index   = magic count hashes numbers
    magic   = "rcxindx1"                     8 bytes
    count   = int64                          strings it covers: numbers 0 to count - 1
    hashes  = uint64 * count                 ascending; ties by ascending number
    numbers = uint32 * count                 the number of the string with that hash
"""

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recollex_engine.storage.checksums import crc32
from recollex_engine.storage.column_file import MappedFile, mapped_file
from recollex_engine.storage.content_file import map_content, write_content

_MAGIC = b"rcxindx1"
_HEADER = struct.Struct("<8sq")

Hashes = NDArray[np.uint64]
ItemNumbers = NDArray[np.uint32]


class DictionaryIndex:
    """The hashes of strings 0 to count - 1, ascending, and each one's string number. Immutable."""

    __slots__ = ("count", "file", "hash_view", "hashes", "numbers", "whole")

    def __init__(
        self,
        hashes: Hashes,
        numbers: ItemNumbers,
        whole: NDArray[np.uint8] | None = None,
        file: MappedFile | None = None,
    ) -> None:
        self.whole = whole  # the bytes of the file, if it is mapped
        self.file = file
        self.count: int = len(hashes)  # how many strings it covers
        self.hashes = hashes
        self.numbers = numbers
        self.hash_view = hashes.data  # bisect reads it twice as fast as the array

    @staticmethod
    def empty() -> "DictionaryIndex":
        """Return the index of no strings."""
        return DictionaryIndex(np.empty(0, np.uint64), np.empty(0, np.uint32))

    @staticmethod
    def open(path: Path, count: int) -> "DictionaryIndex | None":
        """Return the index in the file, or None if it does not cover ``count`` strings."""
        size = _HEADER.size + 12 * count
        try:
            pages = map_content(path)
            file = mapped_file(path, len(pages))
        except (FileNotFoundError, ValueError):
            return None
        if len(pages) != size or pages[: _HEADER.size] != _HEADER.pack(_MAGIC, count):
            return None
        hashes: Hashes = np.frombuffer(pages, "<u8", count, _HEADER.size)
        numbers: ItemNumbers = np.frombuffer(pages, "<u4", count, _HEADER.size + 8 * count)
        return DictionaryIndex(hashes, numbers, np.frombuffer(pages, np.uint8), file)

    def extended(self, hashes: Hashes) -> "DictionaryIndex":
        """Return the index of the covered strings and the next ones. Cost: one merge."""
        order = np.argsort(hashes, kind="stable")
        places = np.searchsorted(self.hashes, hashes[order], side="right")
        numbers = (order + self.count).astype(np.uint32)
        return DictionaryIndex(
            np.insert(self.hashes, places, hashes[order]), np.insert(self.numbers, places, numbers)
        )

    def write(self, path: Path, *, durable: bool) -> int:
        """Write the file and return its CRC-32."""
        header = _HEADER.pack(_MAGIC, self.count)
        parts = (self.hashes.view(np.uint8).data, self.numbers.view(np.uint8).data)
        write_content(path, header, *parts, durable=durable)
        crc = crc32(np.frombuffer(header, np.uint8))
        return crc32(self.numbers, crc32(self.hashes, crc))
