"""The surfaces of facts, events and episodes: their words, vectors and codes, row by row.

They are searched as passages are: the words through posting lists and chains (`state.postings`),
which are kept in memory, the vectors through the same codes (`state.row_codes`). A version has at
most one surface. It may be written later than its version (in an older store, or after a move to
another model), so a view shows a surface where it shows the version, whatever operation wrote the
surface.
"""

import threading
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.fact_schema import SURFACE_KINDS, SURFACES
from recollex_engine.domain.schema import PLACEHOLDER, words
from recollex_engine.log.format import decode_bytes
from recollex_engine.state.column_set import ColumnSet, check_below
from recollex_engine.state.postings import Postings, Tail, TextIndex
from recollex_engine.state.row_codes import encode_rows, one_bit
from recollex_engine.storage.column import Column
from recollex_engine.storage.dictionary import BatchInterner, Dictionary
from recollex_kernels.vectors.codes import OneBit

SEGMENT = 262_144
"""Surfaces of one segment of posting lists."""
UNLISTED = 16_384
"""More surfaces without posting lists than this get some when words are searched."""

Staged = tuple[int, int, Sequence[str], bytes]
"""The table's number in `SURFACE_KINDS`, the version, its words, and its vector; b"" for none."""

_NAMED = (("fact", "p", "fact_predicate"), ("event", "z", "event_summary"))
"""The column of each table that tells an erased version, and the prefix of its labels."""


class StagedSurfaces:
    """The surfaces that a run of operations adds, appended together."""

    def __init__(self, columns: ColumnSet, terms: Dictionary) -> None:
        self._columns = columns
        self._words = BatchInterner(terms)
        self._staged: list[Staged] = []
        self._forgets = False

    def add(self, kind: str, version: int, surface: dict[str, Any]) -> None:
        """Gather one surface, as a record of the log holds it; older ones hold a list of words."""
        vector = surface.get("vector")
        data = b"" if vector is None else decode_bytes(vector.encode())
        words = surface["words"]
        said = words.split() if isinstance(words, str) else words
        self._staged.append((SURFACE_KINDS.index(kind), version, said, data))

    def check(self, ends: Mapping[str, int]) -> None:
        """Raise `ValueError` for a surface of a version that is not below its table's end."""
        for kind, version, _, _ in self._staged:
            name = SURFACE_KINDS[kind]
            check_below(f"the surface's {name}", (version,), ends[name])

    def forget(self) -> None:
        """Begin again without surfaces: those so far have vectors of another model.

        Their words stay in the dictionary, wherever a run of operations ends.
        """
        self._terms()
        self._staged.clear()
        self._forgets = True

    def _terms(self) -> list[int]:
        """Return the numbers of all words of the surfaces, one surface after another."""
        return self._words.many([word for _, _, said, _ in self._staged for word in said])

    def finish(self, dimension: int) -> bool:
        """Append everything, `surface_kind` last; return whether earlier surfaces are dropped.

        Raises `ValueError` for a vector of another length.
        """
        columns = self._columns
        staged = self._staged
        terms = self._terms()
        self._words.add()
        if self._forgets:
            for name in SURFACES:
                columns.pop(name, None)
        if staged:
            before = columns["surface_kind"].count
            given = [(before + place, data) for place, (*_, data) in enumerate(staged) if data]
            vectors = np.empty((len(given), dimension), "<u2")
            for place, (_, data) in enumerate(given):
                vectors[place] = np.frombuffer(data, "<u2", dimension)
            if not columns["surface_term_offset"].count:
                columns["surface_term_offset"].append(0)
            first = columns["surface_term"].count
            columns["surface_term"].extend(terms)
            lengths = [len(said) for _, _, said, _ in staged]
            _, *ends = accumulate(lengths, initial=first)
            columns["surface_term_offset"].extend(ends)
            columns["surface_words"].extend(lengths)
            if given:
                columns["surface_vector"].extend(vectors.reshape(-1))
                for name, items in encode_rows(vectors).items():
                    columns[f"surface_{name}"].extend(items)
                columns["surface_vector_of"].extend([surface for surface, _ in given])
            columns["surface_version"].extend([version for _, version, _, _ in staged])
            columns["surface_kind"].extend([kind for kind, _, _, _ in staged])
        return self._forgets


