"""The part of a recall that needs no vector: dates, cues, filters, the keyword arm, and facts.

It runs while the model computes the question's vector.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np

from recollex_engine.dates.locales import DAY_FIRST
from recollex_engine.dates.time_parser import in_locale
from recollex_engine.dates.time_range import TimeRange
from recollex_engine.domain.question import MEMORIES, Question
from recollex_engine.domain.schema import NETWORKS, NONE
from recollex_engine.facts.cited_by_facts import cited_by_facts
from recollex_engine.facts.surface_arms import SurfaceQuestion
from recollex_engine.models.description import PAPER_THRESHOLDS
from recollex_engine.ranking import arms
from recollex_engine.ranking.arms import ArmList, KeywordResult, Mask
from recollex_engine.ranking.contextual_fusion import Contextual
from recollex_engine.ranking.filters import admitted_memories
from recollex_engine.ranking.fusion import Cited
from recollex_engine.ranking.presets import Preset
from recollex_engine.ranking.spelling import UNKNOWN, similar_terms
from recollex_engine.recall.question_reading import read_question
from recollex_engine.state.view import View
from recollex_engine.text.analyzer import Analyzer, ParsedQuery
from recollex_engine.text.question_cues import Cues
from recollex_engine.trace import Trace

# Runs a recall's arms: each is timed, keeps the quotas of networks, and may fail.
ArmSearch: TypeAlias = Callable[[Mask, int], ArmList]
"""Returns the best of the memories that a mask allows, up to a budget."""


def divides(view: View, preset: Preset) -> bool:
    """Return whether an arm of ``preset`` runs once for each network."""
    return preset.quotas is not None and len(view.networks) > 1


def run_arm(
    view: View,
    preset: Preset,
    trace: Trace,
    name: str,
    arm: ArmSearch,
    allowed: Mask,
    budget: int,
    *,
    across: bool = False,
) -> ArmList:
    """Return an arm's list. If the arm fails, the trace reports it and the list is empty.

    With quotas, even empty ones, an arm searches each network by itself, with a limit of its own:
    TEMPR's ``fact_type = $fact_type ... LIMIT $thinking_budget`` (3.1.1). across: the arm spreads
    from network to network (Memora 2.1), so it runs once over all, and what exceeds a network's
    quota is left out.
    """
    began = time.perf_counter_ns()
    quotas = preset.quotas
    try:
        if quotas is None:
            return arm(allowed, budget)
        if across:
            return _limited(view, quotas, arm(allowed, budget))
        return _within(view, quotas, arm, allowed, budget)
    except Exception as error:  # the other arms still answer
        trace.failed(name, error)
        return ArmList.empty()
    finally:
        trace.spent(name, began)


def _within(
    view: View, quotas: Mapping[str, int], arm: ArmSearch, allowed: Mask, budget: int
) -> ArmList:
    """Return the lists of all networks as one, by score; ties: the older memory."""
    networks = view.networks
    limits = [min(quotas.get(NETWORKS[number], budget), budget) for number in networks]
    if len(networks) < 2:
        return arm(allowed, limits[0] if limits else budget)
    network = view.of_memories("network")
    parts = [
        arm(allowed & (network == number), most)
        for number, most in zip(networks, limits, strict=True)
    ]
    memories = np.concatenate([part.memories for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    rows = np.concatenate([part.rows for part in parts])
    order = np.lexsort((memories, -scores))
    return ArmList(memories[order], scores[order], rows[order] if len(rows) else rows)


def _limited(view: View, quotas: Mapping[str, int], found: ArmList) -> ArmList:
    """Return a list without the memories of a network that come after its quota."""
    if not quotas:
        return found
    network = view.buffer("network")[found.memories]
    kept = np.ones(len(network), np.bool_)
    for name, most in quotas.items():
        kept[np.flatnonzero(network == NETWORKS.index(name))[most:]] = False
    rows = found.rows[kept] if len(found.rows) else found.rows
    return ArmList(found.memories[kept], found.scores[kept], rows)


@dataclass(slots=True)  # made in each recall: a frozen class costs three times as long
class WordSearch:
    """The results that need no vector of the question.

    time_range: the range that the question names, None for none. allowed: uint8[memories], which
    may be returned. analyzer: of the agent's language. ranked: the keyword arm's
    list, None if the preset has no such arm. words: that arm's scores of all memories, None if it
    did not run. cited: the allowed memories that facts cite, see
    `cited_by_facts`; None for none.
    """

    time_range: TimeRange | None
    cues: Cues
    allowed: Mask
    analyzer: Analyzer
    ranked: ArmList | None
    words: KeywordResult | None
    cited: Cited | None = None


def search_words(
    view: View, question: Question, preset: Preset, analyzer: Analyzer, now: int, trace: Trace
) -> WordSearch:
    """Read the question, filter the memories, and search the question's words.

    Threads: it may run while another thread runs the model; ``trace`` gets its stages and errors.
    """
    began = time.perf_counter_ns()
    time_range = None
    reading = read_question(analyzer, question.text)
    settings = view.columns.settings
    try:
        parser = in_locale(
            preset.time_parser,
            settings.locale if settings else DAY_FIRST,
            question.zone or (settings.zone if settings else None),
        )
        time_range = parser.find(question.text, now)
    except Exception as error:  # as with an arm, the others still answer
        trace.failed("parse", error)
    cues = reading.cues
    parsed = reading.parsed
    searched = reading.searched
    began = trace.spent("parse", began)
    allowed = admitted_memories(view, question)
    if MEMORIES[0] not in question.kinds:
        allowed = np.zeros_like(allowed)
    filtered = allowed
    terms = view.columns.dictionary["terms"].get_many(searched)
    if parsed.phrases and parsed.only_phrases:
        holding = _holding_quotes(view, parsed, allowed)
        allowed = holding if holding.any() else allowed
    trace.spent("filter", began)
    if "keyword" not in preset.arms:
        return WordSearch(time_range, cues, allowed, analyzer, None, None)
    words: KeywordResult | None = None
    fusion = preset.fusion if isinstance(preset.fusion, Contextual) else None
    narrowed = filtered is not view.open and allowed is filtered and not divides(view, preset)

    def keyword(mask: Mask, budget: int) -> ArmList:
        nonlocal words
        settings = mask, budget, preset.k1, preset.b
        words = arms.keyword(view, terms, *settings, narrowed=narrowed)
        if words.unknown >= UNKNOWN and fusion is not None and fusion.spelling:
            alike, shares = similar_terms(view, searched, terms, mask, words.population)
            if len(alike):
                words = arms.keyword(
                    view,
                    np.concatenate([terms, alike]),
                    *settings,
                    narrowed=narrowed,
                    shares=shares * np.float32(fusion.spelling),
                )
        return words.ranked

    ranked = run_arm(view, preset, trace, "keyword", keyword, allowed, question.thinking_budget)
    cited = None
    if fusion is not None and fusion.cited and view.columns.surfaces.rows:
        cited = _cited(view, question, preset, analyzer, searched, time_range, allowed, trace)
    return WordSearch(time_range, cues, allowed, analyzer, ranked, words, cited)


def _cited(
    view: View,
    question: Question,
    preset: Preset,
    analyzer: Analyzer,
    words: tuple[str, ...],
    time_range: TimeRange | None,
    allowed: Mask,
    trace: Trace,
) -> Cited | None:
    """Return the allowed memories that facts cite, best first; None for none."""
    span = None if time_range is None else (time_range.start, time_range.end)
    asked = SurfaceQuestion(
        analyzer,
        question.text,
        None,
        PAPER_THRESHOLDS,
        span,
        words=words,
        k1=preset.k1,
        b=preset.b,
    )
    with trace.stage("facts"):
        try:
            cited = cited_by_facts(view, question.filter.as_world, question.filter.trust, asked)
        except Exception as error:  # as with an arm, the others still answer
            trace.failed("facts", error)
            return None
    if cited is None:
        return None
    kept = allowed[cited[0]] == 1
    return (cited[0][kept], cited[1][kept]) if kept.any() else None


def _holding_quotes(view: View, parsed: ParsedQuery, allowed: Mask) -> Mask:
    """Return the mask of the allowed memories that hold all quotes of a question of quotes only."""
    memories, counts = arms.holding(view, _known_phrases(view, parsed), allowed)
    mask = np.zeros_like(allowed)
    mask[memories[counts == len(parsed.phrases)]] = 1
    return mask


def _known_phrases(view: View, parsed: ParsedQuery) -> list[list[int]]:
    """Return the query's phrases as numbers of the agent's dictionary, NONE for a stop word.

    A phrase with a word that the dictionary lacks is left out: no memory can hold it.
    """
    number = view.columns.dictionary["terms"].get
    phrases: list[list[int]] = []
    for phrase in parsed.phrases:
        numbers = [NONE if word is None else number(word) for word in phrase]
        if None not in numbers:
            phrases.append(cast(list[int], numbers))
    return phrases
