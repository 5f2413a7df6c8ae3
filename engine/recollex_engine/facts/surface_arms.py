"""The arms that search the surfaces of facts, events and episodes in one cut.

The temporal cut comes first (MemoTrace, "Retrieval and packing"): only surfaces of versions that
the cut shows are searched, of one kind, and the frequencies of words are counted over these. So a
fact has the same score whatever other kinds a question asks for. Then the keyword and the semantic
arm each bring their best.
"""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.fact_schema import SURFACE_KINDS
from recollex_engine.domain.intervals import OPEN_START, Span
from recollex_engine.facts.events import EPISODE, EVENT, archived, event_visible_at, read_episode
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.surface_vectors import SurfaceVectors
from recollex_engine.fork import cached_property
from recollex_engine.models.description import Thresholds
from recollex_engine.ranking.arms import ANY_COSINE, ArmList, KeywordResult, Mask, bm25
from recollex_engine.ranking.contextual_fusion import Contextual
from recollex_engine.state.postings import K1, B, TextIndex
from recollex_engine.state.surfaces import Surfaces
from recollex_engine.text.analyzer import Analyzer
from recollex_kernels.words.bm25 import scores_of

WEIGHTS = Contextual()
"""The weights of the score's parts where the preset's fusion has none."""


@dataclass(slots=True)
class _Admitted:
    """What a view admits of so many surfaces of one kind.

    population: how many. mean: the words that these have on average. index: made by the first
    search of words. vectors: made by the first search of vectors.
    """

    allowed: Mask
    population: int
    mean: float
    index: TextIndex | None = None
    vectors: SurfaceVectors | None = None


_shown: WeakKeyDictionary[FactView, dict[str, tuple[Surfaces, int, _Admitted]]]
_shown = WeakKeyDictionary()
"""View -> kind -> what it admits of so many surfaces: an agent asks the same view again."""


