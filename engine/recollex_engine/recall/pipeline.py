"""How is a question answered? Arms, fusion, later stages, token budget (TEMPR 3.5)."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import from_micros
from recollex_engine.domain.prompt_lines import LineCosts
from recollex_engine.domain.question import MEMORIES, UNBOUNDED, Question
from recollex_engine.errors import InputError
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.surface_arms import SurfaceQuestion
from recollex_engine.facts.surface_search import Found, search_surfaces
from recollex_engine.models.description import Thresholds
from recollex_engine.models.embedder import QueryEmbedder, makes_vectors
from recollex_engine.ranking import arms
from recollex_engine.ranking.arm_table import ARMS, VectorSearch
from recollex_engine.ranking.arms import ArmList
from recollex_engine.ranking.confidence import NOTHING_FOUND
from recollex_engine.ranking.diversity import Diversity, fold
from recollex_engine.ranking.fusion import Evidence, Fused
from recollex_engine.ranking.passage_choice import with_further_passages
from recollex_engine.ranking.presets import Preset
from recollex_engine.ranking.query_embedding import LatencyEstimate, embed_beside, embed_once
from recollex_engine.ranking.ranking import Ranking, least_tokens, tokens_of, within_budget
from recollex_engine.ranking.reordering import lead_with_parts
from recollex_engine.ranking.reranking import Candidates, Reranker, is_available, rerank
from recollex_engine.recall.beside import Beside
from recollex_engine.recall.kinds import asked_by, with_others
from recollex_engine.recall.neighbourhood import EVENT, FACT
from recollex_engine.recall.packing import nothing, pack
from recollex_engine.recall.recall import Recall
from recollex_engine.recall.word_search import WordSearch, divides, run_arm, search_words
from recollex_engine.state.view import View
from recollex_engine.text.analyzer import Analyzer, without_quotes
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
    costs: LineCosts,
    latency: LatencyEstimate,
    explain: bool,
) -> Recall:
    """Return the memories of ``view`` for ``question``; "last week" is relative to ``now``.

    ``token_counter``: the name of the counter of the memories' tokens. ``counter``: counts those of
    a subgraph, if one is asked for. ``costs``: of the lines of a prompt. ``latency``: of the
    embedder. If an arm, a parser or a reranker fails, the trace reports it, and the others answer.
    """
    started = time.perf_counter_ns()
    trace = Trace()
    given = question.text
    if (bare := without_quotes(given)) != given:
        question = replace(question, text=bare)
    query = question.embedding
    compares = preset.compares or question.packing is not None
    searches = view.memories or (question.kinds != MEMORIES and makes_vectors(embedder))
    if query is None and searches and compares:
        dimension = view.columns.dimension
        search = partial(search_words, view, question, preset, analyzer, now, trace)
        query, words = embed_beside(search, question.text, embedder, dimension, latency, trace)
    else:
        words = search_words(view, question, preset, analyzer, now, trace)
    pipeline = _Pipeline(view, question, preset, embedder.thresholds, now, words, trace, costs)
    if query is not None:
        pipeline.search_vectors(query)
    began = time.perf_counter_ns()
    fused = pipeline.fused(query)
    trace.spent("fusion", began)
    may_divide = preset.divides and question.embedding is None and len(fused.memories)
    if may_divide and (query is not None or not preset.compares):
        fused = pipeline.led_by_parts(fused, analyzer, embedder)
    pipeline.lists.update(fused.lists)
    confidence = pipeline.confidence(fused) if MEMORIES[0] in question.kinds else None
    tokens: int | Callable[[], int] = 0
    subgraph = None
    suffices = pipeline.suffices(fused, confidence)
    if not suffices:
        ranked = ranking = Ranking.empty()
    else:
        ranked = pipeline.refine(fused, query)
        began = time.perf_counter_ns()
        if question.max_tokens == UNBOUNDED and question.limit is None:
            ranking = ranked
            tokens = partial(tokens_of, view, ranked, costs)
        else:
            ranking, tokens = pipeline.within_budget(ranked, query)
        trace.spent("budget", began)
        if explain:
            ranking = ranking.explained(fused.memories, fused.parts)
    if question.packing is not None:
        with trace.stage("pack"):
            facts = FactView(view.columns, view.op, question.filter.as_world, question.filter.trust)
            subgraph = (
                pack(
                    view,
                    facts,
                    ranked,
                    question,
                    question.packing,
                    analyzer,
                    counter(),
                    now,
                    found=pipeline.entry_points(facts, analyzer, query, question.packing.seeds),
                )
                if suffices
                else nothing(question, now, counter())
            )
    named = words.time_range
    found = Recall(
        given,
        view=view,
        ranking=ranking,
        tokens=tokens,
        token_counter=token_counter,
        time_range=None if named is None else (from_micros(named.start), from_micros(named.end)),
        trace=trace,
        explain=explain,
        confidence=confidence,
        signs=None if confidence is None else fused.signs or NOTHING_FOUND,
        subgraph=subgraph,
    )
    if question.kinds != MEMORIES:
        if suffices:
            asked = pipeline.asked(analyzer, query)
            most = 0.0 if words.words is None else words.words.most
            lists = pipeline.lists
            found = with_others(found, view, question, preset, asked, fused, lists, most, counter())
        else:
            found = found.with_beside((), Beside((), ()), 0)
    trace.total = (time.perf_counter_ns() - started) / 1000
    return found


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
        costs: LineCosts,
    ) -> None:
        self.view = view
        self.costs = costs
        self.question = question
        self.preset = preset
        self.thresholds = preset.thresholds or thresholds
        self.now = now
        self.words = words
        self.trace = trace
        self.lists: dict[str, ArmList] = {}
        if words.ranked is not None:
            self.lists["keyword"] = words.ranked

    def search_vectors(self, query: npt.NDArray[np.float32]) -> None:
        """Run the arms of the preset that need the question's vector."""
        view = self.view
        preset = self.preset
        budget = self.question.thinking_budget
        given = VectorSearch(
            view,
            query,
            self.thresholds,
            self.thresholds.semantic if preset.semantic_cut else arms.ANY_COSINE,
            self.question.exact,
            preset.spreading,
            preset.temporal,
            self.words.time_range,
        )
        wanted = [ARMS[name] for name in preset.arms]
        if preset.fusion.associates:  # it spreads by itself
            wanted = [arm for arm in wanted if arm.name != "graph"]
        seeds = {arm.seeds for arm in wanted}
        for arm in ARMS.values():
            is_wanted = arm in wanted
            is_seed = arm.name in seeds
            late = arm.of_time and given.found is None
            if arm.search is None or late or not (is_wanted or is_seed):
                continue
            most = budget
            if is_seed and not divides(view, preset):
                most = max(budget, preset.spreading.entry_points)
            search = partial(arm.search, given)
            allowed = self.words.allowed
            found = run_arm(
                view, preset, self.trace, arm.name, search, allowed, most, across=arm.across
            )
            given.lists[arm.name] = found
            if is_wanted:
                self.lists[arm.name] = found.first(budget) if most > budget else found

    def fused(self, query: npt.NDArray[np.float32] | None) -> Fused:
        """Return the arms' lists as one."""
        return self.preset.fusion.fuse(self._evidence(query))

    def _evidence(self, query: npt.NDArray[np.float32] | None) -> Evidence:
        """Return the evidence for the fusion."""
        ordered = {name: self.lists[name] for name in ARMS if name in self.lists}
        words = self.words
        return Evidence(
            view=self.view,
            lists=ordered,
            words=words.words,
            query=query if "semantic" in self.preset.arms else None,
            allowed=words.allowed,
            analyzer=words.analyzer,
            cues=words.cues,
            found=words.time_range,
            now=self.now,
            thresholds=self.thresholds,
            budget=self.question.thinking_budget,
            cited=words.cited,
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
                trace.failed("parts", error)
                return fused
            return lead_with_parts(fused, found)

    def _best(self, part: str, analyzer: Analyzer, embedder: QueryEmbedder) -> int | None:
        """Return the memory that ranks first for a part of the question; None for none."""
        view = self.view
        preset = self.preset
        trace = Trace()
        question = replace(self.question, text=part)
        words = search_words(view, question, preset, analyzer, self.now, trace)
        pipeline = _Pipeline(
            view, question, preset, self.thresholds, self.now, words, trace, self.costs
        )
        query = None
        if preset.compares:
            query = embed_once(embedder, part, view.columns.dimension)
            pipeline.search_vectors(query)
        fused = pipeline.fused(query)
        self.trace.errors.update(trace.errors)
        return int(fused.memories[0]) if len(fused.memories) else None

    def confidence(self, fused: Fused) -> float | None:
        """Return the probability that the agent holds an answer; None if it is not known.

        It is 0 where no memory can be an answer (see `Cues.idle`). It was not calibrated for
        questions in other scripts than the Latin one.
        """
        nothing = not len(fused.memories) and not self.trace.errors
        if nothing or (fused.signs is not None and self.words.cues.idle):
            return 0.0
        failed = "semantic" in self.trace.errors
        if fused.signs is None or self.words.cues.foreign or failed:
            return None
        return fused.signs.confidence

    def suffices(self, fused: Fused, confidence: float | None) -> bool:
        """Return whether the confidence is enough to answer; False if it is not known.

        Raises `InputError` if the preset gives no confidence.
        """
        least = self.question.min_confidence
        if least == 0:
            return True
        if len(fused.memories) and fused.signs is None and not self.trace.errors:
            raise InputError(
                f"min_confidence was given, but the preset {self.preset.name!r} tells no "
                "confidence: use one with Contextual fusion and the semantic and keyword arms, as "
                "the default has"
            )
        return confidence is not None and confidence >= least

    def refine(self, fused: Fused, query: npt.NDArray[np.float32] | None) -> Ranking:
        """Return the fused list after SATF, reranker and diversity."""
        preset = self.preset
        trace = self.trace
        diversity = preset.diversity
        reranker = preset.reranker
        if reranker is not None and not is_available(reranker):
            reranker = None
            trace.judged = 0
        memories = fused.memories
        scores = fused.scores
        collapsed: dict[int, tuple[int, ...]] = {}
        if diversity is not None and diversity.only_folds:
            with trace.stage("diversity"):
                if (kept := fold(self.view, memories)) is not None:
                    memories = memories[kept.order]
                    scores = scores[kept.order]
                    collapsed = kept.folded(memories)
            diversity = None
        if preset.self_anchoring is None and reranker is None and diversity is None:
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
        # later stages need the whole list; the token budget needs only its head
        whole = diversity is not None or self.question.packing is not None
        if diversity is not None and preset.reranks_last:
            candidates, collapsed = self._diversified(candidates, diversity)
            diversity = None
        if reranker is not None:
            candidates = self._reranked(candidates, reranker, whole)
        if diversity is not None:
            candidates, collapsed = self._diversified(candidates, diversity)
        return Ranking(candidates.memories, candidates.scores, self.lists, {}, collapsed)

    def _reranked(self, candidates: Candidates, reranker: Reranker, whole: bool) -> Candidates:
        """Return the list as the reranker orders it; as it is, if the reranker fails.

        whole: score all of the list, not only what can be returned.
        """
        preset = self.preset
        trace = self.trace
        with trace.stage("rerank"):
            try:
                settled = None if whole else self._settled
                ranked = rerank(candidates, reranker, preset.combination, preset.depth, settled)
            except Exception as error:  # the fused order still answers
                trace.failed("rerank", error)
                return candidates
            trace.judged = ranked.judged
            return candidates.taken(ranked.order, ranked.scores)

    def _diversified(
        self, candidates: Candidates, diversity: Diversity
    ) -> tuple[Candidates, dict[int, tuple[int, ...]]]:
        """Return the list after ``diversity``; memory -> the memories that were folded into it."""
        with self.trace.stage("diversity"):
            spread = diversity.apply(candidates)
            kept = candidates.taken(spread.order, candidates.scores[spread.order])
            return kept, spread.folded(kept.memories)

    def asked(self, analyzer: Analyzer, query: npt.NDArray[np.float32] | None) -> SurfaceQuestion:
        """Return the question as facts, events and episodes are asked it."""
        named = self.words.time_range
        question = self.question
        return asked_by(
            self.preset,
            question.text,
            analyzer,
            query,
            self.thresholds,
            None if named is None else (named.start, named.end),
            budget=question.thinking_budget,
            exact=question.exact,
        )

    def entry_points(
        self, facts: FactView, analyzer: Analyzer, query: npt.NDArray[np.float32] | None, count: int
    ) -> list[Found]:
        """Return the facts and events that a pack starts from, beside the memories.

        A search that fails is named in the trace.
        """
        try:
            return search_surfaces(facts, self.asked(analyzer, query), (FACT, EVENT), count)
        except Exception as error:  # the memories and the names lead to a pack as well
            self.trace.failed("surfaces", error)
            return []

    def within_budget(
        self, ranked: Ranking, query: npt.NDArray[np.float32] | None
    ) -> tuple[Ranking, int]:
        """Return the memories that the question's budget and limit admit, and their tokens."""
        question = self.question
        stop = self.preset.overflow == "stop"
        ranking, tokens = within_budget(
            self.view, ranked, question.max_tokens, stop, self.costs, question.limit
        )
        if not ranking.cut:
            return ranking, tokens
        left = question.max_tokens - tokens
        ranking, more = with_further_passages(
            self.view, ranking, left, self.words.words, query, self.thresholds
        )
        return ranking, tokens + more

    def _settled(self, lead: npt.NDArray[np.uint32], others: npt.NDArray[np.uint32]) -> bool:
        """Return whether none of ``others`` can be returned after ``lead``."""
        stop = self.preset.overflow == "stop"
        most = self.question.max_tokens
        ranking = Ranking(lead, np.zeros(len(lead)), self.lists)
        kept, tokens = within_budget(self.view, ranking, most, stop, self.costs)
        limit = self.question.limit
        if limit is not None and len(kept.memories) >= limit:
            return True
        if stop and len(kept.memories) < len(lead):
            return True
        return bool(most - tokens < self.costs.date + least_tokens(self.view, others))
