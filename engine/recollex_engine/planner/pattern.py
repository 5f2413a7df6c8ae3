"""Which facts does a clause of a question mean? Those of a predicate, a subject or an object."""

from dataclasses import dataclass, replace

from recollex_engine.planner.predicates import Wording

SUBJECT, OBJECT = "subject", "object"


class OutsideError(Exception):
    """The question is in none of the planner's forms; the message says what it has instead."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Facts of predicates; subject and object: given names. asked: the other part, if one is.

    is_either: of "the spouse of Ann" it is not known whether Ann is the subject or the object, and
    a meeting with Ann is one of hers.
    is_state: of what was done it asks whether it lasted: "was Ann married in 2010?".
    """

    wordings: tuple[Wording, ...]
    subject: str | None = None
    object: str | None = None
    literal: bool = False
    asked: str | None = None
    begins: bool = False
    is_either: bool = False
    is_state: bool = False

    @property
    def is_event(self) -> bool:
        """Whether it means events that are named by a noun: "Ann's trips"."""
        return self.wordings[0].kind == "event"

    def turned(self) -> "Pattern":
        """Return the pattern with subject and object changed over."""
        asked = None if self.asked is None else SUBJECT if self.asked == OBJECT else OBJECT
        return replace(self, subject=self.object, object=self.subject, asked=asked)

    def with_part(self, part: str, name: str | None) -> "Pattern":
        """Return the pattern with another subject or object."""
        return replace(self, subject=name) if part == SUBJECT else replace(self, object=name)

    def part(self, part: str) -> str | None:
        """Return the given subject or object."""
        return self.subject if part == SUBJECT else self.object
