"""The clock, model, thread pools and settings that all agents of a store share."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

from recollex_engine.background_work import BackgroundWork
from recollex_engine.clock import Clock
from recollex_engine.log.durability import Durability
from recollex_engine.log.reader import StartProgress
from recollex_engine.models.embedder import Embedder
from recollex_engine.ranking.query_embedding import LatencyEstimate
from recollex_engine.state.access_journal import AccessCounting
from recollex_engine.text.analyzer import Analyzer
from recollex_engine.text.type_rule import Naming


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreContext:
    """The objects that all agents of a store share; ``create`` makes the store's folder.

    ``check_place()`` raises `StoreMovedError` if the store's path leads to another folder.
    ``on_flush(seconds)`` is called after each flush of a log; ``start_progress`` shows how far a
    long opening is. ``naming``: how names become entities. ``latency``: of the embedder. ``llm``:
    the language model, None without one; the engine only hands it on. ``work``: what goes on after
    a call has returned. ``written``: called with the agent after each transaction of its memories
    and facts, in the thread that wrote. ``accesses``: counts what recalls return, where that is
    asked for.
    """

    create: Callable[[], None]
    check_place: Callable[[], None]
    embedder: Callable[[], Embedder]
    clock: Clock
    durability: Durability
    read_only: bool
    language: str
    locale: str
    naming: Naming
    threads: int
    background: Executor
    building: Executor
    accesses: AccessCounting
    on_flush: Callable[[float], None] | None = None
    start_progress: StartProgress | None = None
    llm: Any = None
    work: BackgroundWork = field(default_factory=BackgroundWork)
    written: list[Callable[[Any], None]] = field(default_factory=list)
    analyzers: dict[str, Analyzer] = field(default_factory=dict)
    latency: LatencyEstimate = field(default_factory=LatencyEstimate)

    def analyzer(self, language: str) -> Analyzer:
        """Return the analyzer of a language; it caches the words of all agents."""
        found = self.analyzers.get(language)
        if found is None:  # two threads may both make one
            found = self.analyzers[language] = Analyzer(language)
        return found
