"""Which memories do the facts cite that share words with a question? They are evidence for it.

A fact says in few words what its evidence says in many, and knows when it held. So a memory that a
fact cites counts more in a recall (`ranking.reordering`).
"""

import math
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.intervals import Span
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.surface_arms import SurfaceArms, SurfaceQuestion
from recollex_engine.ranking.arms import Mask, places_of_runs
from recollex_engine.ranking.fusion import Cited
from recollex_engine.state.view import View

FACTS = 60
"""The most facts that count."""
MOST = 1 << 16
"""Of more facts than these none counts: their search would take longer than a recall."""
_newest: WeakKeyDictionary[View, FactView] = WeakKeyDictionary()
"""View -> its facts, whose surfaces are masked once (see `surface_arms`)."""


def cited_by_facts(
    view: View, world: int | None, trust: int, asked: SurfaceQuestion
) -> Cited | None:
    """Return the memories that the best `FACTS` facts cite, best first, each once; None for none.

    The facts share words with the question and, if it names a time, held at some moment of it. They
    are ranked by BM25, where a word of that time is the rarer, the fewer facts of that time hold it
    (see `SurfaceArms.keyword`). The share of a memory is that of the best fact that cites it::

        share = BM25 / sqrt(best BM25 * sum of the idf of the question's words)

    world, trust: as for `FactView`. Cost: 10 ns a fact after each write; 5 ns if a time is named;
    the postings of the words; 25 us.
    """
    if not view.op or not view.columns.surfaces.rows:
        return None
    facts = _facts(view, world, trust)
    if not 0 < facts.count <= MOST:
        return None
    search = SurfaceArms(facts, asked, "fact")
    among = None if asked.span is None else _of_time(facts, search, asked.span)
    bm25 = search.keyword(min(FACTS, search.rows), among)
    found = bm25.ranked
    versions = search.version[found.memories].astype(np.int64)
    scores = found.scores
    if facts.least_trust:
        trusted = np.isin(versions, facts.trusted(versions))
        versions = versions[trusted]
        scores = scores[trusted]
    memories, places = _evidence(facts, versions)
    if not len(memories):
        return None
    shares = scores[places] / np.float32(math.sqrt(float(found.scores[0]) * bm25.most))
    held = memories.tolist()
    if len({*held}) < len(held):  # several facts cite a memory: the best one counts
        first = sorted(dict(zip(held[::-1], range(len(held) - 1, -1, -1), strict=True)).values())
        memories = memories[first]
        shares = shares[first]
    return memories, shares


def _facts(view: View, world: int | None, trust: int) -> FactView:
    if world is not None or trust:
        return FactView(view.columns, view.op, world, trust)
    if (facts := _newest.get(view)) is None:
        facts = _newest[view] = FactView(view.columns, view.op)
    return facts


def _of_time(facts: FactView, search: SurfaceArms, span: Span) -> Mask:
    """Return uint8[rows]: which surfaces are of facts that held at some moment of ``span``."""
    held = (facts.array("fact_start") < span[1]) & (facts.array("fact_end") > span[0])
    own = held.view(np.uint8).take(search.version, mode="clip")  # none else is allowed
    among: Mask = search.allowed & own
    return among


def _evidence(
    facts: FactView, versions: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """Return the memories that versions cite, one version after the other; the place of each."""
    ends = facts.array("fact_evidence_end")
    cited = facts.columns.array("fact_evidence")
    last = ends[versions].astype(np.int64)
    first = ends[versions - 1].astype(np.int64)
    first[versions == 0] = 0
    counts = last - first
    places = np.arange(len(versions))
    if counts.min(initial=1) == counts.max(initial=1) == 1:
        return cited[first], places
    return cited[places_of_runs(first, counts)], np.repeat(places, counts)
