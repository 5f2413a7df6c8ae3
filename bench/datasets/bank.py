"""One form for every data set: a bank of turns, and the queries that are put to it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypedDict

Split = Literal["dev", "report"]
Unit = Literal["turn", "document"]


class Turn(TypedDict, total=False):
    """A retained text: it always has ``id``, ``text`` and ``document``; the rest is optional.

    With ``speaker`` it goes through `Agent.retain_dialogue`, without it through `Agent.retain`.
    ``at`` has a zone; a text without a time of its own has no ``at``. ``vector``, for a text
    without a speaker, is given instead of the model's.
    """

    id: str
    text: str
    document: str
    at: datetime
    speaker: str
    caption: str
    tags: list[str]
    metadata: dict[str, Any]
    vector: Any


@dataclass(frozen=True, slots=True)
class Query:
    """A question and the evidence of its answer.

    evidence: ids of turns, or of documents if the bank's ``unit`` says so; empty if the set gives
    none. visible: the number of turns, from the first, that are in memory when it is asked.
    answerable: False if the set says that its bank holds no answer, even if it names evidence.
    answers: what the set answers, each in a wording that is right; empty if it gives none.
    talk: the document of the talk in which it is asked, which the asker has in view; None for none.
    """

    id: str
    text: str
    evidence: frozenset[str]
    category: str
    asked_at: datetime
    visible: int
    split: Split
    answerable: bool = True
    answers: tuple[str, ...] = ()
    talk: str | None = None


@dataclass(frozen=True, slots=True)
class Bank:
    """One agent's memory and the questions put to it, in the order in which they are asked.

    dataset and name together are unique. agent: the owner of the memory. notes: what was left out
    of the original files, and how often.
    """

    dataset: str
    name: str
    agent: str
    turns: tuple[Turn, ...]
    queries: tuple[Query, ...]
    unit: Unit
    notes: Mapping[str, int] = field(default_factory=dict)

    @property
    def document_of(self) -> dict[str, str]:
        """The document of each turn, by its id."""
        return {turn["id"]: turn["document"] for turn in self.turns}


def halves(count: int) -> list[Split]:
    """Return the split of ``count`` questions in order: the first half (rounded up) is "dev"."""
    return ["dev" if 2 * place < count else "report" for place in range(count)]


def counts(banks: Iterable[Bank]) -> str:
    """Return one line for each set: its banks, turns, queries, those with evidence, the notes."""
    table: dict[str, dict[str, int]] = {}
    for bank in banks:
        row = table.setdefault(bank.dataset, {})
        proved = [query for query in bank.queries if query.evidence]
        for name, value in (
            ("banks", 1),
            ("turns", len(bank.turns)),
            ("queries", len(bank.queries)),
            ("with evidence, dev", sum(query.split == "dev" for query in proved)),
            ("with evidence, report", sum(query.split == "report" for query in proved)),
            *bank.notes.items(),
        ):
            row[name] = row.get(name, 0) + value
    return "\n".join(
        f"{dataset}: " + ", ".join(f"{name} {value:,}" for name, value in row.items())
        for dataset, row in table.items()
    )
