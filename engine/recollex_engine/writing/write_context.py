"""The writer, model and settings of one write, resolved once."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recollex_engine.clock import Clock, check_recorded_at
from recollex_engine.dates.locales import puts_month_first
from recollex_engine.domain.settings import Settings
from recollex_engine.models.embedder import Embedder
from recollex_engine.state.columns import Columns
from recollex_engine.text.analyzer import Analyzer
from recollex_engine.text.token_counter import TokenCounter
from recollex_engine.text.type_rule import FindTypes, TypedBy, types_by_spacy
from recollex_engine.writing.writer import StalePlan, Writer


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
