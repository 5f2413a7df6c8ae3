"""The operations on memories that a transaction may hold: retain, forget, archive, correct.

`Extract`, `Think` and `Form` are of the same family: they name the memories from which facts were
drawn, and those from which opinions are to be formed and were.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from recollex_engine.domain.checks import (
    MAX_NAME,
    MAX_TEXT,
    check_ids,
    check_text,
    refuse_reserved,
)
from recollex_engine.domain.statement import Statement
from recollex_engine.errors import InputError


@dataclass(frozen=True)
class Retain:
    """Retain a memory; its statement has an id."""

    statement: Statement
    word: ClassVar[str] = "RETAIN"

    def __post_init__(self) -> None:
        refuse_reserved(self.id)

    @property
    def id(self) -> str:
        """The memory's id."""
        assert self.statement.id is not None
        return self.statement.id

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the memories that it concerns."""
        return (self.id,)


@dataclass(frozen=True)
class _Closing:
    """Close memories; see `state.columns.Columns.closable`."""

    ids: tuple[str, ...]
    word: ClassVar[str]

    def __post_init__(self) -> None:
        check_ids(self.ids, "id")
        if not self.ids:
            raise InputError(f"id is empty: name at least one memory to {self.word.lower()}")


@dataclass(frozen=True)
class Forget(_Closing):
    """Forget memories: they leave every later view."""

    word: ClassVar[str] = "FORGET"


@dataclass(frozen=True)
class Archive(_Closing):
    """Archive memories: they stay stored, and no recall returns them."""

    word: ClassVar[str] = "ARCHIVE"


@dataclass(frozen=True)
class Correct:
    """Close an open memory and record its replacement, under the same id.

    text: None if it stays. ``changes`` holds the other fields of `Statement` that differ; see
    `writing.recording`.
    """

    id: str
    text: str | None
    changes: dict[str, Any] = field(default_factory=dict)
    word: ClassVar[str] = "CORRECT"

    def __post_init__(self) -> None:
        check_text(self.id, "id", MAX_NAME)
        if self.text is not None:
            check_text(self.text, "text", MAX_TEXT)
        elif not self.changes:
            raise InputError("say what to correct: give a text, or another field")

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the memories that it concerns."""
        return (self.id,)


@dataclass(frozen=True)
class Extract:
    """Say that facts were drawn from memories, or could not be (TEMPR 2.2.2).

    turns: ordinals of the memories, which must be open when it is recorded. prompt: the name of the
    prompt, such as "narrative-1", or of the rules. facts: ids of the memories and of the facts of
    the graph that were made. failed: why the model gave none; None if it did. left_out: reason ->
    how many of its facts were not kept. It holds no word of any memory.
    """

    turns: tuple[int, ...]
    prompt: str
    model: str | None = None
    facts: tuple[str, ...] = ()
    failed: str | None = None
    left_out: dict[str, int] = field(default_factory=dict)
    word: ClassVar[str] = "EXTRACT"


@dataclass(frozen=True)
class Think:
    """Say that an agent answered a question, and that its opinions are to be formed (Memora 4.3).

    thought: its id. shown: ids of the memories that the model was shown, in the order of their
    labels. profile: the "personality" and the "background" under which it was thought. prompt,
    model: their names.
    """

    thought: str
    question: str
    answer: str
    shown: tuple[str, ...]
    profile: Mapping[str, Any]
    prompt: str
    model: str | None = None
    word: ClassVar[str] = "THINK"


@dataclass(frozen=True)
class Form:
    """Say that the opinions of a thought were formed, or could not be.

    opinions: ids of those that the same transaction records. failed: why the model gave none; None
    if it did. shown: ordinals of the memories that the model was shown; none of them may be erased
    when it is recorded. It holds no word of any memory.
    """

    thought: str
    prompt: str
    model: str | None = None
    opinions: tuple[str, ...] = ()
    failed: str | None = None
    shown: tuple[int, ...] = ()
    word: ClassVar[str] = "FORM"
