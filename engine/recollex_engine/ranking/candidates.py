"""The fused list, on which the stages after fusion work: their input is a `Candidates`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import MONTH_NAMES, from_micros
from recollex_engine.domain.schema import NONE
from recollex_engine.domain.turn import is_spoken
from recollex_engine.fork import cached_property
from recollex_engine.ranking.arms import ArmList
from recollex_engine.state.view import View
from recollex_engine.trace import Trace
from recollex_kernels.vectors.codes import cosines


@dataclass(frozen=True)
class Candidates:
    """A fused list, best first.

    query: the question's text; vector: its embedding, None if there is none. memories uint32[n],
    distinct; scores float64[n], finite, falling. now: microseconds UTC, from which ages are
    computed. arms: each arm's list. trace: where a stage notes what the caller should know.
    Properties of the memories are read when first needed.
    """

    query: str
    view: View
    memories: npt.NDArray[np.uint32]
    scores: npt.NDArray[np.float64]
    now: int
    vector: npt.NDArray[np.float32] | None = None
    arms: Mapping[str, ArmList] | None = None
    trace: Trace = field(default_factory=Trace)

    def __len__(self) -> int:
        return len(self.memories)

    def first(self, count: int) -> "Candidates":
        """Return the best ``count`` candidates."""
        if count >= len(self):
            return self
        return self.part(0, count)

    def part(self, first: int, end: int) -> "Candidates":
        """Return the candidates at places [first, end)."""
        return replace(self, memories=self.memories[first:end], scores=self.scores[first:end])

    def taken(self, order: npt.NDArray[np.int64], scores: npt.NDArray[np.float64]) -> "Candidates":
        """Return the list in another order, given as places in this one, with its new scores."""
        return replace(self, memories=self.memories[order], scores=scores)

    @property
    def said_at(self) -> npt.NDArray[np.int64]:
        """When each memory was said or done, microseconds: int64[n]."""
        times: npt.NDArray[np.int64] = self.view.buffer("said_at")[self.memories]
        return times

    def arm(self, name: str) -> npt.NDArray[np.float64]:
        """Return an arm's scores of the memories, 0 for those not in its list: float64[n]."""
        ranked = (self.arms or {}).get(name)
        found = np.zeros(len(self), np.float64)
        if ranked is None or not len(ranked.memories):
            return found
        order = np.argsort(ranked.memories)
        known = ranked.memories[order]
        places = np.minimum(np.searchsorted(known, self.memories), len(known) - 1)
        brought = known[places] == self.memories
        found[brought] = ranked.scores[order[places[brought]]]
        return found

    @cached_property
    def rows(self) -> npt.NDArray[np.uint32]:
        """The passage of each memory that is most similar to the question: uint32[n].

        A short memory has only one. If the question has no vector, it is the first passage. Ties:
        the earlier passage. Cost: a cosine for each passage of the memories with several.
        """
        if self.view.rows == self.view.memories:  # each memory has one row, of the same number
            return self.memories
        first_row = self.view.buffer("first_row")
        places = self.memories.astype(np.int64)
        rows: npt.NDArray[np.uint32] = first_row[places].astype(np.uint32)
        if self.vector is not None:
            ends = first_row[places + 1]
            for place in np.flatnonzero(ends - rows > 1).tolist():
                passages = np.arange(rows[place], ends[place], dtype=np.uint32)
                near = np.empty(len(passages), np.float32)
                cosines(self.view.vectors, passages, self.vector, near)
                rows[place] = passages[int(near.argmax())]
        return rows

    @cached_property
    def texts(self) -> list[str]:
        """What a reranker reads of each memory: its text, or the best passage of a long text.

        A later passage of a turn names its speaker, as the first passage does: "Ann: ...".
        """
        view = self.view
        places = self.memories.astype(np.int64)
        first_row = view.buffer("first_row")
        several = first_row[places + 1] - first_row[places] > 1
        data = view.buffer("text").data
        offsets = view.buffer("text_offset")
        texts = [
            str(data[first:end], "utf-8", "replace")
            for first, end in zip(
                offsets[places].tolist(), offsets[places + 1].tolist(), strict=True
            )
        ]
        for place in np.flatnonzero(several).tolist():
            row = int(self.rows[place])
            memory = int(places[place])
            start = view.buffer("passage_start")[row]
            end = view.buffer("passage_end")[row]
            whole = texts[place]
            speaker = view.columns.label(int(view.buffer("speaker")[memory]))
            spoken = start > 0 and is_spoken(whole, speaker)
            texts[place] = (f"{speaker}: " if spoken else "") + whole[start:end]
        return texts

    @cached_property
    def headings(self) -> list[str]:
        """What TEMPR 3.3 puts before each text: its date, its context, and a space at the end.

        "[Date: November 06, 2025 (2025-11-06)] <context>: "; the context is left out if a memory
        has none. The date is the day, in UTC, on which the memory was said.
        """
        contexts = self.view.buffer("context")[self.memories].tolist()
        headings = []
        for said_at, context in zip(self.said_at.tolist(), contexts, strict=True):
            day = from_micros(said_at).date()
            spoken = f"{MONTH_NAMES[day.month - 1]} {day.day:02}, {day.year}"
            about = "" if context == NONE else f"{self.view.columns.label(context)}: "
            headings.append(f"[Date: {spoken} ({day.isoformat()})] {about}")
        return headings

    @cached_property
    def dated_texts(self) -> list[str]:
        """The texts as TEMPR 3.3 shows them to its reranker, each after its heading."""
        return [heading + text for heading, text in zip(self.headings, self.texts, strict=True)]