def _below(ascending: npt.NDArray[np.uint32], end: int) -> int:
    """Return how many of ascending numbers are below ``end``; at once if all are, as a rule."""
    count = len(ascending)
    if count and ascending[-1] >= end:
        return int(np.searchsorted(ascending, np.uint32(end)))
    return count


def _end(segments: Sequence[Postings]) -> int:
    return segments[-1].end_memory if segments else 0


class KindCodes:
    """The vectors of the surfaces of one kind, and their codes of one bit, which lie together.

    A search of one kind so looks at no other: of a million facts with 260,000 vectors, 160,000 are
    of names. Size: 60 bytes a vector. Threads: one at a time extends; any number read.
    """

    def __init__(self, kind: int, width: int) -> None:
        self._kind = kind
        self._width = width
        self.read = 0  # vectors of any kind
        self._rows, self._of = Column("<u4"), Column("<u4")
        self._bits, self._factors = Column("<u8"), Column("<f4")

    def extend(
        self, rows: int, of: npt.NDArray[np.uint32], kinds: npt.NDArray[np.uint8], signs: OneBit
    ) -> None:
        """Read the vectors up to ``rows``; of: the surface of each, kinds: those of surfaces."""
        bits, factors = signs
        if rows <= self.read:
            return
        places = self.read + np.flatnonzero(kinds[of[self.read : rows]] == self._kind)
        self._bits.extend(bits[places].reshape(-1))
        self._factors.extend(factors[places])
        self._of.extend(of[places])
        self._rows.extend(places)  # the last one counts
        self.read = rows

    def before(self, rows: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], OneBit]:
        """Return the vectors of the kind that are before ``rows``: places, surfaces, codes."""
        found = self._rows.array
        n = _below(found, rows)
        bits = self._bits.buffer[: n * self._width].reshape(n, self._width)
        parts = found[:n], self._of.buffer[:n], bits, self._factors.buffer[:n]
        for part in parts:
            part.flags.writeable = False
        return parts[0], parts[1], (parts[2], parts[3])


