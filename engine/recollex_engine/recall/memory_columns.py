"""The fields of several memories as columns, before objects are made of them.

A process that answers for another process sends these columns. The other makes the objects, if they
are accessed (`memory.looked_at`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import OPEN_END
from recollex_engine.domain.schema import NETWORKS, NONE
from recollex_engine.fork import cached_property
from recollex_engine.ranking.explanation import Explanation, explanations
from recollex_engine.ranking.passage_choice import joined, spans, tokens_of
from recollex_engine.ranking.ranking import Ranking
from recollex_engine.recall.predecessor import Replaced, replaced_by
from recollex_engine.state.closure import Closed, closed_by
from recollex_engine.state.view import View
from recollex_engine.storage.dictionary import split_strings
from recollex_kernels.memories.gathering import (
    CLOSED,
    CONTEXT,
    DOCUMENT,
    END,
    LABELS,
    MENTIONS,
    METADATA,
    NETWORK,
    PREVIOUS,
    RECORDED,
    SAID,
    SEVERAL,
    SPEAKER,
    START,
    TOKENS,
    TRUST,
    VALID_END,
    gather_memories,
)

ALWAYS = ("numbers", "strings", "ends", "score")
_PLAIN = (
    ("passage", SEVERAL),
    ("passages", SEVERAL),
    ("context", CONTEXT),
    ("document", DOCUMENT),
    ("speaker", SPEAKER),
    ("role", SPEAKER),
    ("entities", MENTIONS),
    ("tags", LABELS),
    ("metadata", METADATA),
    ("valid_until", VALID_END),
    ("closed", CLOSED),
)
Columns = dict[str, Any]
"""Name -> the values of all memories; an empty column is left out.

