"""The fields of several memories as columns, before objects are made of them.

A process that answers for another process sends these columns. The other makes the objects, if they
are accessed (`memory.looked_at`). `memory.Memory` says which column each field is read from.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import OPEN_END
from recollex_engine.domain.fields import LABELS
from recollex_engine.domain.schema import NONE
from recollex_engine.fork import cached_property
from recollex_engine.ranking.passage_choice import joined, spans, tokens_of
from recollex_engine.ranking.ranking import Explanation, Ranking, explanations
from recollex_engine.recall.closure import Closed, Replaced, closed_by, replaced_by
from recollex_engine.state.view import View
from recollex_engine.storage.dictionary import split_strings
from recollex_kernels.memories import gathering

ALWAYS = ("numbers", "strings", "ends", "score")
ColumnValues = dict[str, Any]
"""Name -> the values of all memories; an empty column is left out.

Always present, as bytes: ``numbers``, int64[6, n], see `gather_memories`; ``strings``, in UTF-8 the
ids one after another and then the texts; ``ends``, int64[2 n], the end of each of them; ``score``,
float64[n]. ``ranks``: arm -> uint32[n], 0 if the arm did not bring the memory. The others are those
of `COLUMNS`, each a list of one value for each memory. Numbers are little-endian.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRow:
    """A column of one value for each memory.

    many: makes the column. one: the value of one memory, by its number in a view, outside a recall;
    of a column that only a recall has, ``absent``. absent: the value of memories whose column was
    not sent. bit: of what `gather_memories` says that some memory has; 0 if it does not look.
    """

    many: Callable[["MemoryColumns"], list[Any]]
    one: Callable[[View, int], Any] | None = None
    absent: Any = None
    bit: int = 0


def number(name: str, *, bit: int = 0, none: int | None = None) -> ColumnRow:
    """Return the column of numbers of a column of memories; ``none`` is the one for no value."""

    def many(of: "MemoryColumns") -> list[Any]:
        found = of.values(name)
        return found if none is None else [None if each == none else each for each in found]

    def one(view: View, memory: int) -> Any:
        found = view.items[name][memory]
        return None if found == none else found

    return ColumnRow(many=many, one=one, absent=0 if none is None else None, bit=bit)


def label(name: str, *, bit: int = 0) -> ColumnRow:
    """Return the column of texts of a column of labels; None for no label."""

    def many(of: "MemoryColumns") -> list[str | None]:
        numbers = of.values(name)
        label = of.view.columns.label
        known = {number: label(number) for number in set(numbers)}
        return [known[number] for number in numbers]

    def one(view: View, memory: int) -> str | None:
        found = view.items[name][memory]
        return None if found == NONE else view.columns.label(found)

    return ColumnRow(many=many, one=one, bit=bit)


def _listed(flat: str, name: str, bit: int, read: Callable[[View, list[int]], Any]) -> ColumnRow:
    """Return the column of what ``read`` makes of lists of numbers; () for an empty list."""

    def many(of: "MemoryColumns") -> list[Any]:
        buffer = of.view.buffer(flat)
        view = of.view
        return [
            read(view, buffer[first:end].tolist()) if end > first else ()
            for first, end in of.slices(name)
        ]

    def one(view: View, memory: int) -> Any:
        found = values(view, flat, name, memory)
        return read(view, found.tolist()) if len(found) else ()

    return ColumnRow(many=many, one=one, absent=(), bit=bit)


def values(view: View, flat: str, name: str, memory: int) -> memoryview:
    """Return the items of a memory's list, a column ``flat`` with offsets ``name``."""
    offsets = view.items[f"{name}_offset"]
    first = offsets[memory]
    end = offsets[memory + 1]
    return view.items[flat][first:end] if end > first else _NO_VALUES


_NO_VALUES = memoryview(b"")


def _passage(of: "MemoryColumns") -> list[str | None]:
    found: list[str | None] = [None] * len(of)
    first_row = of.view.buffer("first_row")
    whole = of.whole_texts
    for place, has_several in enumerate(of.several):
        if has_several:
            row = of.explanations[place].row
            row = first_row.item(int(of.places[place])) if row is None else row
            found[place] = _text_of_row(of.view, whole[place], row)
    return found


