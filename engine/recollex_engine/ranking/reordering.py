"""Steps that reorder a fused list, each of which adds a part of its own to the scores.

Asked for the latest or the first, the copies of a text stand in that order.
"Forward the latest e-mail about the budget": two e-mails have the same words, and the ranking
folds one into the other. The one that comes back must be the latest.

A question of the present prefers the latest of the memories that say the same.
"Where do I live now?" shares a word with "I live in Paris." and none with the later "I moved to
Rome." Both speak of the same thing, so the later one holds, and it is ranked above the earlier.

A fact that was drawn from turns which all stand before it says nothing new: it yields its place.
A turn and the fact that a model drew from it match the same questions, so that the two took two of
the first places: of ten memories of LoCoMo's turns and atomic facts 2.2 said what the others say.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.schema import NONE
from recollex_engine.ranking.arms import ArmList
from recollex_engine.ranking.diversity import FOLDED, repetitions
from recollex_engine.ranking.fusion import Cited, Evidence, Fused
from recollex_engine.state.view import View
from recollex_kernels.fusing.diversity import UNREAD, after_sources, gram


def reordered(
    fused: Fused, places: npt.NDArray[np.int64], scores: npt.NDArray[np.float64], part: str
) -> Fused:
    """Return ``fused`` in another order, with new scores and one part more, named ``part``.

    places: the present place of each memory of the new order. scores: float64[n], in the present
    order. The new part is what they add to the present scores; there is none if ``fused`` has no
    parts.
    """
    added = {part: scores - fused.scores}
    has_none = isinstance(fused.parts, dict) and not fused.parts
    parts = fused.parts if has_none else ReorderedParts(fused.parts, places, added)
    return replace(fused, memories=fused.memories[places], scores=scores[places], parts=parts)


class ReorderedParts(Mapping[str, npt.NDArray[np.float64]]):
    """The parts of the scores in another order, with the parts that a step added.

    parts: name -> float64[n], in the order before the step. places: int64[n], the place before the
    step of each memory. added: name -> float64[n], in the order before the step.
    """

    def __init__(
        self,
        parts: Mapping[str, npt.NDArray[np.float64]],
        places: npt.NDArray[np.int64],
        added: Mapping[str, npt.NDArray[np.float64]],
    ) -> None:
        self._parts = parts
        self._places = places
        self._added = added

    def __getitem__(self, name: str) -> npt.NDArray[np.float64]:
        part = self._added[name] if name in self._added else self._parts[name]
        return part[self._places]

    def __iter__(self) -> Iterator[str]:
        yield from self._parts
        yield from self._added

    def __len__(self) -> int:
        return len(self._parts) + len(self._added)


# A memory counts more if facts that share words with the question cite it.
CITED = "cited"
"""The name of the part of the score that facts add to the memories that they cite."""


def raise_cited(fused: Fused, cited: Cited, weight: float) -> Fused:
    """Return ``fused`` with ``weight`` times its share more for each memory that facts cite.

    Ties: as they stood. Cost: 20 us.
    """
    order = np.argsort(cited[0])
    memories = cited[0][order]
    shares = cited[1][order]
    places = np.minimum(np.searchsorted(memories, fused.memories), len(memories) - 1)
    added = np.where(memories[places] == fused.memories, shares[places], np.float32(0))
    scores = fused.scores + weight * added.astype(np.float64)
    return reordered(fused, np.argsort(-scores, kind="stable"), scores, CITED)


COPY = "copy"
"""The name of the part of the score by which copies exchange their places."""


def order_copies(evidence: Evidence, fused: Fused) -> Fused:
    """Return ``fused`` with copies of a text in the order of time that the question asks for.

    The latest said comes first, or the first said, as `Cues.order` says. Of the best `FOLDED`
    memories, those that say the same (see `Diversity`) exchange their places and scores; what that
    adds is the part `COPY`. Ties: as they stood. Cost: 20 us; 5 us more for each copy.
    """
    best = fused.memories[:FOLDED]
    copies = repetitions(evidence.view, best)
    if not copies:
        return fused
    said_at = evidence.view.buffer("said_at")[best].astype(np.int64)
    places = np.arange(len(fused.memories))
    scores = fused.scores.copy()
    for first, others in copies.items():
        taken = np.array([first, *others])
        asked = taken[np.argsort(-evidence.cues.order * said_at[taken], kind="stable")]
        places[taken] = asked
        scores[asked] = fused.scores[taken]
    return reordered(fused, places, scores, COPY)


# The best memory for each part of a divided question, placed next to the best for the whole.
DIVIDED = "divided"
"""The name of the part of the score."""


def lead_with_parts(fused: Fused, best: Sequence[int | None]) -> Fused:
    """Return ``fused`` with the memories ``best`` in the places after the first, in their order.

    best: for each part of the question, the memory that ranks first when the part is asked alone,
    None for none. A memory that is not in ``fused`` is left out. Each gets the score of the first;
    what was added is the part `DIVIDED` of its score. Cost: 20 us.

    No score of a part is compared with one of the whole. On 2WikiMultihopQA's 318 divided
    questions sums, maxima and reciprocal ranks of the lists lost R@10 (-0.024 to -0.078).
    """
    places = {memory: place for place, memory in enumerate(fused.memories.tolist())}
    wanted = [memory for memory in dict.fromkeys(best) if memory is not None]
    lead = [places[memory] for memory in wanted if places.get(memory, 0) > 0]
    if not lead:
        return fused
    others = np.ones(len(fused.memories), bool)
    others[[0, *lead]] = False
    order = np.concatenate([np.array([0, *lead]), np.flatnonzero(others)])
    scores = fused.scores.copy()
    scores[lead] = scores[0]
    return reordered(fused, order, scores, DIVIDED)


CONSIDERED = 5
"""Number of the best memories that are compared with each other."""
INSIDE = 0.25
"""How much more alike two memories of one document must be: the turns of a talk add to each other
more often than they replace each other."""
SLACK = 0.4
"""How much lower the later one's cosine with the question may be, as a share of the excess of the
two statements' cosine over its limit. Statements that are more alike are allowed more."""
LATER = "later"
"""The name of the part of the score that lifts a later statement."""