Always present, as bytes: ``numbers``, int64[6, n], see `gather_memories`; ``strings``, in UTF-8 the
ids one after another and then the texts; ``ends``, int64[2 n], the end of each of them; ``score``,
float64[n]. ``ranks``: arm -> uint32[n], 0 if the arm did not bring the memory. Others, lists of one
value for each memory: passage (None if it is the text), passages (the start and end of each in the
retained text, None for all of it), context, document, speaker, role (its
number), source, trust (its number), entities, tags, metadata (JSON), scores, parts, collapsed
(ids), repeated_at (microseconds, one for each of these ids), valid_until (microseconds, None
without an end), closed (microseconds, how, by, why; None while open), replaces (text, microseconds
said and recorded, closed; None for a first version). Numbers are little-endian.
"""


class MemoryColumns:
    """The fields of memories of ``view`` by their ordinals: each column is made at first access.

    ranking: of those memories, in this order; None outside a recall. explain: whether to include
    the scores of each arm. A column is a list with a value for each memory; ``ranks`` maps arms to
    such lists.

    Threads: any number; two that need a column at once may both make it.
    """

    def __init__(
        self,
        view: View,
        memories: Sequence[int] | npt.NDArray[np.uint32],
        ranking: Ranking | None = None,
        explain: bool = False,
    ) -> None:
        self._view = view
        self._places = np.asarray(memories, np.int64)
        self._ranking = ranking
        self._explain = explain

    def __len__(self) -> int:
        return len(self._places)

    def told(self) -> Columns:
        """Return every column that is not empty, in its form for another process."""
        numbers, strings, ends, has = self._gathered
        if has & SEVERAL and self._cut:
            numbers = numbers.copy()
            numbers[TOKENS] = self.tokens
            whole = [each.encode() for each in (*self.id, *self.text)]
            strings = np.frombuffer(b"".join(whole), np.uint8)
            ends = np.cumsum([len(each) for each in whole], dtype=np.int64)
        found: Columns = {
            "numbers": numbers.tobytes(),
            "strings": strings.tobytes(),
            "ends": ends.tobytes(),
        }
        for name, bit in _PLAIN:
            if has & bit and any(column := getattr(self, name)):
                found[name] = column
        if any(column := self.replaces):
            found["replaces"] = column
        if has & TRUST:
            found |= {"source": self.source, "trust": self.trust}
        ranking = self._ranking
        if ranking is None:
            return found | {"score": bytes(8 * len(self))}
        found["score"] = ranking.scores.tobytes()
        if ranks := {arm: ranks.tobytes() for arm, ranks in ranking.ranks.items()}:
            found["ranks"] = ranks
        if self._explain or ranking.parts or ranking.collapsed:
            for name in ("scores", "parts", "collapsed", "repeated_at"):
                if any(column := getattr(self, name)):
                    found[name] = column
        return found

    @cached_property
    def _gathered(
        self,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.int64], int]:
        """The numbers that a kernel reads in one pass, see `gather_memories`."""
        held = self._view.buffers
        return gather_memories(
            self._places,
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
            (held["id"], *self._view.columns.dictionary["ids"].flat),
            (held["text"], held["text_offset"]),
            NONE,
            OPEN_END,
        )

    @cached_property
    def _numbers(self) -> list[list[int]]:
        found: list[list[int]] = self._gathered[0].tolist()
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
        texts = self._strings[len(self) :]
        for place, parts in self._spans.items():
            texts[place] = joined(texts[place], parts)
        return texts

    @cached_property
    def passage(self) -> list[str | None]:
        """The passages that matched; None if the passage is the whole text."""
        found: list[str | None] = [None] * len(self)
        first_row = self._view.buffer("first_row")
        whole = self._strings[len(self) :]
        for place, has_several in enumerate(self._several):
            if has_several:
                row = self._explanations[place].row
                row = first_row.item(int(self._places[place])) if row is None else row
                found[place] = self._passage_of(whole[place], row)
        return found

    @cached_property
    def passages(self) -> list[list[int] | None]:
        """The starts and ends of the passages in `text`, one after another; None for all of it."""
        found: list[list[int] | None] = [None] * len(self)
        for place, parts in self._spans.items():
            found[place] = [end for part in parts for end in part]
        return found

    @cached_property
    def score(self) -> list[float]:
        """The scores; 0 outside a recall."""
        if self._ranking is None:
            return [0.0] * len(self)
        scores: list[float] = self._ranking.scores.tolist()
        return scores

    @property
    def said(self) -> list[int]:
        """The times when they were said."""
        return self._numbers[SAID]

    @property
    def start(self) -> list[int]:
        """The starts of the events that they speak of."""
        return self._numbers[START]

    @property
    def end(self) -> list[int]:
        """The ends of those events."""
        return self._numbers[END]

    @property
    def recorded(self) -> list[int]:
        """The times when they were recorded."""
        return self._numbers[RECORDED]

    @cached_property
    def network(self) -> list[str]:
        """The networks."""
        return [NETWORKS[number] for number in self._numbers[NETWORK]]

    @cached_property
    def role(self) -> list[int]:
        """The numbers of their speakers' roles; 0 for an unknown role."""
        return self._values("role")

    @cached_property
    def source(self) -> list[str | None]:
        """Where they come from."""
        return self._labels("source")

    @cached_property
    def trust(self) -> list[int]:
        """The numbers of their levels of trust; 0 without a source."""
        return self._values("trust") if self._gathered[3] & TRUST else [0] * len(self)

    @cached_property
    def tokens(self) -> list[int]:
        """The token counts of the returned texts."""
        tokens = list(self._numbers[TOKENS])
        for place, rows in self._cut.items():
            tokens[place] = tokens_of(self._view, rows)
        return tokens

    @cached_property
    def context(self) -> list[str | None]:
        """The contexts."""
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
        return [names(each) if each else () for each in self._lists("mention_entity", "mention")]

    @cached_property
    def tags(self) -> list[Sequence[str]]:
        """The tags."""
        names = self._view.columns.tag_names
        return [names(each) if each else () for each in self._lists("label", "label")]

    @cached_property
    def metadata(self) -> list[str]:
        """The metadata in JSON; empty if there is none."""
        data = self._view.buffer("metadata").data
        return [
            str(data[first:end], "utf-8", "replace") if end > first else ""
            for first, end in self._slices("metadata")
        ]

    @cached_property
    def valid_until(self) -> list[int | None]:
        """The ends of their validity."""
        return [None if end == OPEN_END else end for end in self._values("valid_end")]

    @cached_property
    def closed(self) -> list[Closed | None]:
        """How they were closed."""
        return [
            closed_by(self._view, memory) if closed else None
            for memory, closed in zip(self._places.tolist(), self._values("closed_by"), strict=True)
        ]

    @cached_property
    def replaces(self) -> list[Replaced | None]:
        """What each said before it was corrected or replaced."""
        found: list[Replaced | None] = [None] * len(self)
        if not self._gathered[3] & PREVIOUS:
            return found
        before = self._view.buffer("previous").take(self._places)
        for place in np.flatnonzero(before != NONE).tolist():
            found[place] = replaced_by(self._view, int(self._places[place]))
        return found

    @cached_property
    def ranks(self) -> dict[str, list[int]]:
        """Arm -> the ranks in its list; 0 if it did not bring the memory."""
        ranks = {} if self._ranking is None else self._ranking.ranks
        return {arm: found.tolist() for arm, found in ranks.items()}

    @cached_property
    def scores(self) -> list[Mapping[str, float]]:
        """Their scores by arm."""
        return [each.scores or {} for each in self._explanations]

    @cached_property
    def parts(self) -> list[Mapping[str, float]]:
        """The contribution of each part of the fused score."""
        return [each.parts or {} for each in self._explanations]

    @cached_property
    def collapsed(self) -> list[Sequence[str]]:
        """The ids of the memories that were folded into each."""
        strings = self._view.columns.dictionary["ids"].strings
        ids = self._view.buffer("id")
        return [
            strings(ids[list(each.collapsed)]) if each.collapsed else ()
            for each in self._explanations
        ]

    @cached_property
    def repeated_at(self) -> list[Sequence[int]]:
        """When each of those was said."""
        said_at = self._view.buffer("said_at")
        return [
            said_at[list(each.collapsed)].tolist() if each.collapsed else ()
            for each in self._explanations
        ]

    @cached_property
    def _several(self) -> list[bool]:
        """Whether each has more than one passage."""
        if not self._gathered[3] & SEVERAL:
            return [False] * len(self)
        first_row = self._view.buffer("first_row")
        several: list[bool] = (first_row[self._places + 1] - first_row[self._places] > 1).tolist()
        return several

    @cached_property
    def _explanations(self) -> Sequence[Explanation]:
        if self._ranking is None:
            return [_UNRANKED] * len(self)
        return explanations(self._ranking, self._several, self._explain)

    @cached_property
    def _cut(self) -> dict[int, tuple[int, ...]]:
        """The places of memories that are returned in part, and the rows of their passages."""
        if self._ranking is None or not self._ranking.cut:
            return {}
        several = self._several
        return {place: rows for place, rows in self._ranking.cut.items() if several[place]}

    @cached_property
    def _spans(self) -> dict[int, list[tuple[int, int]]]:
        return {place: spans(self._view, rows) for place, rows in self._cut.items()}

    def _passage_of(self, text: str, row: int) -> str:
        view = self._view
        return text[view.buffer("passage_start").item(row) : view.buffer("passage_end").item(row)]

    def _values(self, name: str) -> list[Any]:
        found: list[Any] = self._view.buffer(name).take(self._places).tolist()
        return found

    def _labels(self, name: str) -> list[str | None]:
        numbers = self._values(name)
        label = self._view.columns.label
        known = {number: label(number) for number in set(numbers)}
        return [known[number] for number in numbers]

    def _slices(self, name: str) -> list[tuple[int, int]]:
        offsets = self._view.buffer(f"{name}_offset")
        firsts = offsets.take(self._places).tolist()
        ends = offsets.take(self._places + 1).tolist()
        return list(zip(firsts, ends, strict=True))

    def _lists(self, flat: str, name: str) -> list[list[int]]:
        buffer = self._view.buffer(flat)
        return [
            buffer[first:end].tolist() if end > first else [] for first, end in self._slices(name)
        ]


_UNRANKED = Explanation()
