"""Which names are the engine's own?

Ids that begin with ``self:`` are those of an agent's profile, which stands in the system prompt of
its thoughts. `mind.profile` alone writes them: no memory, fact, event or episode of a caller has
such an id, and no general operation corrects or archives the fact that has it.

Nothing else is reserved, because nothing else is believed for its name. The engine marks what it
draws with these, and a caller may write the same, as an import does; trust comes from the stamp of
a call and from the memories that are cited, never from a mark::

    metadata    evidence, reasons, participants, relations, extraction, chunk, kind, profile,
                supersedes, made_by (`domain.schema`, `mind.opinions`, `mind.drawing`)
    network     opinion
    id          SESSION#NUMBER-DIGEST of a conversation's messages
    entity      self, the name of the agent in the facts about itself
"""

from recollex_engine.domain.checks import MAX_NAME, check_text
from recollex_engine.errors import InputError

PROFILE_IDS = "self:"
"""The start of the ids of an agent's profile."""


def is_reserved(id: str) -> bool:
    """Return whether an id is one of the engine's own."""
    return id.startswith(PROFILE_IDS)


def check_given_id(id: object, name: str = "id") -> None:
    """Raise `InputError` unless an id is a text that a caller may give."""
    check_text(id, name, MAX_NAME)
    assert isinstance(id, str)
    refuse_reserved(id, name)


def refuse_reserved(id: str, name: str = "id") -> None:
    """Raise `InputError` for an id of the engine's own."""
    if id.startswith(PROFILE_IDS):
        raise InputError(
            f"{name} may not begin with {PROFILE_IDS!r}, which is reserved for an agent's profile, "
            f"got {id!r:.80}: give another id; profile.set writes the profile"
        )
