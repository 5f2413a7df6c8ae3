"""Which choices make a ranking? A `Preset` holds all of them; each paper's is here by its name.

`DEFAULT` is what measured best over all data sets together (bench/tables). Its weights are the
defaults of `contextual_fusion.Contextual`. The other presets are the papers' own configurations;
the docstring of each lists the paper's value, ours, and why they differ. The cross-encoders of
TEMPR 3.3 and MemoTrace run where their weights are on this machine. To demand one, or none::

    replace(presets.tempr, reranker=CrossEncoderReranker())
    replace(presets.tempr, reranker=None)

The papers' presets except SATF's keep a cosine threshold (``semantic_cut``), so a recall by them
may return nothing where `DEFAULT` returns its best.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, get_args

from recollex_engine.dates.time_parser import EnglishDates, TimeParser
from recollex_engine.domain.checks import (
    MAX_NAME,
    check_count,
    check_flag,
    check_kind,
    check_methods,
    check_names,
    check_number,
    check_text,
)
from recollex_engine.domain.schema import NETWORKS
from recollex_engine.errors import InputError
from recollex_engine.models.description import PAPER_THRESHOLDS, Thresholds, check_thresholds
from recollex_engine.ranking.arm_table import ARMS
from recollex_engine.ranking.contextual_fusion import Contextual
from recollex_engine.ranking.diversity import Diversity
from recollex_engine.ranking.fusion import Fusion, ReciprocalRank, SelfAnchoring
from recollex_engine.ranking.rerankers import CrossEncoderReranker, MemoraHeuristic
from recollex_engine.ranking.reranking import Combination, Reranker, check_combination
from recollex_engine.ranking.spreading import Spreading
from recollex_engine.state.postings import K1, B

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
    quotas: network -> limit of an arm's memories of that network, thinking_budget for one that is
    not named, as in the papers that retrieve each fact type with its own limit; None for one limit
    of all networks. The graph and temporal arms spread over all networks.
    fusion: makes one list of the arms' lists.
    divides: whether a question of several names ("Do Ann and Bo like tea?") is asked of each name,
    too, so that the best memory for each ranks next to the first; see `text.double_questions`. Each
    part is embedded, so a recall that is given ``query_embedding`` does not divide.
    self_anchoring: SATF, None for none.
    reranker: scores the best memories again, None for none. combination: how its scores and the
    fused ones are combined, None for the reranker's own. depth: how many of the best it scores.
    diversity: MMR and the collapsing of repetitions, None for neither. reranks_last: whether MMR
    comes before the reranker (MemoTrace's two stages), not after it (Memora).
    overflow: what happens when a memory no longer fits max_tokens: "skip" leaves it out, "stop"
    ends the list there (TEMPR 3.4).

    >>> from dataclasses import replace
    >>> replace(DEFAULT, overflow="stop").overflow
    'stop'
    """

    name: str
    time_parser: TimeParser = field(default_factory=EnglishDates)
    arms: tuple[str, ...] = tuple(ARMS)
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
    reranks_last: bool = False
    overflow: Overflow = "skip"

    def __post_init__(self) -> None:
        check_text(self.name, "name", MAX_NAME)
        check_methods(self.time_parser, "time_parser", ("name", "find"), "EnglishDates()")
        check_names(self.arms, "arms")
        if not self.arms or any(arm not in ARMS for arm in self.arms):
            raise InputError(f"arms must be some of {', '.join(ARMS)}, got {self.arms!r}")
        check_number(self.k1, "k1", 0, 100)
        check_number(self.b, "b", 0, 1)
        if self.thresholds is not None:
            check_thresholds(self.thresholds)
        check_flag(self.semantic_cut, "semantic_cut")
        check_kind(self.spreading, "spreading", Spreading, "Spreading(decay=0.5)")
        check_methods(self.fusion, "fusion", ("associates", "fuse"), "ReciprocalRank()")
        check_flag(self.divides, "divides")
        check_flag(self.reranks_last, "reranks_last")
        if self.temporal not in get_args(Temporal):
            raise InputError(f"temporal must be 'tempr' or 'memora', got {self.temporal!r}")
        if self.overflow not in get_args(Overflow):
            raise InputError(f"overflow must be 'skip' or 'stop', got {self.overflow!r}")
        if self.quotas is not None:
            check_kind(self.quotas, "quotas", Mapping, "{'world': 50}")
        for network, quota in (self.quotas or {}).items():
            if network not in NETWORKS:
                raise InputError(f"quotas names the network {network!r}: {', '.join(NETWORKS)} are")
            check_count(quota, f"quotas[{network!r}]", 1, 100_000)
        if self.self_anchoring is not None:
            check_kind(self.self_anchoring, "self_anchoring", SelfAnchoring, "SelfAnchoring()")
        if self.reranker is not None:
            check_methods(self.reranker, "reranker", ("name", "scores"), "CrossEncoderReranker()")
        if self.combination is not None:
            check_combination(self.combination)
        if self.diversity is not None:
            check_kind(self.diversity, "diversity", Diversity, "Diversity(collapse=True)")
        if self.depth is not None:
            check_count(self.depth, "depth", 1, 100_000)

    @property
    def compares(self) -> bool:
        """Whether the question's vector is compared with those of memories.

        >>> from dataclasses import replace
        >>> DEFAULT.compares, replace(DEFAULT, arms=("keyword",)).compares
        (True, False)
        """
        return (
            self.arms != ("keyword",)
            or self.self_anchoring is not None
            or self.reranker is not None
            or not (self.diversity is None or self.diversity.only_folds)
        )


