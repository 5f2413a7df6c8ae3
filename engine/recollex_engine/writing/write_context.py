"""What does one write need of its agent? The writer, the model and the settings, resolved once."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recollex_engine.clock import Clock
from recollex_engine.domain.settings import Settings
from recollex_engine.models.embedder import Embedder
from recollex_engine.text.analyzer import Analyzer
from recollex_engine.text.token_counter import TokenCounter
from recollex_engine.writing.writer import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteContext:
    """What one write needs of its agent and of the store.

    writer: None for an agent whose folder is not there yet; `open` makes it. settings: those of the
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
    recorded_at: int | None

    def check_recorded_at(self) -> None:
        """Raise `InputError` where the time given is not later than the last one recorded."""
        if self.recorded_at is not None and self.writer is not None:
            self.writer.check_recorded_at(self.recorded_at)

    def said_at(self) -> int:
        """Return when those statements were said that do not say so."""
        return self.clock() if self.recorded_at is None else self.recorded_at

    def open(self) -> Writer:
        """Return the writer; the first write makes the agent's folder and records its settings.

        Raises `ClosedError` where the agent was closed meanwhile.
        """
        writer = self.open_writer()
        if writer.settings is None:
            writer.create(self.settings, self.recorded_at)
        return writer
