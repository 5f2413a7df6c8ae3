"""What writes use: what all agents of a store share, and what one write resolves once."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from recollex_engine.background_work import BackgroundWork
from recollex_engine.clock import Clock, check_recorded_at
from recollex_engine.dates.locales import puts_month_first
from recollex_engine.domain.settings import Settings
from recollex_engine.domain.statement import Statement
from recollex_engine.log.durability import Durability
from recollex_engine.log.home import LogHomes
from recollex_engine.log.reader import StartProgress
from recollex_engine.models.embedder import Embedder
from recollex_engine.ranking.query_embedding import LatencyEstimate
from recollex_engine.state.access_journal import AccessCounting
from recollex_engine.state.columns import Columns
from recollex_engine.text.analyzer import Analyzer
from recollex_engine.text.token_counter import TokenCounter
from recollex_engine.text.type_rule import FindTypes, Naming, TypedBy, types_by_spacy
from recollex_engine.writing.writer import StalePlan, Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreContext:
    """The objects that all agents of a store share; ``create`` makes the store's folder.

    ``check_place()`` raises `StoreMovedError` if the store's path leads to another folder.
    ``on_flush(seconds)`` is called after each flush of a log; ``start_progress`` shows how far a
    long opening is. ``naming``: how names become entities. ``latency``: of the embedder. ``llm``:
    the language model, None without one; the engine only hands it on. ``work``: what goes on after
    a call has returned. ``written``: called with the agent after each transaction of its memories
    and facts, in the thread that wrote. ``accesses``: counts what recalls return, where that is
    asked for. ``homes``: where the logs are durable, if not in their own files.
    """

    create: Callable[[], None]
    check_place: Callable[[], None]
    embedder: Callable[[], Embedder]
    clock: Clock
    durability: Durability
    read_only: bool
    language: str
    locale: str
    zone: str | None
    naming: Naming
    threads: int
    background: Executor
    building: Executor
    accesses: AccessCounting
    on_flush: Callable[[float], None] | None = None
    start_progress: StartProgress | None = None
    llm: Any = None
    homes: LogHomes | None = None
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


# The writer, model and settings of one write, resolved once.
@dataclass(frozen=True, slots=True, kw_only=True)
class WriteContext:
    """The objects that one write needs of its agent and store.

    writer: None if the agent's folder does not exist yet; `open` makes it. settings: those of the
    agent, or those that its first write records. recorded_at: as the caller gave it.
    """

    agent: str
    folder: Path
    writer: Writer | None
    open_writer: Callable[[], Writer]
    settings: Settings
    embedder: Embedder
    analyzer: Analyzer
    counter: Callable[[], TokenCounter]
    clock: Clock
    threads: int
    typed_by: TypedBy
    recorded_at: int | None

    @property
    def month_first(self) -> bool:
        """Whether 5/7/2023 is 7 May in the agent's locale."""
        return puts_month_first(self.settings.locale)

    def placed(self, statement: Statement) -> Statement:
        """Return a statement that names no zone in that of the agent, another as it is."""
        zone = self.settings.zone
        if zone is None or statement.zone is not None:
            return statement
        return replace(statement, zone=zone)

    @property
    def find_types(self) -> FindTypes | None:
        """How names are typed; None if by rule alone."""
        return types_by_spacy(self.settings.language, self.typed_by)

    def check_recorded_at(self) -> None:
        """Raise `InputError` if the given time cannot be the next recorded time."""
        if self.recorded_at is None:
            return
        if self.writer is None:
            check_recorded_at(self.recorded_at, self.clock())
        else:
            self.writer.check_recorded_at(self.recorded_at)

    def check_counter(self, columns: Columns) -> None:
        """Raise `StalePlan` if another process made the agent meanwhile, with another counter."""
        if columns.settings is not None and columns.settings.counter != self.settings.counter:
            raise StalePlan

    def said_at(self) -> int:
        """Return the time of statements that give none."""
        return self.clock() if self.recorded_at is None else self.recorded_at

    def open(self) -> Writer:
        """Return the writer; the first write makes the agent's folder and records its settings.

        Raises `ClosedError` if the agent was closed meanwhile.
        """
        writer = self.open_writer()
        if writer.settings is None:
            writer.create(self.settings, self.recorded_at)
        return writer
