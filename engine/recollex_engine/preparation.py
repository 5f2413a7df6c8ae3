"""What can be said of a statement before it meets the agent's memory?

Passages, words, names, dates and token counts depend on the text alone, so they are worked out
outside the writer's lock. What they come to is written in the log: a replay repeats it even after
the rules improve.
"""

from dataclasses import dataclass

from recollex_engine import dates, entities, passages
from recollex_engine.analyzer import Analyzer
from recollex_engine.statement import Statement
from recollex_engine.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement and what its text alone tells.

    passages: (start, end) in characters, one or more. sequences: the words of each passage, None
    for a stop word. tokens: of the whole text, then of each passage if there are several.
    """

    statement: Statement
    said_at: int
    passages: list[tuple[int, int]]
    sequences: list[list[str | None]]
    names: list[str]
    event: tuple[int, int] | None
    tokens: list[int]

    @property
    def texts(self) -> list[str]:
        """The passages' texts, which are what is embedded."""
        if len(self.passages) == 1:
            return [self.statement.text]
        return [self.statement.text[start:end] for start, end in self.passages]


def prepare(
    statement: Statement, said_at: int, analyzer: Analyzer, counter: TokenCounter
) -> Prepared:
    """Return what the text of ``statement``, said at ``said_at``, tells by itself."""
    text = statement.text
    spans = passages.split(text)
    several = len(spans) > 1
    texts = [text[start:end] for start, end in spans] if several else [text]
    found = dates.resolve(text, said_at)
    names = entities.mentions(text, statement.speaker)
    if statement.entities:
        names = list(dict.fromkeys((*statement.entities, *names)))
    tokens = [counter.count(text)]
    if several:
        tokens += [counter.count(part) for part in texts]
    return Prepared(
        statement,
        said_at,
        spans,
        [analyzer.sequence(part) for part in texts],
        names,
        (found.start, found.end) if found else None,
        tokens,
    )
