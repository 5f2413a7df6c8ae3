"""A writer's cache of words and names, in front of the dictionaries."""

from recollex_engine.domain.schema import STOP_WORD
from recollex_engine.state.columns import Columns
from recollex_engine.text.names import EntityTable

NUMBERS = 100_000
"""Maximum number of cached words."""


class Lexicon:
    """The numbers of recent words, and the table of names.

    Threads: only the thread that holds the writer's lock may use it.
    """

    def __init__(self) -> None:
        self.numbers: dict[str | None, int] = {None: STOP_WORD}
        self._names: EntityTable | None = None

    def remember(self, word: str, number: int) -> None:
        """Cache the number of a recorded word."""
        if len(self.numbers) >= NUMBERS:
            self.numbers = {None: STOP_WORD}
        self.numbers[word] = number

    def names(self, columns: Columns) -> EntityTable:
        """Return the table of names, built from ``columns`` on first use."""
        if self._names is None:
            settings = columns.settings
            self._names = EntityTable(settings.entity_rule if settings else "alike")
            name_of = columns.dictionary["names"].string
            for number, entity in enumerate(columns.array("name_entity").tolist()):
                self._names.add(name_of(number), entity)
            for number, entity, _ in columns.parted_names:
                self._names.part(name_of(number), entity)
        return self._names

    def forget_names(self) -> None:
        """Drop the table: it may hold names of a transaction that failed."""
        self._names = None