def _one_passage(view: View, memory: int) -> str | None:
    first_row = view.items["first_row"]
    row = first_row[memory]
    if first_row[memory + 1] - row < 2:
        return None
    return _text_of_row(view, text_of(view, memory), row)


def _text_of_row(view: View, text: str, row: int) -> str:
    return text[view.items["passage_start"][row] : view.items["passage_end"][row]]


def text_of(view: View, memory: int) -> str:
    """Return the whole text of a memory."""
    return str(values(view, "text", "text", memory), "utf-8", "replace")


def _passages(of: "MemoryColumns") -> list[list[int] | None]:
    found: list[list[int] | None] = [None] * len(of)
    for place, parts in of.spans.items():
        found[place] = [end for part in parts for end in part]
    return found


def _metadata(of: "MemoryColumns") -> list[str]:
    data = of.view.buffer("metadata").data
    return [
        str(data[first:end], "utf-8", "replace") if end > first else ""
        for first, end in of.slices("metadata")
    ]


def _closed(of: "MemoryColumns") -> list[Closed | None]:
    places = of.places.tolist()
    return [
        closed_by(of.view, memory) if closed else None
        for memory, closed in zip(places, of.values("closed_by"), strict=True)
    ]


def _one_closed(view: View, memory: int) -> Closed | None:
    return closed_by(view, memory) if view.items["closed_by"][memory] else None


def _replaces(of: "MemoryColumns") -> list[Replaced | None]:
    found: list[Replaced | None] = [None] * len(of)
    before = of.view.buffer("previous").take(of.places)
    for place in np.flatnonzero(before != NONE).tolist():
        found[place] = replaced_by(of.view, int(of.places[place]))
    return found


def _one_metadata(view: View, memory: int) -> str:
    return str(values(view, "metadata", "metadata", memory), "utf-8", "replace")


def _tag_names(view: View, labels: list[int]) -> Sequence[str]:
    return view.columns.tag_names(labels)


def _scores(of: "MemoryColumns") -> list[Mapping[str, float]]:
    return [each.scores or {} for each in of.explanations]


def _parts(of: "MemoryColumns") -> list[Mapping[str, float]]:
    return [each.parts or {} for each in of.explanations]


def _collapsed(of: "MemoryColumns") -> list[Sequence[str]]:
    strings = of.view.columns.dictionary["ids"].strings
    ids = of.view.buffer("id")
    return [
        strings(ids[list(each.collapsed)]) if each.collapsed else () for each in of.explanations
    ]


def _repeated_at(of: "MemoryColumns") -> list[Sequence[int]]:
    said_at = of.view.buffer("said_at")
    return [
        said_at[list(each.collapsed)].tolist() if each.collapsed else () for each in of.explanations
    ]


_LABEL_BITS = {
    "context": gathering.CONTEXT,
    "document": gathering.DOCUMENT,
    "speaker": gathering.SPEAKER,
    "source": gathering.TRUST,
}
COLUMNS: Mapping[str, ColumnRow] = {
    "passage": ColumnRow(many=_passage, one=_one_passage, bit=gathering.SEVERAL),
    "passages": ColumnRow(many=_passages, bit=gathering.SEVERAL),
    **{field.name: label(field.key, bit=_LABEL_BITS.get(field.key, 0)) for field in LABELS},
    "role": number("role"),
    "trust": number("trust", bit=gathering.TRUST),
    "entities": _listed("mention_entity", "mention", gathering.MENTIONS, View.entity_names),
    "tags": _listed("label", "label", gathering.LABELS, _tag_names),
    "metadata": ColumnRow(many=_metadata, one=_one_metadata, absent="", bit=gathering.METADATA),
    "valid_until": number("valid_end", bit=gathering.VALID_END, none=OPEN_END),
    "closed": ColumnRow(many=_closed, one=_one_closed, bit=gathering.CLOSED),
    "replaces": ColumnRow(many=_replaces, one=replaced_by, bit=gathering.PREVIOUS),
    "scores": ColumnRow(many=_scores, absent={}),
    "parts": ColumnRow(many=_parts, absent={}),
    "collapsed": ColumnRow(many=_collapsed, absent=()),
    "repeated_at": ColumnRow(many=_repeated_at, absent=()),
}
"""Column -> how it is made. The columns of `ALWAYS` and the ranks are made by `MemoryColumns`.

passage: None if it is the text. passages: the start and end of each in the retained text; None for
all of it. role, trust: numbers. metadata: JSON. valid_until: microseconds. closed, replaces: see
`Closed` and `Replaced`. collapsed: ids. repeated_at: microseconds, one for each of these ids.
"""


