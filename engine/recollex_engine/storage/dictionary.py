"""Dictionaries: strings to dense numbers and back, for terms, entities and ids.

A dictionary is stored in three files. Two are columns: ``<name>.heap`` (the UTF-8 bytes of all
strings, one after another) and ``<name>.offsets`` (int64, where each string ends). From
`INDEX_FROM` strings on, the third is ``<name>.index-<generation>``, which finds a string's number
(see `storage.dictionary`)::

    hash    = the 8 bytes of BLAKE2b with an 8-byte digest over the UTF-8 bytes, little-endian

The index is derived data: without a file that fits, it is computed from the strings. Strings of a
damaged heap may be read before its checksum is compared (see `state.integrity`): bytes that are not
UTF-8 are read as U+FFFD until then.

The index of a dictionary: the hashes of its strings in order, and the number of each.

::

    index   = magic count hashes numbers
    magic   = "rcxindx1"                     8 bytes
    count   = int64                          strings it covers: numbers 0 to count - 1
    hashes  = uint64 * count                 ascending; ties by ascending number
    numbers = uint32 * count                 the number of the string with that hash
"""

import contextlib
import struct
import threading
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from typing import Any
from unicodedata import is_normalized, normalize

import numpy as np
from numpy.typing import NDArray

from recollex_engine.errors import CorruptError, InputError
from recollex_engine.storage.column import Column, MappedFile, crc32, mapped_file
from recollex_engine.storage.content_file import map_content, write_content
from recollex_kernels.memories.gathering import gather_strings

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


INDEX_FROM = 1024
"""Below this many strings there is no index file: a dict holds them, filled on first use."""

NONE = 0xFFFFFFFF
"""`Dictionary.get_many` returns this for a string that is not in the dictionary."""

_CACHED = 1 << 16
_TOGETHER = 16  # strings that are not cached: from so many on they are sought together
_U32 = np.dtype(np.uint32)  # half a microsecond less an array than the class


def split_strings(data: bytes, ends: Sequence[int]) -> list[str]:
    """Return the strings in ``data``, which holds them as UTF-8 one after another.

    ``ends``: the byte at which each string ends. Cost: 0.1 us a string where all are ASCII.

    >>> split_strings("tea\u00fcber".encode(), [3, 3, 8])
    ['tea', '', 'über']
    """
    if data.isascii():  # slicing a str costs a third of slicing and decoding bytes
        text = data.decode("ascii")
        return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return [
        str(data[start:end], "utf-8", "replace")
        for start, end in zip([0, *ends], ends, strict=False)
    ]


