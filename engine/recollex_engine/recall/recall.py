"""The result of a recall: memories, best first, and the reasons for them."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import asdict
from datetime import datetime
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from recollex_engine.facts.hits import Hit
from recollex_engine.fork import cached_property
from recollex_engine.ranking.confidence import NOTHING_FOUND, Signs, shows
from recollex_engine.ranking.ranking import Ranking
from recollex_engine.recall.beside import Beside, hit_of, prompt_lines
from recollex_engine.recall.memory import Memory, lazy_memories, prompt_of
from recollex_engine.recall.memory_columns import ALWAYS, ColumnValues, MemoryColumns
from recollex_engine.recall.subgraph import Subgraph
from recollex_engine.state.view import View
from recollex_engine.trace import Trace


class Recall(Sequence[Memory]):
    """The memories for a question, best first, within the token budget.

    tokens: of the lines of `to_prompt` by `token_counter`, or a few more: the costliest of dates is
    counted for each line. time_range: the range [start, end)
    that the question names, None if it names none. trace: microseconds by stage. confidence: the
    probability that the agent holds an answer, in [0, 1]; 0 if nothing was found. It is None if the
    fusion reads no signs of it, if an arm that it needs failed or is not in the preset, or if most
    letters of the question are not Latin, for which it was not calibrated. signs: the evidence for
    the confidence, see `confidence.Signs`; None only if the confidence is. subgraph:
    the packed subgraph, None unless ``pack`` was given. Memories are read from the columns when
    they are first accessed; a memory that is forgotten afterwards is still here.

    Threads: may be shared once it is returned.
    """

    def __init__(
        self,
        query: str,
        *,
        view: View | None,
        ranking: Ranking,
        tokens: int | Callable[[], int],
        token_counter: str,
        time_range: tuple[datetime, datetime] | None,
        trace: Trace,
        explain: bool = False,
        confidence: float | None = None,
        signs: Signs | None = None,
        subgraph: Subgraph | None = None,
        beside: Beside | None = None,
    ) -> None:
        self.query = query
        if isinstance(tokens, int):
            self.tokens = tokens
        else:
            self._count_tokens = tokens
        self.token_counter = token_counter
        self.time_range = time_range
        self.trace = trace
        self.confidence = confidence
        self.signs = signs
        self.subgraph = subgraph
        self._beside = beside
        self._view = view
        self._ranking = ranking
        self._explain = explain

    @classmethod
    def empty(cls, query: str, subgraph: Subgraph | None = None) -> "Recall":
        """Return the recall of an agent that holds nothing."""
        return cls(
            query,
            view=None,
            ranking=Ranking.empty(),
            tokens=0,
            token_counter="none",
            time_range=None,
            trace=Trace(),
            confidence=0.0,
            signs=NOTHING_FOUND,
            subgraph=subgraph,
        )

    @cached_property
    def tokens(self) -> int:
        """How many tokens the memories take; counted when accessed if there was no budget."""
        return self._count_tokens()

    @property
    def beside(self) -> Beside | None:
        """The facts, events and episodes beside the memories; None unless ``kinds`` asked."""
        return self._beside

    @property
    def hits(self) -> tuple[Hit[Any], ...]:
        """Memories, facts, events and episodes in one order, best first, as ``kinds`` asked.

        Their scores are of one scale; a memory that a later stage ranked keeps that place (see
        `recall.beside`).
        """
        hits = map(hit_of, self)
        return tuple(hits) if self.beside is None else self.beside.together(hits)

    def with_beside(self, kept: Sequence[int], beside: Beside, tokens: int) -> "Recall":
        """Return the recall with its memories at places ``kept``, and others beside them."""
        new = copy(self)
        new._ranking = self._ranking.kept(kept)
        new._beside = beside
        new.tokens = tokens
        for name in ("_memories", "_held"):
            new.__dict__.pop(name, None)
        return new

    def __len__(self) -> int:
        return len(self._ranking.memories)

    @overload
    def __getitem__(self, index: int) -> Memory: ...
    @overload
    def __getitem__(self, index: slice) -> list[Memory]: ...
    def __getitem__(self, index: int | slice) -> Memory | list[Memory]:
        return self._memories[index]

    def __copy__(self) -> "Recall":
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def __iter__(self) -> Iterator[Memory]:
        return iter(self._memories)

    @cached_property
    def _memories(self) -> list[Memory]:
        held = self._held
        return [] if held is None else lazy_memories(held)

    @cached_property
    def _held(self) -> MemoryColumns | None:
        """The columns from which the memories are made; None if there is no view."""
        if self._view is None:
            return None
        return MemoryColumns(self._view, self._ranking.memories, self._ranking, self._explain)

    def columns(self) -> ColumnValues:
        """Return the columns of the memories, for a process that answers another process."""
        held = self._held
        return dict.fromkeys(ALWAYS, b"") if held is None else held.to_columns()

    def __repr__(self) -> str:
        noun = "memory" if len(self) == 1 else "memories"
        return f"<Recall of {self.query!r}: {len(self)} {noun}, {self.tokens} tokens>"

    @property
    def ids(self) -> list[str]:
        """The ids alone; this costs less than reading the memories."""
        if self._view is None:
            return []
        strings = self._view.columns.dictionary["ids"]
        return strings.strings_at(self._view.buffer("id"), self._ranking.memories)

    @property
    def ordinals(self) -> npt.NDArray[np.uint32]:
        """The numbers of the memories in their agent, in recorded order."""
        return self._ranking.memories

    @property
    def op(self) -> int:
        """The operation of the view that answered."""
        return self._view.op if self._view else 0

    def is_shown(self, min_confidence: float | None = None) -> bool:
        """Return whether the recall is worth putting before a model, which costs it tokens.

        min_confidence: the least confidence. By default 0.1, if most of the question's words are in
        no memory; and small talk and sums ("Hi!", "What is 2+2?") are not worth it. A recall
        without a confidence is, and one of facts alone.
        """
        return not len(self) or shows(self.confidence, self.signs, min_confidence)

    def to_prompt(self, min_confidence: float | None = None) -> str:
        """Return the memories as text for a language model: one dated line each, best first.

        min_confidence: see `is_shown`; 0 writes whatever was recalled. If it is not, the text is
        empty, unless the recall was packed.

        The date has the form that TEMPR 3.3 gives its reranker. If a memory of the recall has a
        source, all below full trust are marked: "[May 04, 2024; source: web] ...". Further lines of
        a text are indented, so that no text can look like another memory. A packed recall returns
        the text of its subgraph. Either has at most ``max_tokens`` tokens, by `token_counter`.
        """
        if self.subgraph is not None:
            return self.subgraph.to_prompt()
        if not self.is_shown(min_confidence):
            return ""
        if self.beside is not None:
            return "\n".join(prompt_lines(self.hits))
        return prompt_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the recall as JSON values; "subgraph" if it was packed, "hits" if kinds asked."""
        packed: dict[str, Any] = (
            {} if self.subgraph is None else {"subgraph": self.subgraph.to_dict()}
        )
        if self.beside is not None:
            packed["hits"] = [hit.to_dict() for hit in self.hits]
        return packed | {
            "query": self.query,
            "memories": [memory.to_dict() for memory in self],
            "tokens": self.tokens,
            "token_counter": self.token_counter,
            "confidence": self.confidence,
            "signs": asdict(self.signs) if self.signs else None,
            "time_range": [moment.isoformat() for moment in self.time_range]
            if self.time_range
            else None,
            "trace": {
                "total": self.trace.total,
                "stages": self.trace.stages,
                "errors": self.trace.errors,
            },
        }