class ColumnReading:
    """Columns of memories that are read when they are first accessed, and kept.

    They are those of `COLUMNS`, and ``id``, ``text``, ``score``, ``numbers`` (the rows that
    `gather_memories` names) and ``ranks`` (arm -> the rank of each memory in it, or 0).
    """

    def __len__(self) -> int:
        raise NotImplementedError

    def _column(self, name: str) -> Sequence[Any]:
        """Return a column of `COLUMNS`."""
        raise NotImplementedError

    def number(self, row: int, place: int) -> int:
        """Return the number of a memory in a row that `gather_memories` names."""
        found: int = self.numbers[row][place]
        return found

    def __getattr__(self, name: str) -> Any:
        """Read a column of `COLUMNS`."""
        if name not in COLUMNS:
            raise AttributeError(name)
        found = self._column(name)
        setattr(self, name, found)
        return found


class MemoryColumns(ColumnReading):
    """The fields of memories of ``view`` by their ordinals: each column is made at first access.

    ranking: of those memories, in this order; None outside a recall. explain: whether to include
    the scores of each arm. A column is a list with a value for each memory; ``ranks`` maps arms to
    such lists. `COLUMNS` names the columns beside those that are properties here.

    Threads: any number; two that need a column at once may both make it.
    """

    def __init__(
        self,
        view: View,
        memories: Sequence[int] | npt.NDArray[np.uint32],
        ranking: Ranking | None = None,
        explain: bool = False,
    ) -> None:
        self.view = view
        self.places: npt.NDArray[np.int64] = np.asarray(memories, np.int64)
        self._ranking = ranking
        self._explain = explain

    def __len__(self) -> int:
        return len(self.places)

    def _column(self, name: str) -> Sequence[Any]:
        column = COLUMNS[name]
        if column.bit and not self._gathered[3] & column.bit:
            return [column.absent] * len(self)
        return column.many(self)

    def to_columns(self) -> ColumnValues:
        """Return every column that is not empty, in its form for another process."""
        numbers, strings, ends, has = self._gathered
        if has & gathering.SEVERAL and self._cut:
            numbers = numbers.copy()
            numbers[gathering.TOKENS] = self.tokens
            whole = [each.encode() for each in (*self.id, *self.text)]
            strings = np.frombuffer(b"".join(whole), np.uint8)
            ends = np.cumsum([len(each) for each in whole], dtype=np.int64)
        ranking = self._ranking
        found: ColumnValues = {
            "numbers": numbers.tobytes(),
            "strings": strings.tobytes(),
            "ends": ends.tobytes(),
            "score": bytes(8 * len(self)) if ranking is None else ranking.scores.tobytes(),
        }
        why = ranking is not None and (self._explain or ranking.parts or ranking.collapsed)
        for name, column in COLUMNS.items():
            present = has & column.bit if column.bit else column.one is not None or why
            if present and any(values := getattr(self, name)):
                found[name] = values
        if ranking is not None and (ranks := ranking.ranks):
            found["ranks"] = {arm: each.tobytes() for arm, each in ranks.items()}
        return found

    @cached_property
    def _gathered(
        self,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.int64], int]:
        """The numbers that a kernel reads in one pass, see `gather_memories`."""
        held = self.view.buffers
        return gathering.gather_memories(
            self.places,
            (
                held["said_at"],
                held["event_start"],
                held["event_end"],
                held["op"],
                held["op_recorded_at"],
            ),
            (held["network"], held["tokens"], held["first_row"]),
            (held["context"], held["document"], held["speaker"], held["trust"]),
            (held["mention_offset"], held["label_offset"], held["metadata_offset"]),
            (held["valid_end"], held["closed_by"], held["previous"]),
            (held["id"], *self.view.columns.dictionary["ids"].flat),
            (held["text"], held["text_offset"]),
            NONE,
            OPEN_END,
        )

    @cached_property
    def numbers(self) -> list[list[int]]:
        """The rows that `gather_memories` names."""
        found: list[list[int]] = self._gathered[0].tolist()
        if self._ranking is not None and self._ranking.cut:
            tokens = found[gathering.TOKENS]
            for place, rows in self._cut.items():
                tokens[place] = tokens_of(self.view, rows)
        return found

    @cached_property
    def _strings(self) -> list[str]:
        return split_strings(self._gathered[1].tobytes(), self._gathered[2].tolist())

    @cached_property
    def id(self) -> list[str]:
        """The ids."""
        return self._strings[: len(self)]

    @cached_property
    def text(self) -> list[str]:
        """The texts; for a memory that is returned in part, its passages, see `joined`."""
        texts = self.whole_texts
        for place, parts in self.spans.items():
            texts[place] = joined(texts[place], parts)
        return texts

    @property
    def whole_texts(self) -> list[str]:
        """The texts, as they were retained."""
        return self._strings[len(self) :]

    @property
    def tokens(self) -> list[int]:
        """The token counts of the returned texts."""
        return self.numbers[gathering.TOKENS]

    @cached_property
    def score(self) -> list[float]:
        """The scores; 0 outside a recall."""
        if self._ranking is None:
            return [0.0] * len(self)
        scores: list[float] = self._ranking.scores.tolist()
        return scores

    @cached_property
    def ranks(self) -> dict[str, list[int]]:
        """Arm -> the ranks in its list; 0 if it did not bring the memory."""
        ranks = {} if self._ranking is None else self._ranking.ranks
        return {arm: found.tolist() for arm, found in ranks.items()}

    @cached_property
    def several(self) -> list[bool]:
        """Whether each has more than one passage."""
        if not self._gathered[3] & gathering.SEVERAL:
            return [False] * len(self)
        first_row = self.view.buffer("first_row")
        several: list[bool] = (first_row[self.places + 1] - first_row[self.places] > 1).tolist()
        return several

    @cached_property
    def explanations(self) -> Sequence[Explanation]:
        """Why the recall returned each."""
        if self._ranking is None:
            return [_UNRANKED] * len(self)
        return explanations(self._ranking, self.several, self._explain)

    @cached_property
    def _cut(self) -> dict[int, tuple[int, ...]]:
        """The places of memories that are returned in part, and the rows of their passages."""
        if self._ranking is None or not self._ranking.cut:
            return {}
        several = self.several
        return {place: rows for place, rows in self._ranking.cut.items() if several[place]}

    @cached_property
    def spans(self) -> dict[int, list[tuple[int, int]]]:
        """The places of memories that are returned in part, and the spans of their passages."""
        return {place: spans(self.view, rows) for place, rows in self._cut.items()}

    def values(self, name: str) -> list[Any]:
        """Return the items of a column of the view."""
        found: list[Any] = self.view.buffer(name).take(self.places).tolist()
        return found

    def slices(self, name: str) -> list[tuple[int, int]]:
        """Return where a list of each memory begins and ends."""
        offsets = self.view.buffer(f"{name}_offset")
        firsts = offsets.take(self.places).tolist()
        ends = offsets.take(self.places + 1).tolist()
        return list(zip(firsts, ends, strict=True))


