"""What comes back from a recall: memories, and why they came."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.arms import Ranked
from recollex_engine.clock import from_micros
from recollex_engine.columns import NETWORKS, NONE
from recollex_engine.trace import Trace
from recollex_engine.view import View


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory, as one view sees it.

    text: all of it; passage: the part that matched, the same for a short memory. event_at: when it
    was said or done, as the caller gave it; event: the interval [start, end) it speaks of, which
    differs where the text names a time ("last Friday"). ranks: arm -> rank from 1; scores: arm ->
    the arm's own score, filled by ``explain=True``. score: of the whole pipeline; 0 outside one.
    """

    id: str
    text: str
    passage: str
    score: float
    event_at: datetime
    event: tuple[datetime, datetime]
    recorded_at: datetime
    network: str
    context: str | None
    document_id: str | None
    speaker: str | None
    entities: tuple[str, ...]
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    tokens: int
    ranks: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the memory as JSON values, times in ISO 8601."""
        return {
            "id": self.id,
            "text": self.text,
            "passage": self.passage,
            "score": self.score,
            "event_at": self.event_at.isoformat(),
            "event": [moment.isoformat() for moment in self.event],
            "recorded_at": self.recorded_at.isoformat(),
            "network": self.network,
            "context": self.context,
            "document_id": self.document_id,
            "speaker": self.speaker,
            "entities": list(self.entities),
            "tags": list(self.tags),
            "metadata": dict(self.metadata),
            "tokens": self.tokens,
            "ranks": dict(self.ranks),
            "scores": dict(self.scores),
        }


def read_memory(
    view: View,
    memory: int,
    row: int | None = None,
    passage_only: bool = False,
    score: float = 0.0,
    ranks: Mapping[str, int] | None = None,
    scores: Mapping[str, float] | None = None,
) -> Memory:
    """Return a memory of ``view`` by its ordinal, with passage ``row`` as the one that matched.

    ``passage_only`` gives the passage for the text as well: the whole would not fit a budget.
    """
    columns = view.columns
    text = columns.text(memory)
    first, end = (int(view.buffer("first_row")[place]) for place in (memory, memory + 1))
    passage, tokens = text, int(view.buffer("tokens")[memory])
    if end - first > 1:
        row = first if row is None else row
        passage = text[
            int(view.buffer("passage_start")[row]) : int(view.buffer("passage_end")[row])
        ]
        if passage_only:
            text, tokens = passage, int(view.buffer("passage_tokens")[row])
    op = int(view.buffer("op")[memory])

    def moment(name: str) -> datetime:
        return from_micros(view.buffer(name)[memory])

    def label(name: str) -> str | None:
        return columns.label(int(view.buffer(name)[memory]))

    return Memory(
        columns.dictionary["ids"].string(int(view.buffer("id")[memory])),
        text,
        passage,
        score,
        moment("said_at"),
        (moment("event_start"), moment("event_end")),
        from_micros(view.buffer("op_recorded_at")[op - 1]),
        NETWORKS[int(view.buffer("network")[memory])],
        label("context"),
        label("document"),
        label("speaker"),
        tuple(columns.entity_name(entity) for entity in columns.entities_of(memory)),
        tuple(columns.tags(memory)),
        columns.metadata(memory),
        tokens,
        ranks or {},
        scores or {},
    )


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a pipeline chose, best first, before any memory is read.

    memories uint32[n], scores float64[n]; lists: arm -> its own list, by which ranks are told;
    cut: place -> the one passage that is returned for a memory too long for the budget.
    """

    memories: npt.NDArray[np.uint32]
    scores: npt.NDArray[np.float64]
    lists: dict[str, Ranked]
    cut: dict[int, int]

    @classmethod
    def empty(cls) -> "Ranking":
        """Return a choice of nothing."""
        return cls(np.empty(0, np.uint32), np.empty(0), {}, {})

    def places(self, memory: int) -> dict[str, int]:
        """Return the memory's rank in each arm that brought it, from 1."""
        found = {}
        for name, ranked in self.lists.items():
            at = np.flatnonzero(ranked.memories == memory)
            if len(at):
                found[name] = int(at[0]) + 1
        return found

    def best_row(self, memory: int) -> int | None:
        """Return the passage that ranked best in an arm that ranks passages; ties to semantic."""
        best: tuple[int, bool, int] | None = None
        for name, rank in self.places(memory).items():
            rows = self.lists[name].rows
            if len(rows):
                offer = (rank, name != "semantic", int(rows[rank - 1]))
                best = offer if best is None else min(best, offer)
        return None if best is None else best[2]


class Recall(Sequence[Memory]):
    """The memories that bear on a question, best first, within the token budget.

    tokens: of the texts returned, counted by `token_counter`. time_range: the range [start, end)
    read out of the question, None if it names none. trace: microseconds by stage. Memories are
    read from the columns when first looked at; what is forgotten afterwards is still here.

    Threads: may be shared once it is returned.
    """

    def __init__(
        self,
        query: str,
        view: View | None,
        ranking: Ranking,
        tokens: int,
        token_counter: str,
        time_range: tuple[datetime, datetime] | None,
        trace: Trace,
        explain: bool = False,
    ) -> None:
        self.query = query
        self.tokens = tokens
        self.token_counter = token_counter
        self.time_range = time_range
        self.trace = trace
        self._view = view
        self._ranking = ranking
        self._explain = explain
        self._read: dict[int, Memory] = {}

    @classmethod
    def empty(cls, query: str) -> "Recall":
        """Return the recall of an agent that holds nothing."""
        return cls(query, None, Ranking.empty(), 0, "none", None, Trace())

    def __len__(self) -> int:
        return len(self._ranking.memories)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"recall holds {len(self)} memories, got index {index}")
        if (memory := self._read.get(place)) is None:
            memory = self._read[place] = self._read_place(place)
        return memory

    def _read_place(self, place: int) -> Memory:
        assert self._view is not None
        ranking = self._ranking
        memory = int(ranking.memories[place])
        places = ranking.places(memory)
        return read_memory(
            self._view,
            memory,
            ranking.best_row(memory),
            place in ranking.cut,
            float(ranking.scores[place]),
            places,
            {name: float(ranking.lists[name].scores[rank - 1]) for name, rank in places.items()}
            if self._explain
            else {},
        )

    def __iter__(self) -> Iterator[Memory]:
        return (self[place] for place in range(len(self)))

    def __repr__(self) -> str:
        return f"<Recall of {self.query!r}: {len(self)} memories, {self.tokens} tokens>"

    @property
    def ids(self) -> list[str]:
        """The ids alone, which costs less than reading the memories."""
        if self._view is None:
            return []
        strings = self._view.columns.dictionary["ids"]
        ids = self._view.buffer("id")
        return strings.strings(ids[self._ranking.memories])

    @property
    def op(self) -> int:
        """The operation that names the view which answered."""
        return self._view.op if self._view else 0

    def to_prompt(self) -> str:
        """Return the memories as text for a language model: a line each, best first, dated.

        The date is the one that TEMPR 3.3 shows to its reranker.
        """
        return "\n".join(f"[{memory.event_at:%B %d, %Y}] {memory.text}" for memory in self)

    def to_dict(self) -> dict[str, Any]:
        """Return the recall as JSON values."""
        return {
            "query": self.query,
            "memories": [memory.to_dict() for memory in self],
            "tokens": self.tokens,
            "token_counter": self.token_counter,
            "time_range": [moment.isoformat() for moment in self.time_range]
            if self.time_range
            else None,
            "trace": {
                "total": self.trace.total,
                "stages": self.trace.stages,
                "errors": self.trace.errors,
            },
        }
