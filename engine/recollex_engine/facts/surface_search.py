"""Which facts, events and episodes say what a question asks for? They are searched by surface.

The arms of `surface_arms` each bring their best, and every candidate is scored by::

    score = 5.1 b + c + freshness + 1.6 (1 if it was so in the time that the question names)

The weights and c, the semantic evidence, are those of `contextual_fusion`, and in a small agent
they change as there (`small_stores`). The keyword evidence b is BM25 divided by the sum of the idf
of the question's words. A surface is one statement, and a question about it may share no word with
it, or one by chance; so b is a share of what is possible, and less than in that fusion, where the
best by words is raised. Measured on LoCoMo's observations (development half, R@10 .624 with b, .642
with the other) and on everyday questions that share no word with their answer (R@3 .695 and .525).
Freshness is ``FRESH * 2^(-age / 30 days)``. As recorded, the age of a fact is the time
from its recorded start to the last operation of the cut; as of a time of the world it is the time
from its valid start to that time. The age of an event is that of its latest fact, or the time from
the start of its span (MemoTrace: "Freshness features"). Ties: the earlier surface first.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import DAY
from recollex_engine.domain.fact_schema import SURFACE_KINDS
from recollex_engine.domain.intervals import OPEN_START, Span
from recollex_engine.domain.literals import ENTITY
from recollex_engine.facts.events import EVENT, PARTICIPANT, edges_from, event_visible_at
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.surface_arms import Asked, SurfaceArms
from recollex_engine.ranking.arms import ANY_COSINE, ArmList
from recollex_engine.ranking.contextual_fusion import Contextual
from recollex_engine.ranking.small_stores import CERTAIN, SIMILARITY, certainty, smallness
from recollex_kernels.vectors.nearest import best_of_rows

FRESH = 0.2
"""What the freshness of something that was just recorded adds to its score."""
HALVED = 30 * DAY
"""The age at which freshness has fallen to a half."""
_WEIGHTS = Contextual()


@dataclass(frozen=True, slots=True)
class Found:
    """A fact, event, episode or entity that a search found.

    kind: of `KINDS`. number: the version of a fact; an event's or episode's number in `event_ids`;
    an entity's own.
    ranks: arm -> its place there, from 1.
    """

    kind: str
    number: int
    score: float
    ranks: dict[str, int]


def search_surfaces(
    view: FactView,
    asked: Asked,
    kinds: Sequence[str],
    limit: int,
    only: Sequence[tuple[str, npt.NDArray[np.int64]]] = (),
) -> list[Found]:
    """Return the ``limit`` best of the kinds that the cut shows, best first.

    only: (table of `SURFACE_KINDS`, versions), to search no others of that table; without it,
    archived events are left out. Cost: the mask,
    10 ns a surface; the postings of the question's words; the vectors, 1 ns each beyond 4,096; and
    30 us for each event that is returned.
    """
    search = _Search(view, asked, kinds, dict(only))
    if not search.rows:
        return []
    budget = max(asked.budget, limit)
    while True:
        ranked, is_all = search.ranked(budget)
        found: list[Found] = []
        entities: set[tuple[str, int]] = set()
        for row, score, ranks in ranked:
            seen = search.shown(row)
            if seen is not None and (seen[0] != "entity" or seen not in entities):
                entities.add(seen)  # names that were merged are one entity
                found.append(Found(*seen, score, ranks))
                if len(found) == limit:
                    break
        if is_all or len(found) == limit:
            return found
        budget *= 4


class _Search(SurfaceArms):
    """One search: the arms, and what scores their candidates."""

    def ranked(self, budget: int) -> tuple[list[tuple[int, float, dict[str, int]]], bool]:
        """Return (row, score, ranks) of the candidates, best first; whether the arms found all."""
        budget = min(budget, self.rows)
        bm25 = self.keyword(budget)
        words = bm25.ranked
        scale = self._certainty(words) / bm25.most if len(words.memories) else 0.0
        near = self.semantic(budget)
        rows = np.union1d(words.memories, near.memories).astype(np.uint32)
        scores = self._scores(rows, bm25.of(rows), scale)
        order = np.lexsort((rows, -scores))
        ranks = {
            name: {row: rank for rank, row in enumerate(ranked.memories.tolist(), 1)}
            for name, ranked in (("keyword", words), ("semantic", near))
        }
        found = [
            (row, score, {name: each[row] for name, each in ranks.items() if row in each})
            for row, score in zip(rows[order].tolist(), scores[order].tolist(), strict=True)
        ]
        whole = len(words.memories) < budget and len(near.memories) < budget
        return found, whole or budget >= self.rows

    def _certainty(self, words: ArmList) -> float:
        """Return how much keyword evidence counts: in full, if the best surface shares a name."""
        found = certainty(float(words.scores[0]), self.population)
        if found > CERTAIN:
            return 1.0
        best = self._names(int(words.memories[0]))
        return found if best.isdisjoint(self.asked.terms) else 1.0

    def _names(self, row: int) -> set[str]:
        """Return the terms of the names of the entities of a surface's version."""
        view = self.view
        version = int(self.version[row])
        data = view.data
        if SURFACE_KINDS[self.kind[row]] == "fact":
            entities = [data("fact_subject")[version]]
            if data("fact_kind")[version] == ENTITY:
                entities.append(data("fact_object")[version])
        elif SURFACE_KINDS[self.kind[row]] == "entity":
            entities = [version]
        else:
            edges = edges_from(view, data("event_id")[version])
            entities = [edge.target for edge in edges if edge.relation == PARTICIPANT]
        names = map(view.entity_name, entities)
        return {term for name in names for term in self.asked.analyzer.query(name).terms}

    def _scores(
        self, rows: npt.NDArray[np.uint32], bm25: npt.NDArray[np.float32], scale: float
    ) -> npt.NDArray[np.float64]:
        weights = _WEIGHTS
        limits = self.asked.thresholds
        scores = weights.keyword * scale * bm25.astype(np.float64)
        if self.asked.vector is not None and len(rows):
            own = self.surfaces.with_vectors(self.rows)
            first = self.surfaces.first_vector(self.rows)
            found, _, cosines = best_of_rows(
                self.surfaces.vectors(len(own), self.view.columns.dimension),
                first[rows][first[rows + 1] > first[rows]],
                own,
                self.allowed,
                self.asked.vector,
                ANY_COSINE,
                len(rows),
            )
            near = np.full(len(rows), limits.semantic)  # no evidence, where there is no vector
            near[np.searchsorted(rows, found)] = cosines
            range_ = max(limits.entry - limits.semantic, 1e-6)
            small = smallness(self.population)
            weight = weights.semantic * (1 + SIMILARITY * small)
            scores += weight * np.maximum((near - limits.semantic) / range_, -1)
        scores += FRESH * np.exp2(-self._ages(rows) / HALVED)
        if self.asked.span is not None:
            scores += weights.in_range * self._in_span(rows, self.asked.span)
        return scores

    def _by_table(
        self, rows: npt.NDArray[np.uint32], of: Callable[[str, int], float], timeless: float
    ) -> npt.NDArray[np.float64]:
        """Return ``of(table, version)`` of each row; ``timeless`` of an entity."""
        kinds = self.kind[rows].tolist()
        versions = self.version[rows].tolist()
        names = [SURFACE_KINDS[kind] for kind in kinds]
        return np.array(
            [
                timeless if name == "entity" else of(name, version)
                for name, version in zip(names, versions, strict=True)
            ]
        )

    def _ages(self, rows: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
        """Return how old each surface's version is in the cut, in microseconds."""
        view = self.view
        data = self.view.data
        starts = {"fact": "fact_start", "event": "span_start"}
        now = data("op_recorded_at")[view.op - 1] if view.world is None else view.world

        def age(name: str, version: int) -> float:
            if view.world is not None:
                start = data(starts[name])[version]
                return math.inf if start == OPEN_START else float(abs(now - start))
            fresh: int | None = None
            if name == "event" and data("event_kind")[version] == EVENT:
                fresh = event_visible_at(view, data("event_id")[version])
            return float(now - (view.recorded(version, name)[0] if fresh is None else fresh))

        return self._by_table(rows, age, math.inf)

    def _in_span(self, rows: npt.NDArray[np.uint32], span: Span) -> npt.NDArray[np.float64]:
        """Return 1 for what was so, or happened, in a time; 0 for what has no start."""
        data = self.view.data
        names = {"fact": ("fact_start", "fact_end"), "event": ("span_start", "span_end")}

        def inside(name: str, version: int) -> float:
            start, end = (data(each)[version] for each in names[name])
            return float(start != OPEN_START and start < span[1] and end > span[0])

        return self._by_table(rows, inside, 0.0)
