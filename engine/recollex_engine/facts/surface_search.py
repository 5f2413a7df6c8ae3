"""Which facts, events and episodes say what a question asks for? They are searched by surface.

The arms of `surface_arms` each bring their best, and every candidate is scored by::

    score = 5.1 b + c + freshness + 1.6 (1 if it was so in the time that the question names)

The weights are those of the preset, the equation of c, the semantic evidence, is that of
`contextual_fusion`, and in a small agent they change as there (`small_stores`). So scores of
memories and of these compare. The keyword evidence b is BM25 divided by the sum of the idf of the
question's words, both of the kind that is searched. A surface is one statement, and a question
about it may share no word with it, or one by chance; so b is a share of what is possible, and less
than in that fusion, where the best by words is raised. Measured on LoCoMo's observations
(development half, R@10 0.624 with b, 0.642 with the other) and on everyday questions that share no
word with their answer (R@3 0.695 and 0.525).
Freshness is ``FRESH * 2^(-age / 30 days)``. As recorded, the age of a fact is the time
from its recorded start to the last operation of the cut; as of a time of the world it is the time
from its valid start to that time. The age of an event is that of its latest fact, or the time from
the start of its span (MemoTrace: "Freshness features"). Ties: the earlier surface first.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import DAY
from recollex_engine.domain.intervals import OPEN_START, Span
from recollex_engine.domain.literals import ENTITY
from recollex_engine.facts.events import PARTICIPANT, edges_from, event_visible_at
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.surface_arms import SurfaceArms, SurfaceQuestion
from recollex_engine.ranking.arms import ArmList
from recollex_engine.ranking.small_stores import CERTAIN, SIMILARITY, certainty, smallness
from recollex_kernels.vectors.codes import cosines

FRESH = 0.2
"""What the freshness of something that was just recorded adds to its score."""
HALVED = 30 * DAY
"""The age at which freshness has fallen to a half."""


@dataclass(frozen=True, slots=True)
class Found:
    """A fact, event, episode or entity that a search found.

    kind: of `KINDS`. number: the version of a fact; an event's or episode's number in `event_ids`;
    an entity's own.
    ranks: arm -> its place there, from 1. own: arm -> its score there; of "keyword" the share of
    the sum of the idf of the question's words.
    """

    kind: str
    number: int
    score: float
    ranks: dict[str, int]
    own: dict[str, float]


def search_surfaces(
    view: FactView,
    asked: SurfaceQuestion,
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
    versions = dict(only)
    found: list[Found] = []
    for kind in kinds:
        search = _Search(view, asked, kind, versions.get("event" if kind == "episode" else kind))
        found += _best(search, kind, limit)
    return sorted(found, key=lambda each: -each.score)[:limit]


def _best(search: "_Search", kind: str, limit: int) -> list[Found]:
    """Return the ``limit`` best of one kind that the cut shows, best first."""
    if not search.population:
        return []
    budget = max(search.asked.budget, limit)
    while True:
        ranked, is_all = search.ranked(budget)
        found: dict[int, Found] = {}  # names that were merged are one entity
        for row, score, ranks, own in ranked:
            number = search.shown(row)
            if number is not None and number not in found:
                found[number] = Found(kind, number, score, ranks, own)
                if len(found) == limit:
                    break
        if is_all or len(found) == limit:
            return [*found.values()]
        budget *= 4


_Candidate = tuple[int, float, dict[str, int], dict[str, float]]
"""A row, its score, and its ranks and scores in the arms that list it."""
Number = TypeVar("Number", int, float)


def _of_row(by_arm: dict[str, dict[int, Number]], row: int) -> dict[str, Number]:
    """Return arm -> what it says of a row, of the arms that list it."""
    return {name: each[row] for name, each in by_arm.items() if row in each}


_SPAN = {"fact": ("fact_start", "fact_end"), "event": ("span_start", "span_end")}
"""The columns of the time in which what a version says was so."""


class _Search(SurfaceArms):
    """One search: the arms, and what scores their candidates."""

    def ranked(self, budget: int) -> tuple[list[_Candidate], bool]:
        """Return the candidates, best first; whether the arms found all."""
        budget = min(budget, self.rows)
        bm25 = self.keyword(budget)
        words = bm25.ranked
        scale = self._certainty(words) / bm25.most if len(words.memories) else 0.0
        near = self.semantic(budget)
        rows = np.union1d(words.memories, near.memories).astype(np.uint32)
        scores = self._scores(rows, self.bm25_of(rows, bm25), scale)
        order = np.lexsort((rows, -scores))
        ranks = {}
        own = {}
        for name, ranked, most in (("keyword", words, bm25.most), ("semantic", near, 1.0)):
            listed = ranked.memories.tolist()
            ranks[name] = {each: rank for rank, each in enumerate(listed, 1)}
            own[name] = dict(zip(listed, (ranked.scores / (most or 1.0)).tolist(), strict=True))
        found = [
            (row, score, _of_row(ranks, row), _of_row(own, row))
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
        if self.table == "fact":
            entities = [data("fact_subject")[version]]
            if data("fact_kind")[version] == ENTITY:
                entities.append(data("fact_object")[version])
        elif self.table == "entity":
            entities = [version]
        else:
            edges = edges_from(view, data("event_id")[version])
            entities = [edge.target for edge in edges if edge.relation == PARTICIPANT]
        names = map(view.entity_name, entities)
        return {term for name in names for term in self.asked.analyzer.query(name).terms}

    def _scores(
        self, rows: npt.NDArray[np.uint32], bm25: npt.NDArray[np.float32], scale: float
    ) -> npt.NDArray[np.float64]:
        weights = self.asked.weights
        limits = self.asked.thresholds
        scores = weights.keyword * scale * bm25.astype(np.float64)
        if self.asked.vector is not None and len(rows):
            held = len(self.surfaces.with_vectors(self.rows))
            first = self.surfaces.first_vector(self.rows)
            known = first[rows + 1] > first[rows]
            own = np.empty(np.count_nonzero(known), np.float32)
            vectors = self.surfaces.vectors(held, self.view.columns.dimension)
            cosines(vectors, first[rows][known], self.asked.vector, own)
            near = np.full(len(rows), limits.semantic)  # no evidence, where there is no vector
            near[known] = own
            range_ = max(limits.entry - limits.semantic, 1e-6)
            small = smallness(self.population)
            weight = weights.semantic * (1 + SIMILARITY * small)
            scores += weight * np.maximum((near - limits.semantic) / range_, -1)
        scores += FRESH * np.exp2(-self._ages(rows) / HALVED)
        if self.asked.span is not None:
            scores += weights.in_range * self._in_span(rows, self.asked.span)
        return scores

    def _ages(self, rows: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
        """Return how old each surface's version is in the cut, in microseconds."""
        view = self.view
        if self.table == "entity":
            return np.full(len(rows), math.inf)
        data = self.view.data
        now = data("op_recorded_at")[view.op - 1] if view.world is None else view.world

        def age(version: int) -> float:
            if view.world is not None:
                start = data(_SPAN[self.table][0])[version]
                return math.inf if start == OPEN_START else float(abs(now - start))
            fresh: int | None = None
            if self._kind == "event":
                fresh = event_visible_at(view, data("event_id")[version])
            return float(now - (view.recorded(version, self.table)[0] if fresh is None else fresh))

        return np.array([age(version) for version in self.version[rows].tolist()])

    def _in_span(self, rows: npt.NDArray[np.uint32], span: Span) -> npt.NDArray[np.float64]:
        """Return 1 for what was so, or happened, in a time; 0 for what has no start."""
        if self.table == "entity":
            return np.zeros(len(rows))
        starts, ends = (self.view.data(name) for name in _SPAN[self.table])
        return np.array(
            [
                float(
                    starts[version] != OPEN_START
                    and starts[version] < span[1]
                    and ends[version] > span[0]
                )
                for version in self.version[rows].tolist()
            ]
        )
