"""How a recall ranks: the default, and the configuration of each paper.

A preset is a frozen dataclass with every choice. Take one, and replace what you like::

    from dataclasses import replace
    from recollex import presets

    newest_first = replace(presets.default, reranker=presets.Heuristic(recency=0.5))
    alice.recall("Where does Bob live?", preset=newest_first)

``tempr``, ``memora`` and ``memotrace`` keep a cosine threshold (``semantic_cut``), so a recall by
one of them may return nothing; the default and ``satf`` return their best, however weak. What each
paper prints, and what its preset has: `recollex_engine.ranking.presets`.

>>> default.name, tempr.name, satf.arms
('default', 'tempr', ('semantic',))
"""

from recollex_engine.dates.many_languages import ManyLanguages
from recollex_engine.dates.time_parser import EnglishDates
from recollex_engine.models.description import Thresholds
from recollex_engine.ranking.contextual_fusion import Contextual
from recollex_engine.ranking.diversity import Diversity
from recollex_engine.ranking.fusion import ReciprocalRank, ScoreSum, SelfAnchoring
from recollex_engine.ranking.http_reranker import HttpReranker
from recollex_engine.ranking.presets import (
    DEFAULT,
    MEMORA,
    MEMOTRACE,
    SATF,
    TEMPR,
    TEMPR_PRINTED,
    Preset,
)
from recollex_engine.ranking.rerankers import (
    CrossEncoderReranker,
    FunctionReranker,
    Heuristic,
    LateInteraction,
    MemoraHeuristic,
)
from recollex_engine.ranking.reranking import Combination
from recollex_engine.ranking.spreading import Spreading
from recollex_mind.language_model_dates import LanguageModelDates

default = DEFAULT
tempr = TEMPR
tempr_printed = TEMPR_PRINTED
memora = MEMORA
satf = SATF
memotrace = MEMOTRACE

__all__ = [
    "Combination",
    "Contextual",
    "CrossEncoderReranker",
    "Diversity",
    "EnglishDates",
    "FunctionReranker",
    "Heuristic",
    "HttpReranker",
    "LanguageModelDates",
    "LateInteraction",
    "ManyLanguages",
    "MemoraHeuristic",
    "Preset",
    "ReciprocalRank",
    "ScoreSum",
    "SelfAnchoring",
    "Spreading",
    "Thresholds",
    "default",
    "memora",
    "memotrace",
    "satf",
    "tempr",
    "tempr_printed",
]
