"""Which choices make a ranking? A `Preset` holds all of them; each paper's is here by its name.

`DEFAULT` is what measured best over all data sets together (bench/tables). Its weights are the
defaults of `contextual_fusion.Contextual`. The other presets are the papers' own configurations,
without the cross-encoders of TEMPR 3.3 and MemoTrace: their weights must be downloaded, and a
machine may lack them. To add one::

    replace(presets.tempr, reranker=CrossEncoderReranker())

The papers' presets keep the papers' cosine thresholds (``semantic_cut``), so a recall by them may
return nothing where `DEFAULT` returns its best.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

from recollex_engine.dates.time_parser import EnglishDates, TimeParser
from recollex_engine.domain.checks import check_count, check_flag, check_number
from recollex_engine.domain.schema import NETWORKS
from recollex_engine.errors import InputError
from recollex_engine.models.description import Thresholds
from recollex_engine.ranking.arms import K1, B
from recollex_engine.ranking.contextual_fusion import Contextual
from recollex_engine.ranking.diversity import Diversity
from recollex_engine.ranking.fusion import ARMS, Fusion, ReciprocalRank
from recollex_engine.ranking.heuristic_rerankers import MemoraHeuristic
from recollex_engine.ranking.reranking import Combination, Reranker
from recollex_engine.ranking.self_anchoring import SelfAnchoring
from recollex_engine.ranking.spreading import Spreading

Temporal = Literal["tempr", "memora"]
Overflow = Literal["skip", "stop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Every choice of a ranking, in the order in which a recall makes them.

    time_parser: finds the range of time in the question.
    arms: the arms that run.
    k1, b: parameters of BM25.
    thresholds: the cosine thresholds of the arms, None for those measured for the model.
    semantic_cut: whether the semantic arm leaves out memories below its threshold, as the papers
    do. Without it the arm returns its best thinking_budget memories, whatever their cosine, and
    the threshold only scales the evidence of `Contextual`.
    spreading: parameters of the graph arm.
    temporal: which temporal arm runs, "tempr" or "memora".
    quotas: network -> limit of an arm's memories of that network, as in the papers that retrieve
    each fact type with its own limit; None for one limit, thinking_budget.
    fusion: makes one list of the arms' lists.
    divides: whether a question of several names ("Do Ann and Bo like tea?") is asked of each name,
    too, so that the best memory for each ranks next to the first; see `text.double_questions`. Each
    part is embedded, so a recall that is given ``query_embedding`` does not divide.
    self_anchoring: SATF, None for none.
    reranker: scores the best memories again, None for none. combination: how its scores and the
    fused ones are combined, None for the reranker's own. depth: how many of the best it scores.
    diversity: MMR and the collapsing of repetitions, None for neither.
    overflow: what happens when a memory no longer fits max_tokens: "skip" leaves it out, "stop"
    ends the list there (TEMPR 3.4).

    >>> from dataclasses import replace
    >>> replace(DEFAULT, overflow="stop").overflow
    'stop'
    """

    name: str
    time_parser: TimeParser = field(default_factory=EnglishDates)
    arms: tuple[str, ...] = ARMS
    k1: float = K1
    b: float = B
    thresholds: Thresholds | None = None
    semantic_cut: bool = False
    spreading: Spreading = field(default_factory=Spreading)
    temporal: Temporal = "tempr"
    quotas: Mapping[str, int] | None = None
    fusion: Fusion = field(default_factory=Contextual)
    divides: bool = False
    self_anchoring: SelfAnchoring | None = None
    reranker: Reranker | None = None
    combination: Combination | None = None
    depth: int | None = None
    diversity: Diversity | None = None
    overflow: Overflow = "skip"

    def __post_init__(self) -> None:
        if not self.arms or any(arm not in ARMS for arm in self.arms):
            raise InputError(f"arms must be some of {', '.join(ARMS)}, got {self.arms!r}")
        check_number(self.k1, "k1", 0, 100)
        check_number(self.b, "b", 0, 1)
        check_flag(self.semantic_cut, "semantic_cut")
        check_flag(self.divides, "divides")
        if self.temporal not in get_args(Temporal):
            raise InputError(f"temporal must be 'tempr' or 'memora', got {self.temporal!r}")
        if self.overflow not in get_args(Overflow):
            raise InputError(f"overflow must be 'skip' or 'stop', got {self.overflow!r}")
        for network, quota in (self.quotas or {}).items():
            if network not in NETWORKS:
                raise InputError(f"quotas names the network {network!r}: {', '.join(NETWORKS)} are")
            check_count(quota, f"quotas[{network!r}]", 1, 100_000)
        if self.depth is not None:
            check_count(self.depth, "depth", 1, 100_000)


DEFAULT = Preset(name="default", divides=True, diversity=Diversity(balance=None, collapse=True))
"""What measured best over all data sets together. A text that was said again comes back once."""

TEMPR = Preset(
    name="tempr",
    semantic_cut=True,
    spreading=Spreading(rare_entities=False),
    fusion=ReciprocalRank(),
    overflow="stop",
)
"""TEMPR 3: four arms, RRF with k = 60, a token budget that stops at the first overflow."""

MEMORA = Preset(
    name="memora",
    semantic_cut=True,
    spreading=Spreading(from_one=True, rare_entities=False),
    temporal="memora",
    fusion=ReciprocalRank(),
    reranker=MemoraHeuristic(),
    diversity=Diversity(),
)
"""Memora 3: four arms, RRF, the heuristic reranker as printed there, MMR with lambda .5."""

SATF = Preset(
    name="satf",
    arms=("semantic",),
    semantic_cut=True,
    fusion=ReciprocalRank(),
    self_anchoring=SelfAnchoring(),
)
"""SATF 3: dense retrieval, then N = 30, sigma = 15 days, alpha = 10."""

MEMOTRACE = Preset(
    name="memotrace",
    arms=("semantic", "keyword"),
    semantic_cut=True,
    fusion=ReciprocalRank(),
    diversity=Diversity(),
)
"""MemoTrace, "Retrieval and packing": BM25 and dense entry, RRF and MMR as its first stage."""

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {preset.name: preset for preset in (DEFAULT, TEMPR, MEMORA, SATF, MEMOTRACE)}
)


def find_preset(preset: object) -> Preset:
    """Return a preset, given as itself or by its name. Raises `InputError` for anything else."""
    if isinstance(preset, Preset):
        return preset
    if isinstance(preset, str) and preset in PRESETS:
        return PRESETS[preset]
    raise InputError(
        f"preset must be one of {', '.join(PRESETS)}, or a recollex.presets.Preset, got {preset!r}"
    )
