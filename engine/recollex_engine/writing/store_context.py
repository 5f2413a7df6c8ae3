"""The clock, model, thread pools and settings that all agents of a store share."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field

from recollex_engine.clock import Clock
from recollex_engine.log.durability import Durability
from recollex_engine.log.progress import StartProgress
from recollex_engine.models.embedder import Embedder
from recollex_engine.ranking.query_embedding import LatencyEstimate
from recollex_engine.text.analyzer import Analyzer


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreContext:
    """The objects that all agents of a store share; ``create`` makes the store's folder.

    ``on_flush(seconds)`` is called after each flush of a log; ``start_progress`` shows how far a
    long opening is. ``latency``: of the embedder.
    """

    create: Callable[[], None]
    embedder: Callable[[], Embedder]
    clock: Clock
    durability: Durability
    read_only: bool
    language: str
    locale: str
    threads: int
    background: Executor
    building: Executor
    on_flush: Callable[[float], None] | None = None
    start_progress: StartProgress | None = None
    analyzers: dict[str, Analyzer] = field(default_factory=dict)
    latency: LatencyEstimate = field(default_factory=LatencyEstimate)

    def analyzer(self, language: str) -> Analyzer:
        """Return the analyzer of a language; it caches the words of all agents."""
        found = self.analyzers.get(language)
        if found is None:  # two threads may both make one
            found = self.analyzers[language] = Analyzer(language)
        return found
