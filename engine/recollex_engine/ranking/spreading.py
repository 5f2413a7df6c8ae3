"""The graph arm: spreading activation from the best memories (TEMPR 3.1.3, Memora 3.1.3)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import DAY
from recollex_engine.domain.checks import check_count, check_flag, check_number
from recollex_engine.models.description import Thresholds
from recollex_engine.ranking.arms import ANY_COSINE, ArmList, Scratch
from recollex_engine.state.view import View
from recollex_kernels.graph.links import Links, Mentions
from recollex_kernels.graph.spread import spread

ENTRY_POINTS = 5
"""Number of semantic memories from which activation spreads (TEMPR 3.1.3)."""
DECAY = 0.8
"""Factor of the activation per memory-to-memory hop (TEMPR 3.1.3, Memora 3.1.3)."""
THRESHOLD = 0.1
"""Activation below which spreading stops, and the smallest weight of a link (TEMPR 3.1.3)."""
WINDOW = DAY
"""The greatest distance in time of two neighbours in time (TEMPR 2.4.1)."""
NEIGHBOURS = 10
"""Limit of a memory's neighbours in time: TEMPR 2.4.3 counts 5 to 10."""
HUB = 1024
"""Hub threshold: of the memories that an entity names, only this many are used, the newest."""
NO_HUB = 2**62
"""Above any number of memories: all that an entity names are used."""

FRESH = 16
"""Number of an entity's newest memories that are compared with the question to order equal
activations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spreading:
    """How activation spreads over the graph (TEMPR 3.1.3, Memora 3.1.3).

    decay: the factor of activation per memory-to-memory hop. threshold: activation below which
    spreading stops. entry_points: number of the best semantic memories from which it starts. They
    start with their similarity (TEMPR) or, with ``from_one``, with 1 (Memora). rare_entities: the
    weight of an entity is 1 / (1 + ln n), with n the number of memories that name it. So the two
    speakers of a conversation, whom every memory names, do not outweigh rare entities. TEMPR's
    weight is 1 for every entity. hub: of the memories that name an entity, and of the links to a
    memory, only so many are followed, the newest; None for all, as the papers link them. Memora
    prints no threshold: 0.

    With a small decay the activation counts hops, because the weights of links are 0.3 to 1 without
    ``rare_entities``: with decay 0.03, threshold 0.00005 and ``from_one``, activation goes two hops
    and no further, and nearer memories come first (TEMPR 4.3's "simple 2-hop neighbors").

    >>> two_hops = Spreading(decay=0.03, threshold=0.00005, from_one=True, rare_entities=False)
    """

    decay: float = DECAY
    threshold: float = THRESHOLD
    entry_points: int = ENTRY_POINTS
    from_one: bool = False
    rare_entities: bool = True
    hub: int | None = HUB

    def __post_init__(self) -> None:
        check_number(self.decay, "decay", 0, 1)
        check_number(self.threshold, "threshold", 0, 1)
        check_count(self.entry_points, "entry_points", 1, 1000)
        check_flag(self.from_one, "from_one")
        check_flag(self.rare_entities, "rare_entities")
        if self.hub is not None:
            check_count(self.hub, "hub", 1, 2**31)


def graph(
    view: View,
    query: npt.NDArray[np.float32],
    entries: ArmList,
    allowed: npt.NDArray[np.uint8],
    thresholds: Thresholds,
    budget: int,
    spreading: Spreading,
) -> ArmList:
    """Rank by activation spread from the best semantic memories (TEMPR 3.1.3).

    It spreads over entities, semantic links and neighbours in time.
    """
    scores = entries.scores[: spreading.entry_points]
    near = scores >= thresholds.entry
    seeds = entries.memories[: spreading.entry_points][near]
    if not len(seeds):
        return ArmList.empty()
    started = np.ones(len(seeds), np.float32) if spreading.from_one else scores[near]
    memories, activations = activate(
        view,
        seeds,
        started,
        entries,
        query,
        allowed,
        decay=spreading.decay,
        min_cosine=ANY_COSINE,
        budget=budget,
        edges=True,
        threshold=spreading.threshold,
        rare_entities=spreading.rare_entities,
        hub=NO_HUB if spreading.hub is None else spreading.hub,
    )
    return ArmList(memories, activations, np.empty(0, np.uint32))


def activate(
    view: View,
    seeds: npt.NDArray[np.uint32],
    activations: npt.NDArray[np.float32],
    known: ArmList,
    query: npt.NDArray[np.float32],
    allowed: npt.NDArray[np.uint8],
    *,
    decay: float,
    min_cosine: float,
    budget: int,
    edges: bool,
    threshold: float = THRESHOLD,
    rare_entities: bool = True,
    hub: int = HUB,
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32]]:
    """Return memories and their activation, best first; ``edges`` adds entities and links.

    Ties: the memories of ``known``, whose scores are cosines, and the newest `FRESH` of an entity
    come first, ordered by their cosines; then the newer memory.
    """
    needed = len(known.memories) + 1
    stamps = _scratch.take(view.memories, view.entities, needed)
    entities = _NO_ENTITIES
    weight = _NO_WEIGHT
    semantic = _NO_LINKS
    if edges:
        entities = view.mentions
        semantic = view.semantic_links
        weight = view.entity_weight if rare_entities else view.even_weight
    return spread(
        (seeds, activations),
        (known.memories, known.scores),
        entities,
        weight,
        semantic,
        view.time_links,
        (view.buffer("first_row"), view.vectors, query),
        allowed,
        view.memories,
        (decay, threshold, threshold, min_cosine),
        (WINDOW, NEIGHBOURS, hub, FRESH),
        budget,
        stamps,
    )


_NONE = np.empty(0, np.uint32)
_NOWHERE = np.empty(0, np.uint64)
_NO_WEIGHT = np.empty(0, np.float32)
_NO_ENTITIES: Mentions = (_NOWHERE, _NONE, _NONE, _NONE, _NONE)
_NO_LINKS: Links = (_NOWHERE, _NONE, _NO_WEIGHT, _NONE, _NONE, _NONE)
_scratch = Scratch()
