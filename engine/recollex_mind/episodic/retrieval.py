"""The retrieval tools: the gists and facts nearest to a question, by meaning or words (REMem 3.2).

Each list is that of one arm, as in REMem: cosines, or BM25. Gists are ranked by the arms of a
recall (`ranking.arms`), facts by those over their surfaces (`facts.surface_arms`). A memory of
which a gist was made is left out if that gist was found too: the gist stands for it. Ties: the
earlier recorded one first.

On several processors another thread seeks the nearest facts while this one seeks the nearest gists:
both searches wait for memory, which two processors read faster. If no processor has had time for
that thread once the gists are found, this one seeks the facts too.
"""

from collections.abc import Callable
from concurrent.futures import Future

import numpy as np
import numpy.typing as npt

from recollex_engine.background_work import usable_cores
from recollex_engine.domain.intervals import EVERY, Box
from recollex_engine.facts.facts import Fact, read_facts
from recollex_engine.facts.surface_arms import SurfaceArms, SurfaceQuestion
from recollex_engine.fork import ThreadPool
from recollex_engine.ranking import arms
from recollex_engine.ranking.arms import ANY_COSINE, ArmList, Mask
from recollex_engine.ranking.query_embedding import embed_once
from recollex_engine.ranking.ranking import Ranking
from recollex_engine.recall.memory import Memory, read_memories
from recollex_engine.recall.question_reading import read_question
from recollex_mind.episodic.contexts import Contexts, within_limit
from recollex_mind.episodic.memory_graph import MemoryGraph

SPARE = 3
"""Gists that an arm brings for each one wanted: some are left out for those made of them."""
FIRST = 32
"""Facts that an arm brings at least at first; four times as many as long as too few are shown."""
FIRST_IN_WINDOW = 64
"""The same where a window admits only some of them."""
BESIDE = 65_536
"""From this many vectors of gists, and of facts and names, on, both may be sought at once."""

QueryVector = npt.NDArray[np.float32]


def semantic_retrieve(
    graph: MemoryGraph,
    query: str,
    window: Box,
    limit: int,
    max_tokens: int | None,
    vector: QueryVector | None = None,
) -> Contexts:
    """Return the ``limit`` gists and the ``limit`` facts that are nearest in meaning.

    vector: of the question; without one the model makes it. Raises the errors of the model.
    """
    view = graph.view
    embedder = graph.agent.embedder
    if vector is None:
        vector = embed_once(embedder, query, view.columns.dimension)
    first = _first_search(graph, graph.asked(query, vector), window, limit)
    begun = _begun(first, view.rows)

    def nearest(mask: Mask, budget: int) -> ArmList:
        return arms.semantic(view, vector, mask, ANY_COSINE, budget, graph.exact)

    def near_facts(search: SurfaceArms, budget: int) -> ArmList:
        nonlocal begun
        if begun is None or begun.cancel():  # no processor had time to begin
            return search.semantic(budget)
        found = begun.result()
        begun = None
        return found

    return within_limit(
        _gists(graph, nearest, window, limit),
        _facts(graph, first, near_facts, window, limit),
        max_tokens,
        graph.costs,
    )


def lexical_retrieve(
    graph: MemoryGraph, query: str, window: Box, limit: int, max_tokens: int | None
) -> Contexts:
    """Return the ``limit`` gists and the ``limit`` facts that share most words with a question."""
    view = graph.view
    asked = graph.asked(query)
    terms = view.columns.dictionary["terms"].get_many(
        read_question(asked.analyzer, query).parsed.terms
    )

    def matching(mask: Mask, budget: int) -> ArmList:
        return arms.keyword(view, terms, mask, budget).ranked

    def matching_facts(search: SurfaceArms, budget: int) -> ArmList:
        return search.keyword(budget).ranked

    return within_limit(
        _gists(graph, matching, window, limit),
        _facts(graph, _first_search(graph, asked, window, limit), matching_facts, window, limit),
        max_tokens,
        graph.costs,
    )


def _gists(
    graph: MemoryGraph, arm: Callable[[Mask, int], ArmList], window: Box, limit: int
) -> list[Memory]:
    """Return the best gists of an arm, best first, without those that others were made of."""
    if not graph.view.memories:
        return []
    found = arm(graph.gists(window), SPARE * limit)
    memories = found.memories
    scores = found.scores
    if replaced := graph.sources(memories.tolist()):
        kept = np.isin(memories, replaced, invert=True)
        memories = memories[kept]
        scores = scores[kept]
    ranking = Ranking(memories[:limit], scores[:limit].astype(np.float64), {})
    return read_memories(graph.view, ranking.memories, ranking)


_First = tuple[SurfaceArms, int]
"""The search of facts, and how many its arm brings at first."""
_beside = ThreadPool(1, "recollex facts")


def _first_search(
    graph: MemoryGraph, asked: SurfaceQuestion, window: Box, limit: int
) -> _First | None:
    """Return the search of the facts of a cut; None if there are none."""
    view = graph.facts
    if not view.count or not view.columns.surfaces.rows:
        return None
    search = SurfaceArms(view, asked, "fact")
    return search, min(max(FIRST if window == EVERY else FIRST_IN_WINDOW, limit), search.rows)


def _begun(first: _First | None, gists: int) -> Future[ArmList] | None:
    """Begin to seek the nearest facts in another thread, if it pays; else return None."""
    if first is None or gists < BESIDE or usable_cores() == 1:
        return None
    search, budget = first
    if len(search.surfaces.with_vectors(search.rows)) < BESIDE:
        return None
    try:
        return _beside.submit(search.semantic, budget)
    except RuntimeError:  # the interpreter is ending and starts no threads
        return None


def _facts(
    graph: MemoryGraph,
    first: _First | None,
    arm: Callable[[SurfaceArms, int], ArmList],
    window: Box,
    limit: int,
) -> list[Fact]:
    """Return the best facts of an arm that the cut shows in a window, best first."""
    if first is None:
        return []
    view, (search, budget) = graph.facts, first
    while True:
        found = arm(search, budget)
        versions = search.version[found.memories].astype(np.int64)
        if window != EVERY:
            versions = versions[graph.versions_within(versions, window)]
        shown = view.visible(versions)[:limit].tolist()
        if len(shown) == limit or len(found.memories) < budget or budget == search.rows:
            return read_facts(view, shown)
        budget = min(4 * budget, search.rows)
