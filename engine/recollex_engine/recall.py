"""How is a question answered? Arms, fusion, token budget (TEMPR, section 3.5).

The model runs on the caller's thread and leaves the interpreter; meanwhile another thread reads the
dates and searches the words. The other way round costs more: measured, handing the model to another
thread makes it half a millisecond slower, on a core whose caches it finds cold.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from recollex_engine import arms
from recollex_engine.analyzer import Analyzer, ParsedQuery
from recollex_engine.arms import Ranked
from recollex_engine.clock import from_micros
from recollex_engine.dates import TimeRange, find_range
from recollex_engine.memory import Ranking, Recall
from recollex_engine.models.description import Thresholds
from recollex_engine.question import Question
from recollex_engine.schema import NONE
from recollex_engine.selection import select
from recollex_engine.temporal import temporal
from recollex_engine.trace import Trace
from recollex_engine.view import View
from recollex_kernels.fusion import rrf

RRF_K = 60
"""Reciprocal rank fusion's constant (TEMPR 3.2)."""

ARMS = ("semantic", "keyword", "graph", "temporal")


class QueryEmbedder(Protocol):
    """What a recall needs of a model."""

    @property
    def thresholds(self) -> Thresholds:
        """The similarities at which the arms cut off."""

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return float32[dimension] of length 1."""


_beside = ThreadPoolExecutor(max_workers=2, thread_name_prefix="recollex words")


def recall(
    view: View,
    question: Question,
    analyzer: Analyzer,
    embedder: QueryEmbedder,
    now: int,
    token_counter: str,
    explain: bool,
) -> Recall:
    """Return what bears on ``question`` in ``view``; ``now`` in microseconds dates "last week".

    An arm that fails is reported in the trace and the others answer.
    """
    started = time.perf_counter_ns()
    pipeline = _Pipeline(view, question, embedder.thresholds)
    trace = pipeline.trace
    query = question.embedding
    if query is None and view.memories:
        words = _submit(pipeline.search_words, analyzer, now)
        with trace.stage("embed"):
            try:
                query = embedder.embed_query(question.text)
            except Exception as error:  # the words still answer
                trace.errors["embed"] = f"{type(error).__name__}: {error}"
        words()
    else:
        pipeline.search_words(analyzer, now)
    if query is not None:
        pipeline.search_vectors(query)
    with trace.stage("fusion"):
        memories, scores = fuse(pipeline.lists)
    with trace.stage("budget"):
        ranking, tokens = within_budget(view, pipeline.lists, memories, scores, question.max_tokens)
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
    )


def _submit(
    search: Callable[[Analyzer, int], None], analyzer: Analyzer, now: int
) -> Callable[[], None]:
    """Start a search in another thread and return what waits for it."""
    try:
        return _beside.submit(search, analyzer, now).result
    except RuntimeError:  # the interpreter is ending and starts no threads
        return lambda: search(analyzer, now)


class _Pipeline:
    """One recall on its way: the lists of the arms that have answered."""

    def __init__(self, view: View, question: Question, thresholds: Thresholds) -> None:
        self.view = view
        self.question = question
        self.thresholds = thresholds
        self.trace = Trace()
        self.lists: dict[str, Ranked] = {}
        self.found: TimeRange | None = None
        self.allowed = view.open

    def search_words(self, analyzer: Analyzer, now: int) -> None:
        """Read the question, narrow to what it admits, search its words."""
        view, question, trace = self.view, self.question, self.trace
        with trace.stage("parse"):
            try:
                self.found = find_range(question.text, now)
            except Exception as error:  # as with an arm: without a range the others answer
                trace.errors["parse"] = f"{type(error).__name__}: {error}"
            parsed = analyzer.query(question.text)
        with trace.stage("filter"):
            self.allowed = select(view, question)
            terms, phrases, answerable = _look_up(view, parsed)
            if phrases:
                self.allowed = arms.holding(view, phrases, self.allowed)
            if not answerable:
                self.allowed = np.zeros_like(self.allowed)
        self._run("keyword", self._keyword, terms, question.thinking_budget)

    def search_vectors(self, query: npt.NDArray[np.float32]) -> None:
        """Search what is like the question, what is linked to that, and what is of its time."""
        view, limits, allowed = self.view, self.thresholds, self.allowed
        budget, exact = self.question.thinking_budget, self.question.exact
        wanted = max(budget, arms.ENTRY_POINTS)
        entries = self._run(
            "semantic", arms.semantic, view, query, allowed, limits.semantic, wanted, exact
        )
        self._run("graph", arms.graph, view, query, entries, allowed, limits, budget)
        if self.found is not None:
            self._run("temporal", temporal, view, query, self.found, allowed, limits, budget)
        self.lists["semantic"] = entries.first(budget)

    def _keyword(self, terms: npt.NDArray[np.uint32], budget: int) -> Ranked:
        return arms.keyword(self.view, terms, self.allowed, budget).ranked

    def _run(self, name: str, arm: Callable[..., Ranked], *arguments: Any) -> Ranked:
        with self.trace.stage(name):
            try:
                ranked = arm(*arguments)
            except Exception as error:  # one arm's fault must not cost the others' answers
                self.trace.errors[name] = f"{type(error).__name__}: {error}"
                ranked = Ranked.empty()
        self.lists[name] = ranked
        return ranked


def _datetimes(found: TimeRange | None) -> tuple[datetime, datetime] | None:
    return None if found is None else (from_micros(found.start), from_micros(found.end))


def _look_up(
    view: View, parsed: ParsedQuery
) -> tuple[npt.NDArray[np.uint32], list[npt.NDArray[np.uint32]], bool]:
    """Return the query's terms and phrases as numbers of the agent's dictionary.

    A word that the agent never met is NONE; a phrase with one cannot match, which the last item
    says.
    """
    known = view.columns.dictionary["terms"].get_many(parsed.terms)
    number = view.columns.dictionary["terms"].get
    phrases, answerable = [], True
    for phrase in parsed.phrases:
        numbers = [NONE if word is None else number(word) for word in phrase]
        if None in numbers:
            answerable = False
        else:
            phrases.append(np.array(numbers, np.uint32))
    return known, phrases, answerable


def fuse(lists: dict[str, Ranked]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float64]]:
    """Return the union of the arms' memories by reciprocal rank fusion, best first."""
    ordered = [lists[name].memories for name in ARMS if name in lists]
    if not ordered:
        return np.empty(0, np.uint32), np.empty(0, np.float64)
    sizes = np.array([len(memories) for memories in ordered], np.int64)
    table = np.zeros((len(ordered), max(1, int(sizes.max()))), np.uint32)
    for arm, memories in enumerate(ordered):
        table[arm, : len(memories)] = memories
    return rrf(table, sizes, np.ones(len(ordered)), RRF_K)