@dataclass(frozen=True)
class SurfaceQuestion:
    """A question to the surfaces.

    analyzer: of the agent's language. text: the question. vector: float32[dimension], None to
    search the words alone. thresholds: of the model. span: the time that it names, None for none.
    budget: how many each arm brings. exact: compare with every vector. words: the terms of the
    text, if they were read before. k1, b: parameters of BM25. weights: of the score's parts.
    """

    analyzer: Analyzer
    text: str
    vector: npt.NDArray[np.float32] | None
    thresholds: Thresholds
    span: Span | None = None
    budget: int = 100
    exact: bool = False
    words: tuple[str, ...] | None = None
    k1: float = K1
    b: float = B
    weights: Contextual = WEIGHTS

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The words of the question, each once."""
        return self.analyzer.query(self.text).terms if self.words is None else self.words


class SurfaceArms:
    """The surfaces of one kind that a cut may show, and the arms that search them.

    only: versions, to search no others; without it, archived events are left out.
    """

    def __init__(
        self,
        view: FactView,
        asked: SurfaceQuestion,
        kind: str,
        only: npt.NDArray[np.int64] | None = None,
    ) -> None:
        self.view = view
        self.asked = asked
        self.surfaces = view.columns.surfaces
        self.rows = self.surfaces.rows if view.op else 0
        self.version = self.surfaces.array("version")[: self.rows]
        self._kind = kind
        self.table: str = "event" if kind == "episode" else kind
        known = _shown.setdefault(view, {})
        held = known.get(kind) if only is None else None
        if held is not None and held[:2] == (self.surfaces, self.rows):
            admitted = held[2]
        else:
            admitted = self._admitted_by(self._mask(only))
            if only is None:
                known[kind] = self.surfaces, self.rows, admitted
        self._admitted: _Admitted = admitted
        self.allowed = admitted.allowed
        self.population = admitted.population

    def _admitted_by(self, allowed: Mask) -> _Admitted:
        """Return what a mask admits."""
        lengths = self.surfaces.array("words")[: self.rows]
        population = int(np.count_nonzero(allowed))
        words = int(np.dot(lengths.astype(np.int64), allowed))
        return _Admitted(allowed, population, words / max(population, 1) or 1.0)

    def _index(self) -> TextIndex:
        """Return the words of the surfaces, made once for what a view admits."""
        admitted = self._admitted
        if admitted.index is None:
            admitted.index = self.surfaces.words(self.rows)
        return admitted.index

    def bm25_of(
        self, rows: npt.NDArray[np.uint32], words: KeywordResult
    ) -> npt.NDArray[np.float32]:
        """Return the keyword scores of surfaces, each from its own words."""
        scores = np.zeros(len(rows), np.float32)
        if len(words.terms):
            scores_of(rows, self._index().forward, words.weights, scores)
        return scores

    def _mask(self, only: npt.NDArray[np.int64] | None) -> Mask:
        """Return uint8[rows]: which surfaces belong to versions that the cut may show."""
        kind = self.surfaces.array("kind")[: self.rows]
        places = np.flatnonzero(kind == SURFACE_KINDS.index(self.table))
        shown = self._may_show()
        if only is not None:
            chosen = np.zeros(len(shown), bool)
            chosen[only] = True
            shown &= chosen
        elif self.table == "event":
            shown &= ~archived(self.view)
        versions = self.version[places]
        recorded = versions < len(shown)
        allowed = np.zeros(self.rows, np.uint8)
        allowed[places[recorded]] = shown[versions[recorded]]
        return allowed

    def _may_show(self) -> npt.NDArray[np.bool_]:
        """Return bool[versions]: open in the cut, and of the world's time that it is of.

        Of entities, those that facts of the cut name.
        """
        view = self.view
        column = view.columns.column
        name = self.table
        shown: npt.NDArray[np.bool_]
        if name == "entity":
            shown = np.zeros(view.columns.entities, bool)
            shown[column["phrase_entity"].buffer[: view.count_of("phrase")]] = True
            return shown

        def array(of: str) -> npt.NDArray[np.int64]:
            items: npt.NDArray[np.int64] = column[of].buffer[: view.count_of(name)]
            return items

        closed = array(f"{name}_closed_by")
        shown = (closed == 0) | (closed > np.uint64(view.op))
        if name == "fact":
            if view.world is not None:
                shown &= (array("fact_start") <= view.world) & (array("fact_end") > view.world)
            return shown
        shown &= array("event_kind") == (EVENT if self._kind == "event" else EPISODE)
        if view.world is not None and self._kind == "event":
            start = array("span_start")
            shown &= (start <= view.world) | (start == OPEN_START)
        return shown

    def shown(self, row: int) -> int | None:
        """Return the number of a surface's version, None if the cut does not show it."""
        view = self.view
        version = int(self.version[row])
        if self._kind == "fact":
            return version if view.is_visible(version) else None
        if self._kind == "entity":
            root = view.root(version)
            return root if view.names_entity(root) else None
        key = int(view.data("event_id")[version])
        if self._kind == "event":
            return key if event_visible_at(view, key) is not None else None
        return key if read_episode(view, key) is not None else None

    def keyword(self, budget: int, among: Mask | None = None) -> KeywordResult:
        """Return the arm's list, and what is needed to score any other surface.

        among: uint8[rows], some of the allowed surfaces: only these are listed, and a word has the
        idf of what it says together with the condition that they meet. df counts those of them that
        hold the word; N counts all that are allowed.
        """
        population = self.population
        allowed, every = (
            (self.allowed, population == self.rows) if among is None else (among, False)
        )
        terms = self.view.columns.dictionary["surface_terms"].get_many(self.asked.terms)
        if not len(terms) or not population:
            return KeywordResult.none(population)
        asked = self.asked
        mean = self._admitted.mean
        return bm25(
            self._index(), terms, allowed, every, population, mean, budget, asked.k1, asked.b
        )

    def semantic(self, budget: int) -> ArmList:
        """Return the arm's list: the nearest surfaces by cosine; empty without a vector."""
        if self.asked.vector is None:
            return ArmList.empty()
        admitted = self._admitted
        if admitted.vectors is None:
            dimension = self.view.columns.dimension
            kind = SURFACE_KINDS.index(self.table)
            admitted.vectors = SurfaceVectors(
                self.surfaces, self.rows, dimension, self.allowed, kind
            )
        return admitted.vectors.nearest(
            self.asked.vector, ANY_COSINE, budget, exact=self.asked.exact
        )