DEFAULT = Preset(
    name="default",
    arms=("semantic", "keyword", "graph"),
    divides=True,
    diversity=Diversity(balance=None, collapse=True),
)
"""What measured best over all data sets together. A text that was said again comes back once."""

TEMPR = Preset(
    name="tempr",
    semantic_cut=True,
    spreading=Spreading(rare_entities=False),
    quotas=MappingProxyType({}),
    fusion=ReciprocalRank(),
    reranker=CrossEncoderReranker(optional=True),
    overflow="stop",
)
"""TEMPR 3: four arms, reciprocal ranks, a cross-encoder, a token budget.

======================  ======================  ===============================================
what (section)          paper                   here, where it differs, and why
======================  ======================  ===============================================
cosine thresholds       0.3, 0.4, entry 0.5,       0.2, 0.3, 0.5, 0.7 for MiniLM: measured, since
the (3.1.1, 3.1.3, 2.4.2)   link 0.7                 paper's are of bge-small, which has the
                                                paper's; `TEMPR_PRINTED` has them for any model
LIMIT (3.1.1, 3.1.2)    thinking_budget for     the same (``quotas``)
                        each fact type
entry points (3.1.3)    5, by their cosine      the same
decay, stop (3.1.3)     0.8, 0.1; links >= 0.1     the same
entity links (2.3.3)    weight 1, to all        weight 1, to the newest 1,024 of an entity, so
                        memories                that a hub costs little; ``hub=None``, which
                                                `TEMPR_PRINTED` has, follows all
time links (2.4.1)      24 h, at least 0.3       the same; at most 10 a memory (2.4.3: 5 to 10)
temporal arm (3.1.4)    0.4, decay 0.7; an LLM    the same; a grammar reads the time, an LLM with
                        reads the time          ``time_parser=LanguageModelDates(...)``
fusion (3.2)            k = 60                  the same
cross-encoder (3.3)     ms-marco-MiniLM-L-6     the same if its weights are on this machine,
                        on dated texts          otherwise the fused order stays
budget (3.4)            4096, stops at the      the same; a line's date counts as well
                        first overflow
======================  ======================  ===============================================
"""

TEMPR_PRINTED = replace(
    TEMPR,
    name="tempr-printed",
    thresholds=PAPER_THRESHOLDS,
    spreading=Spreading(rare_entities=False, hub=None),
)
"""`TEMPR` with the printed thresholds (0.3, 0.4, entry 0.5) whatever the model, and entity links to
all memories. The link threshold, 0.7, acts when a memory is written and belongs to the model."""