class MemoryColumn(ColumnReading):
    """The fields of one memory of ``view``, outside a recall: each column has one value.

    It costs less than `MemoryColumns`, which calls a kernel. `memory` reads other columns with the
    function ``one`` of each.
    """

    ranks: Mapping[str, Sequence[int]] = {}

    def __init__(self, view: View, memory: int) -> None:
        self.view = view
        self.memory = memory

    def __len__(self) -> int:
        return 1

    @cached_property
    def id(self) -> tuple[str]:
        """The id."""
        view = self.view
        return (view.columns.dictionary["ids"].string(view.items["id"][self.memory]),)

    @cached_property
    def text(self) -> tuple[str]:
        """The text."""
        return (text_of(self.view, self.memory),)

    def number(self, row: int, place: int = 0) -> int:
        """Return the number in a row that `gather_memories` names."""
        items = self.view.items
        if row == gathering.RECORDED:
            return int(items["op_recorded_at"][items["op"][self.memory] - 1])
        return int(items[_ROWS[row]][self.memory])


_ROWS = {
    gathering.SAID: "said_at",
    gathering.START: "event_start",
    gathering.END: "event_end",
    gathering.NETWORK: "network",
    gathering.TOKENS: "tokens",
}
"""Row -> its column in a view."""
_UNRANKED = Explanation()
