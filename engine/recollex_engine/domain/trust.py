"""Who said or did it, where does it come from, and how far is it trusted?

A stamp is a source and a level of trust. The caller who holds the agent gives it to a whole call;
no text, turn or operation can give itself one. A role is something else: it is part of a turn's
content, says who a message claims to be from, and may be copied from anywhere. The levels, in
order::

    0          unknown: the memory was retained without a source
    1 web      pages, documents, mail, written by anyone; also a source of the caller's
               own, unless its trust is given
    2 tool     results of tools and other programs
    3 assistant    what the agent's own model said or concluded
    4 user     what the person said whom the agent serves: full trust

A memory or fact that is derived from others has the stamp of the least trusted one.

Which role has a turn's speaker: the user, the assistant, the system or a tool?
Chat APIs give each message a role. It is kept as a number beside the speaker, because a question
in the first person ("Where do I live?") asks about the user's turns, and one in the second person
("What did you suggest?") about the assistant's.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from recollex_engine.errors import InputError

ROLES = (None, "user", "assistant", "system", "tool")
"""A role's index is its number in the column; 0 if the role is unknown."""
USER, ASSISTANT, SYSTEM, TOOL = range(1, 5)

_NUMBERS = {
    **{"user": USER, "human": USER},
    **{"assistant": ASSISTANT, "ai": ASSISTANT, "bot": ASSISTANT, "agent": ASSISTANT},
    **{"model": ASSISTANT, "system": SYSTEM, "developer": SYSTEM, "tool": TOOL, "function": TOOL},
}
_SPEAKERS = {
    form: number
    for name, number in _NUMBERS.items()
    if name not in ("model", "developer", "function")
    for form in (name, name.upper(), name.capitalize())
    if form != "Ai"  # a first name
}
"""Speakers who are named by their role. Fixed: a replay of a log without roles depends on it."""


def role_number(name: object, what: str = "role") -> int:
    """Return the number of a role; ``what`` names the argument in an error.

    >>> role_number("developer") == role_number("system") == SYSTEM
    True
    """
    if not isinstance(name, str) or name not in _NUMBERS:
        raise InputError(f"{what} must be one of {', '.join(_NUMBERS)}, got {name!r}")
    return _NUMBERS[name]


def role_of_speaker(speaker: str | None) -> int:
    """Return the role of a speaker who is named by it, as in "User"; 0 for any other speaker.

    >>> role_of_speaker("AI") == ASSISTANT, role_of_speaker("Ai"), role_of_speaker("Ann")
    (True, 0, 0)
    """
    return 0 if speaker is None else _SPEAKERS.get(speaker, 0)


# Which operation was it, who did it, and why? The part that all log records have.
@dataclass(frozen=True, slots=True)
class Act:
    """A kind of operation, who did it (``by``), and the reason (``why``), as the caller gave them.

    >>> Act("archive", "ben", None).note
    {'by': 'ben'}
    """

    kind: str
    by: str | None = None
    why: str | None = None

    @property
    def note(self) -> dict[str, str]:
        """The fields for the record's payload."""
        return note(self.by, self.why)


def note(by: str | None, why: str | None) -> dict[str, str]:
    """Return the fields ``by`` and ``why`` of a record, without those that are None."""
    said = {"by": by, "why": why}
    return {name: value for name, value in said.items() if value is not None}


RETAIN = Act("retain")


LEVELS = (None, "web", "tool", "assistant", "user")
"""A level's index is its number in the column; 0 if the source is unknown."""
FULL = len(LEVELS) - 1
MAX_SOURCE = 64
"""Characters of a source."""

Stamp = tuple[str | None, int]
"""A source, and the number of its level; (None, 0) for an unknown source."""
UNKNOWN: Stamp = (None, 0)

_NAMED = {name: number for number, name in enumerate(LEVELS) if name is not None}
_SOURCE = re.compile(r"[a-z0-9][a-z0-9_.:/-]*")