MEMORA = Preset(
    name="memora",
    semantic_cut=True,
    spreading=Spreading(from_one=True, threshold=0.0, rare_entities=False, hub=None),
    temporal="memora",
    quotas=MappingProxyType({}),
    fusion=ReciprocalRank(),
    reranker=MemoraHeuristic(),
    diversity=Diversity(scaled=False),
)
"""Memora 3: four arms, reciprocal ranks, the heuristic reranker as printed, MMR.

======================  ======================  ===============================================
what (section)          paper                   here, where it differs, and why
======================  ======================  ===============================================
cosine thresholds       0.3, 0.4, entry 0.5        those of the model, as in `TEMPR`
networks (2.1, 4.3)     a search a network; the the same (``quotas``): semantic and keyword arm
                        graph spans all three   search each, graph and temporal arm span all
entry points (3.1.3)    top K, K not printed    5, which TEMPR prints
activation (3.1.3)      starts at 1, decay 0.8,  the same: threshold 0, ``hub=None``
                        no cut-off
temporal arm (3.1.4)    0.4 to enter, 0.3 to stay the same; "preferentially" is not defined: time
                                                links alone
fusion (3.2)            k = 60                  the same
heuristic (3.3.1)       0.6, 0.4, 0.2, 0.1; its     the same, to the letter; `Heuristic` is
                        recency grows with age  corrected. Accesses are 0 if not counted
MMR (3.4)               lambda 0.5 on the        the same (``scaled=False``), over the first 100
                        reranker's scores
budget (3.5)            truncates               what does not fit is left out, later ones may fit
entity rule (2.3.2)     0.5, 0.3, 0.2; 0.75         acts when a memory is written:
                                                ``open(..., entity_rule="memora")``
======================  ======================  ===============================================
"""

SATF = Preset(
    name="satf",
    arms=("semantic",),
    fusion=ReciprocalRank(),
    self_anchoring=SelfAnchoring(gate=0.1),
)
"""SATF 3: dense retrieval, then self-anchoring in time.

======================  ======================  ===============================================
what (section)          paper                   here, where it differs, and why
======================  ======================  ===============================================
base (3.2)              cosine, no threshold    the same; Stella V5 1.5B there, the agent's
                                                model here
N, sigma, alpha (3.5)   30, 15 days, 10         the same
gate (4.5, Table 3)     0 to 0.7 tested, neither 0.1: the gate is defined in `SelfAnchoring`, and
                        defined nor chosen;     0.1 is the one of 0, 0.1 and 0.5 that opens about
                        opens for 94 %          as often; ``gate=0`` is equation 4 alone
window (4.5)            0.05 to 0.40 of the span  ``window_fraction=``; sigma is fixed, as in 3.5
======================  ======================  ===============================================
"""

MEMOTRACE = Preset(
    name="memotrace",
    arms=("semantic", "keyword"),
    semantic_cut=True,
    fusion=ReciprocalRank(),
    reranker=CrossEncoderReranker(optional=True),
    depth=64,
    diversity=Diversity(),
    reranks_last=True,
)
"""MemoTrace, "Retrieval and packing (EAGLE)": two stages, RRF and MMR, then a cross-encoder.

======================  ======================  ===============================================
what (section)          paper                   here, where it differs, and why
======================  ======================  ===============================================
entry                   BM25, E5, ColBERTv2     BM25 and the agent's model; `LateInteraction`
                                                as ``reranker`` takes ColBERT's place
stage 1                 RRF, MMR, no constants  k = 60, lambda 0.5, over scores scaled to [0, 1],
                                                since a reciprocal rank is far below a cosine
stage 2                 a light cross-encoder   the same depth; ms-marco-MiniLM-L-6 on texts
                        (MonoT5-small) over     with their date, if its weights are on this
                        64, temporal features   machine; otherwise the order of stage 1 stays
cosine threshold        none printed            the model's, as in `TEMPR`
packing, cuts           first the cut; events,  ``pack="subgraph"``, ``as_recorded=``,
                        then their evidence     ``as_world=`` with any preset
======================  ======================  ===============================================
"""

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {preset.name: preset for preset in (DEFAULT, TEMPR, TEMPR_PRINTED, MEMORA, SATF, MEMOTRACE)}
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
