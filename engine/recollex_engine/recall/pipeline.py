"""How is a question answered? Arms, fusion, what stands behind it, token budget (TEMPR 3.5)."""

import time
from collections.abc import Callable
from datetime import datetime
from functools import partial

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import from_micros
from recollex_engine.dates.time_range import TimeRange
from recollex_engine.domain.question import Question
from recollex_engine.domain.schema import NETWORKS, NONE
from recollex_engine.errors import InputError
from recollex_engine.facts.fact_view import FactView
from recollex_engine.models.description import Thresholds
from recollex_engine.models.embedder import QueryEmbedder
from recollex_engine.ranking import arms
from recollex_engine.ranking.arms import Ranked, Words
from recollex_engine.ranking.candidates import Candidates
from recollex_engine.ranking.filters import admitted_memories
from recollex_engine.ranking.fusion import ARMS, Evidence, Fused, Quoted
from recollex_engine.ranking.presets import Preset
from recollex_engine.ranking.query_embedding import embed_beside
from recollex_engine.ranking.ranking import Ranking
from recollex_engine.ranking.reranking import rerank
from recollex_engine.ranking.spreading import graph
from recollex_engine.ranking.temporal import memora_temporal, temporal
from recollex_engine.ranking.token_budget import least_tokens, within_budget
from recollex_engine.recall.packing import nothing, pack
from recollex_engine.recall.recall import Recall
from recollex_engine.state.view import View
from recollex_engine.text.analyzer import Analyzer, ParsedQuery
from recollex_engine.text.question_cues import NO_CUES, Cues, read_cues
from recollex_engine.text.token_counter import TokenCounter
from recollex_engine.trace import Trace


def recall(
    view: View,
    question: Question,
    preset: Preset,
    analyzer: Analyzer,
    embedder: QueryEmbedder,
    now: int,
    token_counter: str,
    explain: bool,
    counter: Callable[[], TokenCounter],
) -> Recall:
    """Return what bears on ``question`` in ``view``; ``now`` in microseconds dates "last week".

    ``counter``: of a subgraph's tokens, if the question asks for one. An arm, a parser or a
    reranker that fails is reported in the trace and the rest answers.
    """
    started = time.perf_counter_ns()
    pipeline = _Pipeline(view, question, preset, embedder.thresholds, now)
    trace = pipeline.trace
    query = question.embedding
    if query is None and view.memories:
        query = embed_beside(
            partial(pipeline.search_words, analyzer),
            question.text,
            embedder,
            view.columns.dimension,
            trace,
        )
    else:
        pipeline.search_words(analyzer)
    if query is not None:
        pipeline.search_vectors(query)
    with trace.stage("fusion"):
        fused = preset.fusion.fuse(pipeline.evidence(query))
    pipeline.lists.update(fused.lists)
    confidence = pipeline.confidence(fused)
    tokens, subgraph = 0, None
    suffices = pipeline.suffices(confidence)
    if not suffices:
        ranked = ranking = Ranking.empty()
    else:
        ranked = pipeline.refine(fused, query)
        with trace.stage("budget"):
            ranking, tokens = within_budget(
                view, ranked, question.max_tokens, preset.overflow == "stop"
            )
        if explain:
            ranking = ranking.explained(fused.memories, fused.parts)
    if question.packing is not None:
        with trace.stage("pack"):
            facts = FactView(view.columns, view.op, question.as_world)
            subgraph = (
                pack(view, facts, ranked, question, question.packing, analyzer, counter(), now)
                if suffices
                else nothing(question, now, counter())
            )
    trace.total = (time.perf_counter_ns() - started) / 1000
    return Recall(
        question.text,
        view,
        ranking,
        tokens,
        token_counter,
        _datetimes(pipeline.found),
        trace,
        explain,
        confidence,
        None if confidence is None else fused.signs,
        subgraph,
    )


Mask = npt.NDArray[np.uint8]
"""Named here: what annotates an inner function is made anew each time, and this costs 3 us."""


