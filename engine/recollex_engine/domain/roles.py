"""Which role has a turn's speaker: the user, the assistant, the system or a tool?

Chat APIs give each message a role. It is kept as a number beside the speaker, because a question
in the first person ("Where do I live?") asks about the user's turns, and one in the second person
("What did you suggest?") about the assistant's.
"""

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
