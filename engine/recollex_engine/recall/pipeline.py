"""How is a question answered? Arms, fusion, later stages, token budget (TEMPR 3.5)."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import from_micros
from recollex_engine.dates.time_range import TimeRange
from recollex_engine.domain.checks import check_embedding
from recollex_engine.domain.question import Question
from recollex_engine.errors import InputError
from recollex_engine.facts.fact_view import FactView
from recollex_engine.models.description import Thresholds
from recollex_engine.models.embedder import QueryEmbedder
from recollex_engine.ranking import arms
from recollex_engine.ranking.arms import ArmList
from recollex_engine.ranking.candidates import Candidates
from recollex_engine.ranking.confidence import NOTHING_FOUND
from recollex_engine.ranking.diversity import Diversity, fold
from recollex_engine.ranking.divided import lead_with_parts
from recollex_engine.ranking.fusion import ARMS, Evidence, Fused
from recollex_engine.ranking.passage_choice import with_further_passages
from recollex_engine.ranking.presets import Preset
from recollex_engine.ranking.query_embedding import LatencyEstimate, embed_beside
from recollex_engine.ranking.ranking import Ranking
from recollex_engine.ranking.reranking import rerank
from recollex_engine.ranking.spreading import graph
from recollex_engine.ranking.temporal import memora_temporal, temporal
from recollex_engine.ranking.token_budget import least_tokens, within_budget
from recollex_engine.recall.arm_runner import Arm, ArmRunner
from recollex_engine.recall.packing import nothing, pack
from recollex_engine.recall.recall import Recall
from recollex_engine.recall.word_search import WordSearch, search_words
from recollex_engine.state.view import View
from recollex_engine.text.analyzer import Analyzer
from recollex_engine.text.double_questions import parts_of
from recollex_engine.text.token_counter import TokenCounter
from recollex_engine.trace import Trace


def recall(
    view: View,
    question: Question,
    preset: Preset,
    analyzer: Analyzer,
    embedder: QueryEmbedder,
    now: int,
    *,
    token_counter: str,
    counter: Callable[[], TokenCounter],
    latency: LatencyEstimate,
    explain: bool,
) -> Recall:
    """Return the memories of ``view`` for ``question``; "last week" is relative to ``now``.

    ``token_counter``: the name of the counter of the memories' tokens. ``counter``: counts the
    tokens of a subgraph, if the question asks for one. ``latency``: of the embedder. If an arm, a
    parser or a reranker fails, the trace reports it, and the other parts still answer.
    """
    started = time.perf_counter_ns()
    trace = Trace()
    query = question.embedding
    if query is None and view.memories:
        dimension = view.columns.dimension
        search = partial(search_words, view, question, preset, analyzer, now, trace)
        query, words = embed_beside(search, question.text, embedder, dimension, latency, trace)
    else:
        words = search_words(view, question, preset, analyzer, now, trace)
    pipeline = _Pipeline(view, question, preset, embedder.thresholds, now, words, trace)
    if query is not None:
        pipeline.search_vectors(query)
    with trace.stage("fusion"):
        fused = preset.fusion.fuse(pipeline.evidence(query))
    if preset.divides and question.embedding is None and query is not None:
        fused = pipeline.led_by_parts(fused, analyzer, embedder)
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
                view, ranked, question.max_tokens, preset.overflow == "stop", question.limit
            )
            if ranking.cut:
                left = question.max_tokens - tokens
                ranking, more = pipeline.with_further_passages(ranking, left, query)
                tokens += more
        if explain:
            ranking = ranking.explained(fused.memories, fused.parts)
    if question.packing is not None:
        with trace.stage("pack"):
            facts = FactView(view.columns, view.op, question.as_world, question.filter.trust)
            subgraph = (
                pack(view, facts, ranked, question, question.packing, analyzer, counter(), now)
                if suffices
                else nothing(question, now, counter())
            )
    trace.total = (time.perf_counter_ns() - started) / 1000
    return Recall(
        question.text,
        view=view,
        ranking=ranking,
        tokens=tokens,
        token_counter=token_counter,
        time_range=_datetimes(words.time_range),
        trace=trace,
        explain=explain,
        confidence=confidence,
        signs=None if confidence is None else fused.signs or NOTHING_FOUND,
        subgraph=subgraph,
    )


class _Pipeline:
    """The state of one recall: the lists of the arms so far."""

    def __init__(
        self,
        view: View,
        question: Question,
        preset: Preset,
        thresholds: Thresholds,
        now: int,
        words: WordSearch,
        trace: Trace,
    ) -> None:
        self.view = view
        self.question = question
        self.preset = preset
        self.thresholds = preset.thresholds or thresholds
        self.now = now
        self.words = words
        self.trace = trace
        self.runner = ArmRunner(view, preset.quotas, trace)
        self.lists: dict[str, ArmList] = {}
        if words.ranked is not None:
            self.lists["keyword"] = words.ranked

    def search_vectors(self, query: npt.NDArray[np.float32]) -> None:
        """Run the arms that need the question's vector: semantic, graph and temporal."""
        view, limits, preset = self.view, self.thresholds, self.preset
        budget, exact = self.question.thinking_budget, self.question.exact
        spreading = preset.spreading
        spreads = "graph" in preset.arms and not preset.fusion.associates
        wanted = max(budget, spreading.entry_points) if spreads else budget
        floor = limits.semantic if preset.semantic_cut else arms.ANY_COSINE
        if spreads or "semantic" in preset.arms:
            entries = self._run(
                "semantic",
                lambda allowed, most: arms.semantic(view, query, allowed, floor, most, exact),
                wanted,
            )
            self.lists["semantic"] = entries.first(budget)
        if spreads:
            self._run(
                "graph",
                lambda allowed, most: graph(view, query, entries, allowed, limits, most, spreading),
                budget,
            )
        found = self.words.time_range
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
        """Return the evidence for the fusion."""
        ordered = {name: self.lists[name] for name in ARMS if name in self.lists}
        words = self.words
        return Evidence(
            view=self.view,
            lists=ordered,
            words=words.words,
            query=query if "semantic" in self.preset.arms else None,
            allowed=words.allowed,
            cues=words.cues,
            found=words.time_range,
            now=self.now,
            thresholds=self.thresholds,
            budget=self.question.thinking_budget,
            quoted=words.quoted,
        )

    def led_by_parts(self, fused: Fused, analyzer: Analyzer, embedder: QueryEmbedder) -> Fused:
        """Return ``fused`` with the best memory for each part of the question near the first.

        A part that fails is named in the trace.
        """
        trace = self.trace
        parts = parts_of(self.question.text)
        if not parts:
            return fused
        with trace.stage("parts"):
            try:
                found = [self._best(part, analyzer, embedder) for part in parts]
            except Exception as error:  # the whole question still answers
                trace.errors["parts"] = f"{type(error).__name__}: {error}"
                return fused
            return lead_with_parts(fused, found)

    def _best(self, part: str, analyzer: Analyzer, embedder: QueryEmbedder) -> int | None:
        """Return the memory that ranks first for a part of the question; None for none."""
        view, preset, trace = self.view, self.preset, Trace()
        question = replace(self.question, text=part)
        words = search_words(view, question, preset, analyzer, self.now, trace)
        dimension = view.columns.dimension
        query = check_embedding(embedder.embed_query(part), "the query's vector", dimension)
        pipeline = _Pipeline(view, question, preset, self.thresholds, self.now, words, trace)
        pipeline.search_vectors(query)
        fused = preset.fusion.fuse(pipeline.evidence(query))
        self.trace.errors.update(trace.errors)
        return int(fused.memories[0]) if len(fused.memories) else None

    def confidence(self, fused: Fused) -> float | None:
        """Return the probability that the agent holds an answer; None if it is not known."""
        if not len(fused.memories) and not self.trace.errors:
            return 0.0
        if fused.signs is None or "semantic" in self.trace.errors:
            return None
        return fused.signs.confidence

    def suffices(self, confidence: float | None) -> bool:
        """Return whether the confidence is enough to answer; False if a failure left it unknown.

        Raises `InputError` if the preset gives no confidence.
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
        """Return the fused list after SATF, reranker and diversity."""
        preset, trace = self.preset, self.trace
        diversity = preset.diversity
        memories, scores = fused.memories, fused.scores
        collapsed: dict[int, tuple[int, ...]] = {}
        if diversity is not None and diversity.only_folds:
            with trace.stage("diversity"):
                if (kept := fold(self.view, memories)) is not None:
                    memories, scores = memories[kept.order], scores[kept.order]
                    collapsed = kept.folded(memories)
            diversity = None
        if preset.self_anchoring is None and preset.reranker is None and diversity is None:
            return Ranking(memories, scores, self.lists, {}, collapsed)
        candidates = Candidates(
            self.question.text, self.view, memories, scores, self.now, query, self.lists, trace
        )
        if diversity is not None and diversity.balance is None:
            # without MMR repetitions are folded first, so that none is judged
            candidates, collapsed = self._diversified(candidates, diversity)
            diversity = None
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
                    # later stages need the whole list; the token budget needs only its head
                    whole = diversity is not None or self.question.packing is not None
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
        if diversity is not None:
            candidates, collapsed = self._diversified(candidates, diversity)
        return Ranking(candidates.memories, candidates.scores, self.lists, {}, collapsed)

    def _diversified(
        self, candidates: Candidates, diversity: Diversity
    ) -> tuple[Candidates, dict[int, tuple[int, ...]]]:
        """Return the list after ``diversity``; memory -> the memories that were folded into it."""
        with self.trace.stage("diversity"):
            spread = diversity.apply(candidates)
            kept = candidates.taken(spread.order, candidates.scores[spread.order])
            return kept, spread.folded(kept.memories)

    def with_further_passages(
        self, ranking: Ranking, left: int, query: npt.NDArray[np.float32] | None
    ) -> tuple[Ranking, int]:
        """Return the ranking with more of its long memories, and the tokens that this takes."""
        return with_further_passages(
            self.view, ranking, left, self.words.words, query, self.thresholds
        )

    def _settled(self, lead: npt.NDArray[np.uint32], others: npt.NDArray[np.uint32]) -> bool:
        """Return whether none of ``others`` can be returned after ``lead``."""
        stop, most = self.preset.overflow == "stop", self.question.max_tokens
        ranking = Ranking(lead, np.zeros(len(lead)), self.lists)
        kept, tokens = within_budget(self.view, ranking, most, stop)
        limit = self.question.limit
        if limit is not None and len(kept.memories) >= limit:
            return True
        if stop and len(kept.memories) < len(lead):
            return True
        return bool(most - tokens < least_tokens(self.view, others))

    def _run(self, name: str, arm: Arm, budget: int) -> ArmList:
        ranked = self.lists[name] = self.runner.run(name, arm, self.words.allowed, budget)
        return ranked


def _datetimes(found: TimeRange | None) -> tuple[datetime, datetime] | None:
    return None if found is None else (from_micros(found.start), from_micros(found.end))
