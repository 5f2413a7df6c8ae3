"""What may be retained? A statement: a text and what the caller says about it, checked."""

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from recollex_engine.clock import OPEN_END, named_zone
from recollex_engine.domain.checks import (
    MAX_NAME,
    MAX_TEXT,
    check_metadata,
    check_names,
    check_text,
)
from recollex_engine.domain.fields import TEXTS
from recollex_engine.domain.schema import NETWORKS
from recollex_engine.domain.trust import Stamp, check_stamp
from recollex_engine.errors import InputError
from recollex_engine.text.entity_types import EntityType, check_type
from recollex_engine.text.normal_form import normal_form

MAX_BATCH = 100_000
"""Memories in one call."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One memory to retain.

    said_at: microseconds UTC; None for the time of recording.
    valid_until: microseconds UTC at which it stops being true; None if it has no end.
    types: what entities are, as the caller says: pairs (one of ``entities``, its type).
    zone: in which days begin for who says it, an IANA name or an offset; None for UTC.
    role: the number of the speaker's role, see `roles`; 0 if unknown.
    source, trust: its stamp, see `trust`; the caller's, never the text's.
    """

    text: str
    _: KW_ONLY
    said_at: int | None = None
    id: str | None = None
    network: int = 0
    zone: str | None = None
    context: str | None = None
    document: str | None = None
    speaker: str | None = None
    entities: tuple[str, ...] = ()
    types: tuple[tuple[str, EntityType], ...] = ()
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    valid_until: int | None = None
    role: int = 0
    source: str | None = None
    trust: int = 0

    def __post_init__(self) -> None:
        self._normalise()
        check_text(self.text, "text", MAX_TEXT)
        if self.id is not None:
            check_text(self.id, "id", MAX_NAME)
        for each in TEXTS:
            if (value := getattr(self, each.key)) is not None:
                check_text(value, each.name, MAX_NAME)
        if self.zone is not None:
            named_zone(self.zone)
        for name in ("entities", "tags"):
            check_names(getattr(self, name), name)
        for name, kind in self.types:
            check_type(kind, f"the type of {name!r}")
            if name not in self.entities:
                raise InputError(f"entities must have {name!r}, whose type is given")
        if self.said_at is not None and not -OPEN_END < self.said_at < OPEN_END - 1:
            raise InputError(f"event_at is beyond the ends of time: {self.said_at} microseconds")
        if self.valid_until is not None and not -OPEN_END < self.valid_until < OPEN_END:
            raise InputError(
                f"valid_until is beyond the ends of time: {self.valid_until} microseconds"
            )
        check_metadata(self.metadata, "metadata")
        if self.source is not None or self.trust:
            check_stamp(self.source, self.trust)

    def _normalise(self) -> None:
        """Bring all texts into one spelling of Unicode, NFC; what is no text is refused later."""
        for name in ("text", "id", *(each.key for each in TEXTS)):
            value = getattr(self, name)
            if isinstance(value, str) and not value.isascii():
                object.__setattr__(self, name, normal_form(value))
        for name in ("tags", "entities"):
            values = getattr(self, name)
            if values and isinstance(values, tuple):
                said = (normal_form(each) if isinstance(each, str) else each for each in values)
                object.__setattr__(self, name, tuple(said))
        if self.types:
            types = ((normal_form(name), kind) for name, kind in self.types)
            object.__setattr__(self, "types", tuple(types))

    @property
    def stamp(self) -> Stamp:
        """Where it comes from, and how far that is trusted."""
        return self.source, self.trust


def network_number(name: object) -> int:
    """Return the number of a network.

    >>> network_number("agent")
    1
    """
    if not isinstance(name, str) or name not in NETWORKS:
        raise InputError(f"network must be one of {', '.join(NETWORKS)}, got {name!r}")
    return NETWORKS.index(name)
