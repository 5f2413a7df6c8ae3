"""What does a view say of several memories? Columns, before any object is made of them.

A process that answers for another sends these, and the other makes the objects, if they are looked
at (`memory.memories_of`).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import OPEN_END
from recollex_engine.closure import Closed, closed_by
from recollex_engine.dictionary import strings_of
from recollex_engine.ranking import Why
from recollex_engine.schema import NETWORKS, NONE
from recollex_engine.view import View
from recollex_kernels.memories import (
    CLOSED,
    CONTEXT,
    DOCUMENT,
    LABELS,
    MENTIONS,
    METADATA,
    SEVERAL,
    SPEAKER,
    VALID_END,
    memory_numbers,
)

ALWAYS = ("id", "text", "said", "start", "end", "recorded", "network", "tokens", "score")
_PLAIN = (
    *(("passage", SEVERAL), ("context", CONTEXT), ("document", DOCUMENT), ("speaker", SPEAKER)),
    *(("entities", MENTIONS), ("tags", LABELS), ("metadata", METADATA)),
    *(("valid_until", VALID_END), ("closed", CLOSED)),
)
_NUMBERS = (
    *("said_at", "event_start", "event_end", "op", "op_recorded_at", "network", "tokens"),
    *("first_row", "context", "document", "speaker"),
    *("mention_offset", "label_offset", "metadata_offset", "valid_end", "closed_by"),
)
_TOLD = ("ranks", "scores", "parts", "collapsed")
Columns = dict[str, list[Any]]
"""Name -> a value for each memory; a column that would hold nothing is left out.