class Dictionary:
    """An append-only set of strings, numbered 0, 1, 2, ... in the order in which they were added.

    The first ``stored`` strings are pages of the files under ``folder``, found through the index of
    ``generation``; the strings that `intern` added since are in private memory. So each process may
    hold its own state over the same files, as with `Column`. Opening costs the same for any size.

    Threads: one thread interns, and any number look up meanwhile. `persist` may run beside both;
    only the interning thread calls `adopt`.

    >>> terms = Dictionary()
    >>> terms.intern("tea"), terms.intern("ink"), terms.intern("tea")
    (0, 1, 0)
    >>> terms.string(1), terms.get("milk")
    ('ink', None)
    """

    def __init__(
        self, folder: Path | None = None, name: str = "", stored: int = 0, generation: int = 0
    ) -> None:
        if stored and folder is None:
            raise InputError(f"stored must be 0 without a folder, got {stored}")
        self._folder = folder
        self._name = name
        self._offsets = Column(
            "<i8", self._place("offsets") if stored else None, stored, fixed=True
        )
        heap_size = int(self._offsets.array[-1]) if stored else 0
        self._heap = Column("u1", self._place("heap") if stored else None, heap_size, fixed=True)
        self._index = DictionaryIndex.empty()
        self._index_crc = 0
        if stored >= INDEX_FROM:
            index = DictionaryIndex.open(self._path(f"index-{generation}"), stored)
            self._index = index or DictionaryIndex.empty().extended(self._hashes(0, stored))
        # All strings that the index does not cover (once filled), and a cache of some that it does.
        self._known: dict[str, int] = {}
        self._cached = 0
        # Strings that `get_many` sought and did not find. A string that is interned later is in
        # `_known`, which comes first, until `adopt` moves it to the index and makes a new set here.
        self._missing: set[str] = set()
        self._is_filled = stored == self._index.count
        self._filling = threading.Lock()

    @property
    def count(self) -> int:
        """How many strings there are."""
        return self._offsets.count

    def __len__(self) -> int:
        return self.count

    @property
    def stored(self) -> int:
        """How many strings the files hold."""
        return self._offsets.stored

    def get(self, string: str) -> int | None:
        """Return the string's number, or None. Cost: 0.2 us for a recent string, 4 us for others.

        While another thread interns, the number may be newer than the caller's view. What a caller
        gave is interned in Unicode's NFC, so a string that is not there is looked for in that form.
        """
        number = self._number(string)
        if number is None and not string.isascii() and not is_normalized("NFC", string):
            return self._number(normalize("NFC", string))
        return number

    def _number(self, string: str) -> int | None:
        if not self._is_filled:
            self._fill()
        number = self._known.get(string)
        if number is not None:
            return number
        missing = self._missing  # before the index: `adopt` puts both in place, the index first
        index = self._index
        if not index.count or string in missing:
            return None
        number = self._find(index, string.encode())
        if number is not None:
            self._cache(string, number)
        elif len(missing) < _CACHED:
            missing.add(string)
        return number

    def get_many(self, strings: Sequence[str]) -> ItemNumbers:
        """Return uint32[len(strings)]: each string's number, or `NONE` if it is not there.

        Cost: 0.1 us for a recent string, found or not; 4 us for others, 1 us where they are many.
        """
        return np.array(self.look_up(strings), _U32)

    def look_up(self, strings: Sequence[str]) -> list[int]:
        """Return what `get_many` does, as a list."""
        found = list(map(self._known.get, strings))  # most strings are recent
        if None not in found:
            return found  # type: ignore[return-value]
        missing = self._missing  # taken before the search: `adopt` puts another in its place
        sought = [
            place
            for place, number in enumerate(found)
            if number is None and strings[place] not in missing
        ]
        if not self._is_filled or len(sought) < _TOGETHER:
            for place in sought:
                found[place] = self.get(strings[place])
        elif self._index.count:
            asked = dict.fromkeys(strings[place] for place in sought)
            numbers = self._search(list(asked))
            for place in sought:
                found[place] = numbers[strings[place]]
        return [NONE if number is None else number for number in found]

    def _search(self, strings: Sequence[str]) -> dict[str, int | None]:
        """Return the number of each string that is in the index, None for others."""
        # in this order, as in `get`
        missing = self._missing
        index = self._index
        hashes = np.frombuffer(b"".join(_digest(each.encode()) for each in strings), "<u8")
        places = np.searchsorted(index.hashes, hashes).clip(max=index.count - 1)
        numbers = np.where(index.hashes[places] == hashes, index.numbers[places], NONE)
        stored = iter(self.strings(numbers[numbers != NONE]))
        found: dict[str, int | None] = {}
        for string, number in zip(strings, numbers.tolist(), strict=True):
            if number == NONE:
                found[string] = None
                if len(missing) < _CACHED:
                    missing.add(string)
            elif next(stored) == string:
                found[string] = number
                self._cache(string, number)
            else:  # another string has its hash
                found[string] = self.get(string)
        return found

    def intern(self, string: str) -> int:
        """Return the string's number; a new string gets the next number."""
        number = self.get(string)
        if number is not None:
            return number
        self.add_many([string])
        return self.count - 1

    def add_many(self, strings: Sequence[str]) -> None:
        """Give the next numbers to ``strings``; the caller knows that all of them are new.

        Cost: 0.4 us each; none of them is looked up.
        """
        if not strings:
            return
        first = self.count
        if first + len(strings) > NONE:
            raise InputError(f"a dictionary holds at most {NONE} strings, got {len(strings)} more")
        if len(strings) == 1:  # as in a small transaction: it takes a third of what follows
            self._heap.extend(np.frombuffer(strings[0].encode(), np.uint8))
            self._offsets.append(self._heap.count)
            self._known[strings[0]] = first
            return
        data = [string.encode() for string in strings]
        ends = list(accumulate(map(len, data), initial=self._heap.count))
        self._heap.extend(np.frombuffer(b"".join(data), np.uint8))
        self._offsets.extend(ends[1:])  # the strings count from here on
        self._known.update(zip(strings, range(first, first + len(strings)), strict=True))

    def string(self, number: int) -> str:
        """Return the string that has this number."""
        if not 0 <= number < self.count:
            raise InputError(f"number must lie in [0, {self.count}), got {number}")
        return self._string(number)

    def strings(self, numbers: Iterable[int]) -> list[str]:
        """Return the strings with these numbers, in the same order."""
        given = numbers if isinstance(numbers, np.ndarray) else np.fromiter(numbers, np.int64)
        if not len(given):
            return []
        signed = given.dtype.kind != "u"
        if given.max() >= self.count or (signed and given.min() < 0):
            raise InputError(f"numbers must lie in [0, {self.count}), got {given.tolist()}")
        return self.strings_at(given.astype(np.uint32), np.arange(len(given), dtype=np.uint32))

    def strings_at(self, column: ItemNumbers, places: ItemNumbers) -> list[str]:
        """Return the strings with the numbers ``column[places]``, in the same order.

        The numbers and places are not checked: the caller vouches for them. Cost: 0.05 us each.
        """
        heap = self._heap.buffer
        ends = self._offsets.buffer
        joined = gather_strings(heap, ends, column, places, 0).tobytes().decode("utf-8", "replace")
        found = joined.split("\0")  # the fastest way to make many strings
        if len(found) == len(places):
            return found
        return [self._string(number) for number in column[places].tolist()]  # one has NUL

    @property
    def flat(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """All strings as UTF-8, one after another: uint8[bytes], and their ends: int64[n]."""
        return self._heap.array, self._offsets.array

    def persist(
        self,
        folder: Path,
        name: str,
        generation: int,
        count: int | None = None,
        *,
        sync: bool = True,
    ) -> None:
        """Append the first ``count`` strings (default: all) to the files, and index them.

        The index goes to a new file; the current index stays in use. Call `adopt` once a manifest
        names ``generation`` and ``count``. With ``sync`` False, call `flush_files` before that.
        Raises `StoreFullError`; the state before the call stays valid.
        """
        count = self.count if count is None else count
        if not self.stored <= count <= self.count:
            raise InputError(f"count must lie in [{self.stored}, {self.count}], got {count}")
        self._folder = folder
        self._name = name
        if count > self.stored:
            heap_size = int(self._offsets.array[count - 1])
            heap_size = max(heap_size, self._heap.stored)  # a failed call may have written more
            self._heap.persist(self._path("heap"), heap_size, sync=sync)
            self._offsets.persist(self._path("offsets"), count, sync=sync)
        if count >= INDEX_FROM:
            index = self._index
            index = index.extended(self._hashes(index.count, count))
            self._index_crc = index.write(self._path(f"index-{generation}"), durable=sync)

    def flush_files(self) -> None:
        """Return once all persisted strings are on the disk."""
        self._heap.flush_file()
        self._offsets.flush_file()

    def checksums(self, count: int, generation: int) -> dict[str, int]:
        """Return the CRC-32 of each file, by the end of its name, after `persist` of these."""
        if not count:
            return {}
        heap = self._heap.checksum(int(self._offsets.array[count - 1]))
        found = {"heap": heap, "offsets": self._offsets.checksum(count)}
        if count >= INDEX_FROM:
            found[f"index-{generation}"] = self._index_crc
        return found

    def stored_parts(self, generation: int) -> dict[str, tuple[NDArray[Any], Column | None]]:
        """Return what the files hold: for the end of a name, the items and their column, if any.

        An index that does not come from its file is left out.
        """
        if not self.stored:
            return {}
        parts: dict[str, tuple[NDArray[Any], Column | None]] = {
            "heap": (self._heap.array, self._heap),
            "offsets": (self._offsets.array, self._offsets),
        }
        if (whole := self._index.whole) is not None:
            parts[f"index-{generation}"] = (whole, None)
        return parts

    @property
    def mapped(self) -> list[MappedFile]:
        """The files of which pages are mapped."""
        files = (self._heap.mapped, self._offsets.mapped, self._index.file)
        return [file for file in files if file is not None]

    def adopt(self, generation: int) -> None:
        """Use the index that `persist` wrote for ``generation``, and remove older index files.

        Processes that opened an older index keep it. Lookups may run meanwhile.
        """
        if self.stored < INDEX_FROM:
            return
        path = self._path(f"index-{generation}")
        index = DictionaryIndex.open(path, self.stored)
        if index is None:
            raise CorruptError(path, f"an index of {self.stored} strings", "none")
        if not self._is_filled:
            self._fill()
        looked_up = self._index.count if self._cached < _CACHED else 0
        self._index = index  # first: a lookup that misses `_known` looks in the index next
        self._missing = set()  # before strings leave `_known`
        self._known = {
            string: number
            for string, number in self._known.copy().items()  # readers add to it meanwhile
            if number < looked_up or number >= index.count
        }
        self._cached = self._cached if looked_up else 0
        for old in path.parent.glob(f"{self._name}.index-*"):
            if old != path:
                with contextlib.suppress(OSError):
                    old.unlink()

    def _place(self, suffix: str) -> str:
        assert self._folder is not None
        return f"{self._folder}/{self._name}.{suffix}"

    def _path(self, suffix: str) -> Path:
        return Path(self._place(suffix))

    def _bytes(self, number: int) -> bytes:
        offset = self._offsets.buffer.item  # the number is one that was given: no need to slice
        start = offset(number - 1) if number else 0
        return self._heap.buffer[start : offset(number)].tobytes()

    def _string(self, number: int) -> str:
        return self._bytes(number).decode("utf-8", "replace")

    def _hashes(self, start: int, end: int) -> Hashes:
        """Return the hashes of strings ``start`` to ``end``. Cost: 0.7 us each."""
        heap = self._heap.array.data
        offsets = self._offsets.array
        ends = offsets[start:end].tolist()
        starts = [int(offsets[start - 1]) if start else 0, *ends]
        strings = (heap[first:last] for first, last in zip(starts, ends, strict=False))
        return np.frombuffer(b"".join(map(_digest, strings)), "<u8")

    def _find(self, index: "DictionaryIndex", data: bytes) -> int | None:
        """Return the number of a string, given as UTF-8, or None."""
        hashes = index.hash_view
        hash = int.from_bytes(_digest(data), "little")
        place = bisect_left(hashes, hash)
        while place < index.count and hashes[place] == hash:
            number = index.numbers.item(place)
            if self._bytes(number) == data:
                return number
            place += 1
        return None

    def _cache(self, string: str, number: int) -> None:
        if self._cached < _CACHED:
            self._cached += 1
            self._known[string] = number

    def _fill(self) -> None:
        """Put the stored strings into `_known`, for a dictionary without an index file."""
        with self._filling:
            if not self._is_filled:
                self._known |= {
                    self._bytes(n).decode("utf-8", "replace"): n for n in range(self.stored)
                }
                self._is_filled = True


def _digest(data: bytes | memoryview) -> bytes:
    return blake2b(data, digest_size=8).digest()


# Strings that a batch adds to a dictionary, numbered before the dictionary holds them.
class BatchInterner(dict[str, int]):
    """Interns strings in a batch: new strings get the next numbers, and `add` stores them together.

    Until `add` is called the dictionary does not hold the new strings, and no others may be added
    to it. Cost: 50 ns for a string looked up before; for a new one a third of `Dictionary.intern`.

    >>> names = Dictionary()
    >>> new = BatchInterner(names)
    >>> new["tea"], new["ink"], new["tea"], names.get("ink")
    (0, 1, 0, None)
    >>> new.add()
    >>> names.get("ink")
    1
    """

    def __init__(self, dictionary: Dictionary) -> None:
        super().__init__()
        self._dictionary = dictionary
        self._strings: list[str] = []
        self._first = dictionary.count

    def __missing__(self, string: str) -> int:
        number = self._dictionary.get(string)
        if number is None:
            number = self._first + len(self._strings)
            self._strings.append(string)
        self[string] = number
        return number

    def many(self, strings: Sequence[str]) -> list[int]:
        """Return the number of each string; those that are stored are looked up together."""
        sought = [string for string in dict.fromkeys(strings) if string not in self]
        for string, number in zip(sought, self._dictionary.look_up(sought), strict=True):
            if number == NONE:
                self[string] = self._first + len(self._strings)
                self._strings.append(string)
            else:
                self[string] = number
        return list(map(self.__getitem__, strings))

    def add(self) -> None:
        """Add the new strings to the dictionary."""
        self._dictionary.add_many(self._strings)
        self._first = self._dictionary.count
        self._strings = []