def within_budget(
    view: View,
    lists: dict[str, Ranked],
    memories: npt.NDArray[np.uint32],
    scores: npt.NDArray[np.float64],
    max_tokens: int,
) -> tuple[Ranking, int]:
    """Return the memories that fit ``max_tokens`` in rank order, and the tokens they take.

    One that is too long for what is left gives the passage that matched; if that is too long as
    well it is passed over, and later ones may fit. Cost: a prefix sum, and a step a memory behind
    the first that does not fit.
    """
    tokens = view.buffer("tokens")[memories].astype(np.int64)
    spent = np.cumsum(tokens)
    whole = int(np.searchsorted(spent, max_tokens, side="right"))
    ranking = Ranking(memories[:whole], scores[:whole], lists, {})
    total = int(spent[whole - 1]) if whole else 0
    if whole == len(memories):
        return ranking, total
    chosen, cut = list(range(whole)), {}
    first_row, passage_tokens = view.buffer("first_row"), view.buffer("passage_tokens")
    rest = memories[whole:].astype(np.int64)
    several = first_row[rest + 1] - first_row[rest] > 1
    perhaps = np.flatnonzero((tokens[whole:] <= max_tokens - total) | several) + whole
    for place in perhaps.tolist():
        left = max_tokens - total
        if not left:
            break
        memory, size = int(memories[place]), int(tokens[place])
        if size > left:
            if not several[place - whole]:
                continue
            row = ranking.best_row(memory)
            row = int(first_row[memory]) if row is None else row
            size = int(passage_tokens[row])
            if size > left:
                continue
            cut[len(chosen)] = row
        total += size
        chosen.append(place)
    return Ranking(memories[chosen], scores[chosen], lists, cut), total