Always there: id, text, score, said, start, end, recorded (microseconds UTC), network, tokens.
Others: passage (None where it is the text), context, document, speaker, entities, tags, metadata
(JSON), ranks, scores, parts, collapsed (ids), valid_until (microseconds, None without an end),
closed (microseconds, how, by, why; None while open).
"""


class MemoryColumns:
    """What ``view`` says of memories by their ordinals: a column at a time, when first asked for.

    scores: of each, 0 without them. why: given which of them have several passages, tells how each
    came; None outside a recall. A column is a list with a value for each memory, named and made as
    `Columns` says.

    Threads: any number; two that ask for a column at once may both make it.
    """

    def __init__(
        self,
        view: View,
        memories: Sequence[int] | npt.NDArray[np.uint32],
        scores: Sequence[float] | None = None,
        why: Callable[[Sequence[bool]], Sequence[Why]] | None = None,
    ) -> None:
        self._view = view
        self._places = np.asarray(memories, np.int64)
        self._scores = scores
        self._explain = why

    def __len__(self) -> int:
        return len(self._places)

    def all(self) -> Columns:
        """Return every column that holds something, and those that are always there."""
        has = self._read_numbers()
        found: Columns = {name: getattr(self, name) for name in ALWAYS}
        told = () if self._explain is None else _TOLD
        for name in (*(name for name, bit in _PLAIN if has & bit), *told):
            column = getattr(self, name)
            if any(column):
                found[name] = column
        return found

    def _read_numbers(self) -> int:
        """Read the columns that are numbers, in one pass; return what any memory has."""
        buffers = self._view.buffers
        given: list[Any] = [self._places, *map(buffers.__getitem__, _NUMBERS), NONE, OPEN_END]
        numbers, has = memory_numbers(*given)
        said, start, end, recorded, network, tokens = numbers.tolist()
        known = vars(self)
        if not has & SEVERAL:
            known["_several"] = [False] * len(self)
            known.setdefault("tokens", tokens)
        known |= {"said": said, "start": start, "end": end, "recorded": recorded}
        known["network"] = [NETWORKS[number] for number in network]
        return has

    @cached_property
    def id(self) -> list[str]:
        """The ids."""
        return self._view.columns.dictionary["ids"].strings(self._view.buffer("id")[self._places])

    @cached_property
    def text(self) -> list[str]:
        """The texts; of one that was returned in part, the passage."""
        ends = self._view.buffer("text_offset").view(np.int64)[1:]
        texts = strings_of(self._view.buffer("text"), ends, self._places)
        for place, row in self._cut.items():
            texts[place] = self._passage_of(texts[place], row)
        return texts

    @cached_property
    def passage(self) -> list[str | None]:
        """The passages that matched; None where that is the text."""
        found: list[str | None] = [None] * len(self)
        first_row = self._view.buffer("first_row")
        for place, has_several in enumerate(self._several):
            if has_several:
                row = None if self._why is None else self._why[place].row
                whole = self._whole(place) if place in self._cut else self.text[place]
                row = first_row.item(int(self._places[place])) if row is None else row
                found[place] = self._passage_of(whole, row)
        return found

    @cached_property
    def score(self) -> list[float]:
        """The scores."""
        return [0.0] * len(self) if self._scores is None else list(self._scores)

    @cached_property
    def said(self) -> list[int]:
        """When they were said."""
        return self._values("said_at")

    @cached_property
    def start(self) -> list[int]:
        """When what they speak of began."""
        return self._values("event_start")

    @cached_property
    def end(self) -> list[int]:
        """When it ended."""
        return self._values("event_end")

    @cached_property
    def recorded(self) -> list[int]:
        """When they were recorded."""
        view = self._view
        ops = view.buffer("op")[self._places].astype(np.int64) - 1
        found: list[int] = view.buffer("op_recorded_at")[ops].tolist()
        return found

    @cached_property
    def network(self) -> list[str]:
        """The networks."""
        return [NETWORKS[number] for number in self._values("network")]

    @cached_property
    def tokens(self) -> list[int]:
        """The tokens of what is returned of each."""
        tokens = self._values("tokens")
        for place, row in self._cut.items():
            tokens[place] = self._view.buffer("passage_tokens").item(row)
        return tokens

    @cached_property
    def context(self) -> list[str | None]:
        """What they were said in."""
        return self._labels("context")

    @cached_property
    def document(self) -> list[str | None]:
        """The documents."""
        return self._labels("document")

    @cached_property
    def speaker(self) -> list[str | None]:
        """The speakers."""
        return self._labels("speaker")

    @cached_property
    def entities(self) -> list[tuple[str, ...]]:
        """The names of the entities."""
        names = self._view.entity_names
        return [names(each) if each else () for each in self._numbers("mention_entity", "mention")]

    @cached_property
    def tags(self) -> list[Sequence[str]]:
        """The tags."""
        names = self._view.columns.tag_names
        return [names(each) if each else () for each in self._numbers("label", "label")]

    @cached_property
    def metadata(self) -> list[str]:
        """The metadata in JSON, empty where there is none."""
        data = self._view.buffer("metadata").data
        return [
            str(data[first:end], "utf-8") if end > first else ""
            for first, end in self._slices("metadata")
        ]

    @cached_property
    def valid_until(self) -> list[int | None]:
        """When they ceased to be so."""
        return [None if end == OPEN_END else end for end in self._values("valid_end")]

    @cached_property
    def closed(self) -> list[Closed | None]:
        """How they left the present."""
        return [
            closed_by(self._view, closed, forgotten) if closed else None
            for closed, forgotten in zip(
                self._values("closed_by"), self._values("forgotten_by"), strict=True
            )
        ]

    @cached_property
    def ranks(self) -> list[Mapping[str, int]]:
        """Their ranks by arm."""
        return [] if self._why is None else [each.ranks or {} for each in self._why]

    @cached_property
    def scores(self) -> list[Mapping[str, float]]:
        """Their scores by arm."""
        return [] if self._why is None else [each.scores or {} for each in self._why]

    @cached_property
    def parts(self) -> list[Mapping[str, float]]:
        """What each part of the fused score added."""
        return [] if self._why is None else [each.parts or {} for each in self._why]

    @cached_property
    def collapsed(self) -> list[Sequence[str]]:
        """The ids of those that were folded into each."""
        strings, ids = self._view.columns.dictionary["ids"].strings, self._view.buffer("id")
        return [
            strings(ids[list(each.collapsed)]) if each.collapsed else () for each in self._why or ()
        ]

    @cached_property
    def _several(self) -> list[bool]:
        """Which have more than one passage."""
        first_row = self._view.buffer("first_row")
        several: list[bool] = (first_row[self._places + 1] - first_row[self._places] > 1).tolist()
        return several

    @cached_property
    def _why(self) -> Sequence[Why] | None:
        return None if self._explain is None else self._explain(self._several)

    @cached_property
    def _cut(self) -> dict[int, int]:
        """The places of those of which only a passage is returned, and its row."""
        if not any(self._several) or self._why is None:
            return {}
        return {
            place: each.row
            for place, each in enumerate(self._why)
            if each.passage_only and each.row is not None and self._several[place]
        }

    def _whole(self, place: int) -> str:
        """Return all of a text, also where it is returned in part."""
        offsets, memory = self._view.buffer("text_offset"), int(self._places[place])
        return str(
            self._view.buffer("text").data[offsets.item(memory) : offsets.item(memory + 1)], "utf-8"
        )

    def _passage_of(self, text: str, row: int) -> str:
        view = self._view
        return text[view.buffer("passage_start").item(row) : view.buffer("passage_end").item(row)]

    def _values(self, name: str) -> list[Any]:
        found: list[Any] = self._view.buffer(name).take(self._places).tolist()
        return found

    def _labels(self, name: str) -> list[str | None]:
        numbers, label = self._values(name), self._view.columns.label
        known = {number: label(number) for number in set(numbers)}
        return [known[number] for number in numbers]

    def _slices(self, name: str) -> list[tuple[int, int]]:
        offsets = self._view.buffer(f"{name}_offset")
        firsts, ends = offsets.take(self._places).tolist(), offsets.take(self._places + 1).tolist()
        return list(zip(firsts, ends, strict=True))

    def _numbers(self, flat: str, name: str) -> list[list[int]]:
        buffer = self._view.buffer(flat)
        return [
            buffer[first:end].tolist() if end > first else [] for first, end in self._slices(name)
        ]
