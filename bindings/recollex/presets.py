"""How a recall ranks: the default, and each paper's own configuration.

A preset is a frozen dataclass of every choice; take one and change what you like::

    from dataclasses import replace
    from recollex import presets

    newest_first = replace(presets.default, reranker=presets.Heuristic(recency=0.5))
    alice.recall("Where does Bob live?", preset=newest_first)

>>> default.name, tempr.name, satf.arms
('default', 'tempr', ('semantic',))
"""

from recollex_engine.contextual import Contextual
from recollex_engine.diversity import Diversity
from recollex_engine.fusion import ReciprocalRank, ScoreSum
from recollex_engine.heuristics import Heuristic, MemoraHeuristic
from recollex_engine.http_reranker import HttpReranker
from recollex_engine.language_model_dates import LanguageModelDates
from recollex_engine.late_interaction import LateInteraction
from recollex_engine.many_languages import ManyLanguages
from recollex_engine.preset import (
    DEFAULT,
    MEMORA,
    MEMOTRACE,
    SATF,
    TEMPR,
    Preset,
)
from recollex_engine.rerankers import CrossEncoderReranker, FunctionReranker
from recollex_engine.reranking import Combination
from recollex_engine.satf import SelfAnchoring
from recollex_engine.spreading import Spreading
from recollex_engine.time_parser import EnglishDates

default = DEFAULT
tempr = TEMPR
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
    "default",
    "memora",
    "memotrace",
    "satf",
    "tempr",
]