class _Pipeline:
    """One recall on its way: the lists of the arms that have answered."""

    def __init__(
        self, view: View, question: Question, preset: Preset, thresholds: Thresholds, now: int
    ) -> None:
        self.view = view
        self.question = question
        self.preset = preset
        self.thresholds = preset.thresholds or thresholds
        self.now = now
        self.trace = Trace()
        self.lists: dict[str, Ranked] = {}
        self.words: Words | None = None
        self.found: TimeRange | None = None
        self.cues: Cues = NO_CUES
        self.allowed = view.open
        self.quoted: Quoted | None = None

    def search_words(self, analyzer: Analyzer) -> None:
        """Read the question, narrow to what it admits, search its words."""
        view, question, trace = self.view, self.question, self.trace
        with trace.stage("parse"):
            try:
                self.found = self.preset.time_parser.find(question.text, self.now)
            except Exception as error:  # as with an arm: without a range the others answer
                trace.errors["parse"] = f"{type(error).__name__}: {error}"
            self.cues = read_cues(question.text)
            parsed = analyzer.query(question.text)
        with trace.stage("filter"):
            self.allowed = admitted_memories(view, question)
            terms = view.columns.dictionary["terms"].get_many(parsed.terms)
            if parsed.phrases:
                self._quote(parsed)
        if "keyword" in self.preset.arms:
            self._run("keyword", self._keyword(terms), question.thinking_budget)

    def _quote(self, parsed: ParsedQuery) -> None:
        """Look for what stands in double quotes.

        Quotes and nothing else are a demand: what does not hold them all is not returned. Inside a
        question they are a title or somebody's words, and only count for what holds them.
        """
        held = [
            np.empty(0, np.uint32)
            if phrase is None
            else arms.holding(self.view, phrase, self.allowed)
            for phrase in _look_up(self.view, parsed)
        ]
        if parsed.only_phrases:
            for memories in held:
                mask = np.zeros_like(self.allowed)
                mask[memories] = self.allowed[memories]
                self.allowed = mask
        else:
            memories, counts = np.unique(np.concatenate(held), return_counts=True)
            self.quoted = memories, (counts / len(held)).astype(np.float32)

    def _keyword(self, terms: npt.NDArray[np.uint32]) -> Callable[[Mask, int], Ranked]:
        def search(allowed: Mask, budget: int) -> Ranked:
            preset = self.preset
            found = arms.keyword(self.view, terms, allowed, budget, preset.k1, preset.b)
            self.words = found
            return found.ranked

        return search

    def search_vectors(self, query: npt.NDArray[np.float32]) -> None:
        """Search what is like the question, what is linked to that, and what is of its time."""
        view, limits, preset = self.view, self.thresholds, self.preset
        budget, exact = self.question.thinking_budget, self.question.exact
        spreading = preset.spreading
        spreads = "graph" in preset.arms and not preset.fusion.associates
        wanted = max(budget, spreading.entry_points) if spreads else budget
        if spreads or "semantic" in preset.arms:
            entries = self._run(
                "semantic",
                lambda allowed, most: arms.semantic(
                    view, query, allowed, limits.semantic, most, exact
                ),
                wanted,
            )
            self.lists["semantic"] = entries.first(budget)
        if spreads:
            self._run(
                "graph",
                lambda allowed, most: graph(view, query, entries, allowed, limits, most, spreading),
                budget,
            )
        found = self.found
        if found is not None and "temporal" in preset.arms:
            arm = temporal if preset.temporal == "tempr" else memora_temporal
            self._run(
                "temporal",
                lambda allowed, most: arm(view, query, found, allowed, limits, most),
                budget,
            )
        if "semantic" not in preset.arms:
            self.lists.pop("semantic", None)

    def evidence(self, query: npt.NDArray[np.float32] | None) -> Evidence:
        """Return what the fusion may look at."""
        ordered = {name: self.lists[name] for name in ARMS if name in self.lists}
        return Evidence(
            self.view,
            ordered,
            self.words,
            query if "semantic" in self.preset.arms else None,
            self.allowed,
            self.cues,
            self.found,
            self.now,
            self.thresholds,
            self.question.thinking_budget,
            self.quoted,
        )

    def confidence(self, fused: Fused) -> float | None:
        """Return the probability that the agent holds an answer, None where it is not known."""
        if not len(fused.memories) and not self.trace.errors:
            return 0.0
        if fused.signs is None or "semantic" in self.trace.errors:
            return None
        return fused.signs.confidence

    def suffices(self, confidence: float | None) -> bool:
        """Return whether to answer. Where an arm failed, an unknown confidence does not suffice.

        Raises `InputError` where the preset cannot tell.
        """
        least = self.question.min_confidence
        if least == 0:
            return True
        if confidence is None and not self.trace.errors:
            raise InputError(
                f"min_confidence was given, but the preset {self.preset.name!r} tells no "
                "confidence: use one with Contextual fusion and the semantic and keyword arms, as "
                "the default has"
            )
        return confidence is not None and confidence >= least

    def refine(self, fused: Fused, query: npt.NDArray[np.float32] | None) -> Ranking:
        """Return the fused list behind SATF, reranker and diversity."""
        preset, trace = self.preset, self.trace
        if preset.self_anchoring is None and preset.reranker is None and preset.diversity is None:
            return Ranking(fused.memories, fused.scores, self.lists)
        candidates = Candidates(
            self.question.text,
            self.view,
            fused.memories,
            fused.scores,
            self.now,
            query,
            self.lists,
            trace,
        )
        if preset.self_anchoring is not None:
            with trace.stage("satf"):
                anchored = preset.self_anchoring.apply(
                    self.view, candidates.memories, candidates.scores
                )
                trace.activated = anchored.activated
                candidates = candidates.taken(anchored.order, anchored.scores)
        if preset.reranker is not None:
            with trace.stage("rerank"):
                try:
                    # what comes after may look at all of the list: only a budget looks at its head
                    whole = preset.diversity is not None or self.question.packing is not None
                    ranked = rerank(
                        candidates,
                        preset.reranker,
                        preset.combination,
                        preset.depth,
                        None if whole else self._settled,
                    )
                    candidates = candidates.taken(ranked.order, ranked.scores)
                    trace.judged = ranked.judged
                except Exception as error:  # the fused order still answers
                    trace.errors["rerank"] = f"{type(error).__name__}: {error}"
        if preset.diversity is None:
            return Ranking(candidates.memories, candidates.scores, self.lists)
        with trace.stage("diversity"):
            spread = preset.diversity.apply(candidates)
            collapsed = {
                int(candidates.memories[spread.order[place]]): folded
                for place, folded in spread.collapsed.items()
            }
            memories, scores = candidates.memories[spread.order], candidates.scores[spread.order]
            return Ranking(memories, scores, self.lists, {}, collapsed)

    def _settled(self, lead: npt.NDArray[np.uint32], others: npt.NDArray[np.uint32]) -> bool:
        """Return whether behind ``lead`` none of ``others`` fits into the token budget."""
        stop, most = self.preset.overflow == "stop", self.question.max_tokens
        ranking = Ranking(lead, np.zeros(len(lead)), self.lists)
        kept, tokens = within_budget(self.view, ranking, most, stop)
        if stop and len(kept.memories) < len(lead):
            return True
        return bool(most - tokens < least_tokens(self.view, others))

    def _run(
        self, name: str, arm: Callable[[npt.NDArray[np.uint8], int], Ranked], budget: int
    ) -> Ranked:
        with self.trace.stage(name):
            try:
                ranked = self._within_quotas(arm, budget)
            except Exception as error:  # one arm's fault must not cost the others' answers
                self.trace.errors[name] = f"{type(error).__name__}: {error}"
                ranked = Ranked.empty()
        self.lists[name] = ranked
        return ranked

    def _within_quotas(
        self, arm: Callable[[npt.NDArray[np.uint8], int], Ranked], budget: int
    ) -> Ranked:
        """Return an arm's list; with quotas, of each network no more than its own."""
        quotas = self.preset.quotas
        if quotas is None:
            return arm(self.allowed, budget)
        network = self.view.of_memories("network")
        parts = []
        for number, name in enumerate(NETWORKS):
            most = min(quotas.get(name, budget), budget)
            parts.append(arm(self.allowed & (network == number), most))
        memories = np.concatenate([part.memories for part in parts])
        scores = np.concatenate([part.scores for part in parts])
        rows = np.concatenate([part.rows for part in parts])
        order = np.lexsort((memories, -scores))
        return Ranked(memories[order], scores[order], rows[order] if len(rows) else rows)


def _datetimes(found: TimeRange | None) -> tuple[datetime, datetime] | None:
    return None if found is None else (from_micros(found.start), from_micros(found.end))


def _look_up(view: View, parsed: ParsedQuery) -> list[npt.NDArray[np.uint32] | None]:
    """Return the query's phrases as numbers of the agent's dictionary.

    None for a phrase with a word that the agent never met, which nothing can hold.
    """
    number = view.columns.dictionary["terms"].get
    phrases: list[npt.NDArray[np.uint32] | None] = []
    for phrase in parsed.phrases:
        numbers = [NONE if word is None else number(word) for word in phrase]
        phrases.append(None if None in numbers else np.array(numbers, np.uint32))
    return phrases