def prefer_later(evidence: Evidence, fused: Fused) -> Fused:
    """Return ``fused`` with each later statement above the earlier ones that it overtakes.

    Of the best `CONSIDERED` memories that the semantic arm found, one overtakes another if

    - it was said later, by the same speaker or without one;
    - their cosine s is at least t, halfway between the semantic threshold and the entry threshold,
      or t + `INSIDE` in one document;
    - its cosine with the question is lower by at most `SLACK` (s - t);
    - of the entities that the question names, both mention the same.

    Its score becomes that of the best memory that it overtakes, and it is ranked before that one.
    What was added is the part `LATER` of its score. Cost: about 60 us.

    Measured as if every question asked for the present: of 536 questions about facts that were told
    anew (`updates`, development half) NDCG@10 rises from 0.75 to 0.94; of LoCoMo's, which ask about
    the past, it falls from 0.65 to 0.60. So the words of the question must ask for it.
    """
    found = evidence.lists.get("semantic")
    if found is None or not len(found.memories):
        return fused
    view = evidence.view
    best = fused.memories[:CONSIDERED]
    cosines, rows = _seen(best, found)
    said_at, speaker, document = (
        view.buffer(name)[best] for name in ("said_at", "speaker", "document")
    )
    limits = evidence.thresholds
    excess = gram(view.vectors, rows) - np.float32((limits.semantic + limits.entry) / 2)
    found_both = np.isfinite(cosines)[:, None] & np.isfinite(cosines)
    overtakes = (
        found_both
        & (excess >= 0)
        & (said_at[:, None] > said_at)
        & (speaker[:, None] == speaker)
        & ((document[:, None] != document) | (document == NONE) | (excess >= np.float32(INSIDE)))
        & (cosines[:, None] >= cosines - np.float32(SLACK) * excess)
    )
    overtakes &= np.tri(len(best), k=-1, dtype=bool)
    if not overtakes.any():
        return fused
    named = [_named(view, memory, evidence.cues.words) for memory in best.tolist()]
    order = list(range(len(best)))
    scores = fused.scores.copy()
    for later in range(1, len(best)):
        passed = [n for n in np.flatnonzero(overtakes[later]).tolist() if named[n] == named[later]]
        if passed:
            order.remove(later)
            place = min(map(order.index, passed))
            scores[later] = scores[order[place]]
            order.insert(place, later)
    places = np.concatenate([np.array(order, np.int64), np.arange(len(best), len(scores))])
    return reordered(fused, places, scores, LATER)


def _seen(
    memories: npt.NDArray[np.uint32], found: ArmList
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]]:
    """Return each memory's cosine with the question, and the passage that has it.

    A memory that is not in ``found`` gets a cosine of minus infinity, and any passage.
    """
    order = np.argsort(found.memories)
    known = found.memories[order]
    places = order[np.minimum(np.searchsorted(known, memories), len(known) - 1)]
    held = found.memories[places] == memories
    cosines: npt.NDArray[np.float32] = np.where(held, found.scores[places], np.float32(-np.inf))
    return cosines, found.rows[places]


def _named(view: View, memory: int, words: frozenset[str]) -> frozenset[str]:
    """Return the entities of a memory whose names consist of ``words``."""
    first, end = view.buffer("mention_offset")[memory : memory + 2].tolist()
    names = view.entity_names(view.buffer("mention_entity")[first:end].tolist())
    return frozenset(name for name in names if words.issuperset(name.lower().split()))


REPEATED = "repeated"
"""The name of the part of the score by which such facts and others exchange their places."""


def lead_with_turns(evidence: Evidence, fused: Fused) -> Fused:
    """Return ``fused`` with facts after what says more, where their turns stand before them.

    Of the best `FOLDED` memories, the facts whose sources all stand before them follow the others,
    in their order: none is lost, and a recall with room for all of these has the same memories. The
    scores stay in the order of the places; what that adds is the part `REPEATED`. A fact that ranks
    before one of its turns stays where it is, and so does the turn, whose words are the evidence.

    Cost: 0.1 us for an agent without facts; 3 us, or 9 us in cold caches, for others.
    """
    view = evidence.view
    sources = view.columns.fact_sources
    if not sources:
        return fused
    memories = fused.memories
    ids = view.buffer("id")
    places = np.empty(len(memories), np.int64)
    count = after_sources(memories, FOLDED, sources.now, ids, places)
    if count == UNREAD:
        head = memories[:FOLDED].tolist()
        known = sources.read(head, view.buffer("metadata_offset"), view.buffer("metadata"))
        count = after_sources(memories, FOLDED, known, ids, places)
    if not count:
        return fused
    scores = np.empty_like(fused.scores)
    scores[places] = fused.scores
    return reordered(fused, places, scores, REPEATED)
