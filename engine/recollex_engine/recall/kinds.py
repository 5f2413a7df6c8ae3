"""How does a recall find facts, events and episodes, beside memories or alone?"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.intervals import Span
from recollex_engine.domain.question import MEMORIES, Question
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.hits import read_hits
from recollex_engine.facts.provenance import resting_on
from recollex_engine.facts.surface_arms import WEIGHTS, SurfaceQuestion
from recollex_engine.facts.surface_search import Found, search_surfaces
from recollex_engine.models.description import Thresholds
from recollex_engine.ranking.arms import ANY_COSINE, ArmList
from recollex_engine.ranking.contextual_fusion import Contextual
from recollex_engine.ranking.filters import admitted_memories
from recollex_engine.ranking.fusion import Fused, ReciprocalRank
from recollex_engine.ranking.presets import Preset
from recollex_engine.recall.beside import among_lists, fit
from recollex_engine.recall.recall import Recall
from recollex_engine.state.view import View
from recollex_engine.text.analyzer import Analyzer
from recollex_engine.text.token_counter import TokenCounter


def asked_by(
    preset: Preset,
    text: str,
    analyzer: Analyzer,
    vector: npt.NDArray[np.float32] | None,
    thresholds: Thresholds,
    span: Span | None,
    *,
    budget: int = 100,
    exact: bool = False,
) -> SurfaceQuestion:
    """Return a question to the facts, events and episodes, with the choices of a preset.

    vector: of the question, None to compare words alone. span: the time that it names.
    """
    fusion = preset.fusion
    return SurfaceQuestion(
        analyzer,
        text,
        vector if "semantic" in preset.arms else None,
        preset.thresholds or thresholds,
        span,
        budget,
        exact,
        words=None if "keyword" in preset.arms else (),
        k1=preset.k1,
        b=preset.b,
        weights=fusion if isinstance(fusion, Contextual) else WEIGHTS,
    )


def with_others(
    found: Recall,
    view: View,
    question: Question,
    preset: Preset,
    asked: SurfaceQuestion,
    fused: Fused,
    lists: dict[str, ArmList],
    most: float,
    counter: TokenCounter,
) -> Recall:
    """Return a recall with what else the question's kinds name, in one order with its memories.

    fused, lists, most: all memories by score, those of each arm, and the sum of the idf of the
    question's words. With filters, other than ``as_world``, a fact must cite a memory that passes
    them, an event include such a fact, and an episode aggregate such an event. A search that fails
    is named in the trace, and the memories still answer.
    """
    wanted = question.filter
    facts = FactView(view.columns, view.op, wanted.as_world, wanted.trust)
    others: list[Found] = []
    with found.trace.stage("surfaces"):
        try:
            narrowed = replace(wanted, as_world=None)
            shown = admitted_memories(view, question) if narrowed else None
            kinds = tuple(kind for kind in question.kinds if kind not in MEMORIES)
            only = () if shown is None else resting_on(facts, shown)
            others = search_surfaces(facts, asked, kinds, question.thinking_budget, only)
        except Exception as error:  # the memories still answer
            found.trace.failed("surfaces", error)
        if isinstance(preset.fusion, Contextual):
            scored = dict(zip(fused.memories.tolist(), fused.scores.tolist(), strict=True))
        else:
            fuse = getattr(preset.fusion, "fuse_lists", ReciprocalRank().fuse_lists)
            floor = asked.thresholds.semantic if preset.semantic_cut else ANY_COSINE
            others, scored = among_lists(others, lists, preset.arms, fuse, most, floor)
        own = [scored.get(memory, 0.0) for memory in found.ordinals.tolist()]
        hits = read_hits(facts, others)
        kept, beside, tokens = fit(
            list(found), own, hits, question.max_tokens, question.limit, counter
        )
    return found.with_beside(kept, beside, tokens)