def trust_number(name: object, what: str = "trust") -> int:
    """Return the number of a level; ``what`` names the argument in an error.

    >>> trust_number("user") == FULL
    True
    """
    if not isinstance(name, str) or name not in _NAMED:
        raise InputError(f"{what} must be one of {', '.join(_NAMED)}, got {name!r}")
    return _NAMED[name]


def own_trust(source: str | None) -> int:
    """Return the number of a source's level if none was given; an own word has the lowest.

    >>> LEVELS[own_trust("tool")], LEVELS[own_trust("crm")], own_trust(None)
    ('tool', 'web', 0)
    """
    return 0 if source is None else _NAMED.get(source, 1)


def stamp(source: object, trust: object = None) -> Stamp:
    """Return the stamp that a caller gives, checked.

    ``trust``: a level's name, for a source of the caller's own, or to trust one of the four less.

    >>> stamp("crm", "tool")
    ('crm', 2)
    """
    if source is None:
        if trust is not None:
            raise InputError(f"trust {trust!r} needs a source: give one too")
        return UNKNOWN
    if not isinstance(source, str) or not (len(source) <= MAX_SOURCE and _SOURCE.fullmatch(source)):
        raise InputError(
            f"source must be a word of up to {MAX_SOURCE} small letters, digits and _.:/-, "
            f"such as {', '.join(_NAMED)} or your own, got {source!r:.80}"
        )
    own = own_trust(source)
    if trust is None:
        return source, own
    level = trust_number(trust)
    if source in _NAMED and level > own:
        raise InputError(f"the source {source!r} has at most the trust {source!r}, got {trust!r}")
    return source, level


@dataclass(frozen=True, slots=True)
class TurnStamps:
    """The stamps of the turns of one call: one for all, or one for each role's number."""

    whole: Stamp = UNKNOWN
    by_role: Mapping[int, Stamp] | None = None

    @classmethod
    def read(cls, source: object, trust: object = None) -> "TurnStamps":
        """Return the stamps that a caller gives: a source and trust, or a dict of role -> source.

        >>> TurnStamps.read({"human": "user"}).of(role_number("user"))
        ('user', 4)
        """
        if not isinstance(source, Mapping):
            return cls(stamp(source, trust))
        if trust is not None:
            raise InputError("trust goes with one source for all turns, got a dict of sources")
        return cls(by_role={role_number(role): stamp(each) for role, each in source.items()})

    def of(self, role: int) -> Stamp:
        """Return the stamp of a turn; ``role``: the number of the role that it names, or 0."""
        return self.whole if self.by_role is None else self.by_role.get(role, UNKNOWN)


def check_stamp(source: str | None, level: int) -> None:
    """Raise `InputError` unless these are a stamp."""
    if type(level) is not int or not 0 <= level <= FULL:
        raise InputError(f"trust must be a number from 0 to {FULL}, got {level!r}")
    if source is None and not level:
        return
    if stamp(source, LEVELS[level]) != (source, level):
        raise InputError(f"the source {source!r} has a level of trust, got 0")


def least(stamps: Iterable[Stamp]) -> Stamp:
    """Return the stamp with the least trust, the first of equals; `UNKNOWN` if there is none.

    >>> least([("user", 4), ("web", 1), ("crm", 1)])
    ('web', 1)
    """
    return min(stamps, key=lambda each: each[1], default=UNKNOWN)


def mark(source: str | None, trust: str | None) -> str:
    """Return what a prompt says of a memory below full trust; empty at full trust.

    >>> mark("web", "web"), mark("crm", "tool"), mark("user", "user"), mark(None, None)
    ('source: web', 'source: crm, trusted as tool', '', 'source: unknown')
    """
    if source is None:
        return "source: unknown"
    if trust == LEVELS[FULL]:
        return ""
    return f"source: {source}" + ("" if trust == source else f", trusted as {trust}")
