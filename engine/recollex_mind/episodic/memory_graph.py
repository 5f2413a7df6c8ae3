"""The hybrid graph of gists and facts, as one cut shows it (REMem 3.1 and appendix B).

::

    gist node        a memory; one of kind gist was written as such, any other is its own gist
    phrase node      an entity: a subject or an object of a visible fact; its name is searched
    relation edge    a fact, from its subject to its object, with its valid time
    context edge     a gist and the phrases of the facts of its chunk: of the facts that cite it, a
                     memory that it was made of, or a gist of the same chunk
    synonymy edge    two memories, or two names, whose vectors are similar: the links that are
                     recorded with them

It is no second graph: gists are memories, phrases and relations are entities and facts, context
edges lead through the evidence of facts. So a cut shows the graph of then.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import orjson

from recollex_engine.agents.cut import AgentOrCut, Cut
from recollex_engine.clock import OPEN_END
from recollex_engine.domain.gists import CHUNK, SYNONYMY
from recollex_engine.domain.intervals import EVERY, OPEN_START, Box, Span
from recollex_engine.domain.schema import EVIDENCE, NONE, metadata_label
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.surface_arms import SurfaceQuestion
from recollex_engine.fork import cached_property
from recollex_engine.ranking.arms import Mask
from recollex_engine.state.view import View
from recollex_kernels.memories.filters import mask_holding, mask_within
from recollex_mind.episodic.contexts import Costs, costs_of


@dataclass(frozen=True)
class MemoryGraph:
    """The graph of one cut of both clocks.

    view, facts: the memories and the facts that the cut covers. exact: compare with every vector,
    as a cut does. now: "last May" is relative to it, in microseconds.
    """

    agent: AgentOrCut
    view: View
    facts: FactView
    exact: bool
    now: int

    @classmethod
    def of(cls, agent: AgentOrCut, recorded: int | None, world: int | None) -> "MemoryGraph | None":
        """Return the graph of an agent as recorded by a time and as of a time of the world.

        None for an agent that held nothing.
        """
        cut = agent if recorded is None else Cut.at(agent, recorded)
        view = cut.view()
        if view is None or view.columns.settings is None:
            return None
        now = cut.recorded_at if isinstance(cut, Cut) else cut.clock()
        return cls(cut, view, cut.facts_of(view, view.op, world), cut.is_past, now)

    @cached_property
    def costs(self) -> Costs:
        """The tokens of lines, by the agent's counter."""
        settings = self.view.columns.settings
        counting = self.agent.counting
        assert settings is not None  # a graph is of an agent that holds something
        counter = counting.counter(settings.counter)
        return costs_of(counter, counting.costs(counter.name))

    def asked(self, query: str, vector: npt.NDArray[np.float32] | None = None) -> SurfaceQuestion:
        """Return a question to the surfaces; without a vector the words alone are searched."""
        settings = self.view.columns.settings
        agent = self.agent
        assert settings is not None  # a graph is of an agent that holds something
        analyzer = agent.context.analyzer(settings.language)
        thresholds = agent.embedder.thresholds
        return SurfaceQuestion(analyzer, query, vector, thresholds, exact=self.exact)

    def gists(self, window: Box = EVERY) -> Mask:
        """Return uint8[memories]: 1 for each gist that the cut shows, in a window.

        A gist is in a window if the time that its text names, or at which it was said, is. The
        array may be the view's own. Cost: nothing without a window and a time of the world; else
        O(memories / 64), and the memories that overlap the window.
        """
        view = self.view
        mask = view.open
        if self.facts.world is not None:
            mask = mask.copy()
            mask_holding(
                view.of_memories("event_start"),
                view.of_memories("valid_end"),
                self.facts.world,
                mask,
            )
        if window == EVERY:
            return mask
        start = view.of_memories("event_start")
        end = view.of_memories("event_end")
        narrowed = view.columns.event_times.overlapping(start, end, *_around(window), mask)
        mask_within(start, end, *window.start, *window.end, narrowed)
        return narrowed

    def linked(self, memory: int) -> list[tuple[int, float]]:
        """Return (memory, similarity) along the synonymy edges of a gist, the most similar first.

        Links of later memories to it count as well; the cut shows both ends.
        """
        view = self.view
        offsets = view.buffer("link_offset")
        weights = view.buffer("link_weight")
        first = int(offsets[memory])
        last = int(offsets[memory + 1])
        targets = view.buffer("link_target")[first:last].tolist()
        found = dict(zip(targets, weights[first:last].tolist(), strict=True))
        entry = int(view.link_head[memory]) if memory < len(view.link_head) else NONE
        source = view.buffer("link_source")
        previous = view.buffer("link_previous")
        while entry != NONE:
            other = int(source[entry])
            if other < view.memories:
                found[other] = max(found.get(other, 0.0), float(weights[entry]))
            entry = int(previous[entry])
        shown = self.gists()
        near = [
            (other, weight)
            for other, weight in found.items()
            if weight >= SYNONYMY and shown[other]
        ]
        return sorted(near, key=lambda each: (-each[1], each[0]))

    def chunk(self, memory: int) -> list[int]:
        """Return the gists of the chunk of a gist, with itself, in recorded order."""
        chunk = self._metadata(memory, CHUNK)
        if chunk is None:
            return [memory]
        label = self.view.columns.dictionary["labels"].get(metadata_label(CHUNK, chunk))
        if label is None:
            return [memory]
        held = self.view.offsets("label_offset"), self.view.buffer("label")
        mask = self.view.columns.label_lists.carrying([label], *held, self.gists())
        return sorted({memory, *np.flatnonzero(mask).tolist()})

    def sources(self, memories: Sequence[int]) -> list[int]:
        """Return the memories that gists were made of, each once, in the order of the gists."""
        view = self.view
        found: dict[int, None] = {}
        if not self._has_sources:
            return []
        for memory in memories:
            ids = self._metadata(memory, EVIDENCE)
            for id in ids if isinstance(ids, list) else ():
                key = view.columns.dictionary["ids"].get(str(id))
                source = NONE if key is None else view.columns.newest_of(key)
                while source != NONE and source >= view.memories:
                    source = int(view.columns.array("previous")[source])
                if source != NONE:
                    found[source] = None
        return list(found)

    @cached_property
    def _has_sources(self) -> bool:
        """Whether any memory of the agent may have been made of others."""
        return self.view.columns.metadata_values.first(EVIDENCE) is not None

    def _metadata(self, memory: int, name: str) -> object:
        """Return an item of a memory's metadata; None if it has no such item."""
        offsets = self.view.buffer("metadata_offset")
        first = int(offsets[memory])
        last = int(offsets[memory + 1])
        written = bytes(self.view.buffer("metadata")[first:last])
        if b'"%s"' % name.encode() not in written:  # so that most need not be parsed
            return None
        said: dict[str, object] = orjson.loads(written)
        return said.get(name)

    def versions_within(
        self, versions: npt.NDArray[np.int64], window: Box
    ) -> npt.NDArray[np.bool_]:
        """Return bool[n]: which versions of facts have their start and end in a window."""
        starts = self.facts.array("fact_start")[versions]
        ends = self.facts.array("fact_end")[versions]
        inside: npt.NDArray[np.bool_] = (starts >= window.start[0]) & (starts <= window.start[1])
        inside &= (ends >= window.end[0]) & (ends <= window.end[1])
        return inside


def _around(window: Box) -> Span:
    """Return a short [since, until) with which each interval of a window shares a moment.

    An interval holds its start and its last moment, and lies between its bounds.
    """
    (least, latest), (earliest, most) = window.start, window.end
    ends = [
        (least, most),
        (least, latest + 1),
        (earliest - 1, most),
        (min(earliest - 1, latest), max(earliest - 1, latest) + 1),
    ]
    spans = [(max(since, OPEN_START), min(until, OPEN_END)) for since, until in ends]
    return min(spans, key=lambda span: span[1] - span[0])