class Surfaces:
    """The surfaces of an agent, for reading.

    Threads: any number may take `rows` and then arrays of so many rows, while one writer appends.
    """

    def __init__(self, columns: ColumnSet, terms: Dictionary) -> None:
        self._columns = columns
        self._terms = terms
        self._tail = Tail(0)
        self._first_row = np.arange(64, dtype=np.uint32)
        self._first_vector = np.zeros(1, np.uint32)
        self._phrases = np.zeros(0, np.uint8)
        self._of_kind: dict[int, KindCodes] = {}
        self._segments: tuple[Postings, ...] = ()
        self._growing = threading.Lock()
        self._listing = threading.Lock()
        self.are_whole = False  # whether a writer has seen that every version has a surface

    @property
    def rows(self) -> int:
        """How many surfaces there are."""
        column = self._columns.get("surface_kind")
        return 0 if column is None else column.count

    def array(self, name: str) -> npt.NDArray[Any]:
        """Return a column with its spare capacity."""
        return self._columns[f"surface_{name}"].buffer

    def first_row(self, rows: int) -> npt.NDArray[np.uint32]:
        """Return 0, 1, ... ``rows``: a surface has one row, of its own number."""
        if rows >= len(self._first_row):
            with self._growing:
                if rows >= len(self._first_row):
                    self._first_row = np.arange(rows * 3 // 2 + 1, dtype=np.uint32)
        return self._first_row[: rows + 1]

    def words(self, rows: int) -> TextIndex:
        """Return an index of the words of the first ``rows`` surfaces, and perhaps of newer ones.

        Cost: the words that it lacks, 15 ns each in chains; posting lists of up to 262,144 surfaces
        are made when `UNLISTED` surfaces have none, 60 ns a word. 2 s for the first search of a
        million.
        """
        segments = self._segments
        if rows - _end(segments) > UNLISTED:
            with self._listing:
                segments = self._segments
                if rows - _end(segments) > UNLISTED:
                    segments = self._segments = self._listed(rows)
        first_row = self.first_row(rows)
        tail = self._tail_from(_end(segments))
        chains = tail.now
        if rows > tail.first_memory:
            words = self.array("term_offset"), self.array("term")
            chains = tail.postings(first_row, *words, rows, self._terms.count)
        lengths = self.array("words")
        forward = lengths, first_row, self.array("term_offset"), self.array("term")
        return TextIndex.of(rows, segments, chains, forward)

    def _tail_from(self, first: int) -> Tail:
        """Return the chains of the surfaces that posting lists do not cover."""
        with self._growing:
            if self._tail.first_memory != first:
                self._tail = Tail(first)
            return self._tail

    def _listed(self, rows: int) -> tuple[Postings, ...]:
        """Return posting lists of all surfaces; those of whole segments stay as they are."""
        whole = [each for each in self._segments if each.end_memory % SEGMENT == 0]
        first = whole[-1].end_memory if whole else 0
        offsets, terms, lengths = (self.array(name) for name in ("term_offset", "term", "words"))
        while first < rows:
            end = min(rows, first + SEGMENT)
            own = offsets[first : end + 1]
            used = terms[int(own[0]) : int(own[-1])]
            vocabulary = int(used.max()) + 1 if len(used) else 0
            whole.append(Postings.build(own, terms, lengths[first:end], first, vocabulary))
            first = end
        return tuple(whole)

    def with_vectors(self, rows: int) -> npt.NDArray[np.uint32]:
        """Return which of the first ``rows`` surfaces have vectors, ascending: that of each."""
        column = self._columns["surface_vector_of"]
        held: npt.NDArray[np.uint32] = column.buffer[: column.count]
        return held[: _below(held, rows)]

    def first_vector(self, rows: int) -> npt.NDArray[np.uint32]:
        """Return where the vectors of surfaces begin: those of s are first[s]:first[s + 1].

        uint32[rows + 1]. Cost: nothing while there are no more surfaces, else 20 ns each.
        """
        held = self.with_vectors(rows)
        if len(held) == rows:
            return self.first_row(rows)
        known = self._first_vector
        if rows >= len(known):
            with self._growing:
                known = self._first_vector
                if rows >= len(known):
                    new = np.arange(len(known), rows + 1, dtype=np.uint32)
                    more = np.searchsorted(held, new).astype(np.uint32)
                    self._first_vector = known = np.concatenate((known, more))
        return known[: rows + 1]

    def vectors(self, rows: int, dimension: int) -> npt.NDArray[np.uint16]:
        """Return the first vectors: uint16[rows, dimension], float16 bit patterns, read-only.

        Kernels are compiled for arrays that are read-only, as those of passages are.
        """
        flat: npt.NDArray[np.uint16] = self.array("vector")[: rows * dimension]
        found = flat.reshape(rows, dimension)
        found.flags.writeable = False
        return found

    def of_kind(
        self, kind: int, rows: int, dimension: int
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], OneBit]:
        """Return which of the first ``rows`` vectors are of a kind, their surfaces and codes.

        Cost: 60 bytes to copy for each that is new since the last call.
        """
        known = self._of_kind.get(kind)
        if known is None or known.read < rows:
            with self._growing:
                known = self._of_kind.setdefault(kind, KindCodes(kind, words(dimension)))
                of = self.array("vector_of")
                kinds = self.array("kind")
                known.extend(rows, of, kinds, one_bit(self.array, rows, dimension))
        return known.before(rows)

    def missing(self, labels: Dictionary) -> list[tuple[str, int]]:
        """Return (table, version) of the versions that have no surface; erased ones get none.

        ``labels``: the dictionary of that name. Cost: 20 ns a version.
        """
        rows = self.rows
        found = []
        kinds = self.array("kind")[:rows]
        versions = self.array("version")[:rows]
        for number, (kind, prefix, column) in enumerate(_NAMED):
            named = self._columns.array(column)
            erased = labels.get(f"{prefix}:{PLACEHOLDER}")
            lacks = np.ones(len(named), bool)
            lacks[versions[kinds == number]] = False
            if erased is not None:
                lacks &= named != erased
            found += [(kind, version) for version in np.flatnonzero(lacks).tolist()]
        array = self._columns.array
        named = np.union1d(array("fact_subject"), array("fact_entity"))
        lacking = np.setdiff1d(named, versions[kinds == SURFACE_KINDS.index("entity")])
        return found + [("entity", entity) for entity in lacking.tolist()]

    def phrases(self, rows: int) -> npt.NDArray[np.uint8]:
        """Return which of the first ``rows`` surfaces are of entities: uint8[rows].

        Cost: the surfaces that are new since the last call.
        """
        with self._growing:
            known = len(self._phrases)
            if rows > known:
                more = self.array("kind")[known:rows] == SURFACE_KINDS.index("entity")
                self._phrases = np.concatenate((self._phrases, more.astype(np.uint8)))
            return self._phrases[:rows]
