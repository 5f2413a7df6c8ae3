"""Who is an agent? Its profile: the Big Five, how much they sway it, and its background (Memora 4).

A profile consists of facts that an agent holds about itself, so it has a history, and a cut shows
the profile of its time. The subject is `SELF`; a trait is a number under its own name; the
background is a text, or False once it was removed. An agent without such facts has 0.5 for every
trait and no background: reading a profile records nothing, so that readers and cuts can.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollex_engine.clock import from_micros
from recollex_engine.domain.checks import PROFILE_IDS, check_number, check_text
from recollex_engine.domain.literals import Text
from recollex_engine.domain.operations import UpsertEdge
from recollex_engine.errors import InputError
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.facts import read_fact

SELF = "self"
"""The name of the agent in the facts about itself."""
BACKGROUND = "background"
MAX_BACKGROUND = 500
"""The most characters of a background (Memora 4.4)."""
TRAITS = ("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism")
NUMBERS = (*TRAITS, "bias_strength")
UNSAID = 0.5
"""A trait that was not set."""

_WORDS = (
    "openness to new ideas",
    "conscientiousness and organization",
    "extraversion and sociability",
    "agreeableness and cooperation",
    "emotional sensitivity",
)
"""What each trait is called in a prompt, as Memora 4.3 prints them."""
_DEGREES = ((0.8, "very high"), (0.6, "high"), (0.4, "moderate"), (0.2, "low"), (0.0, "very low"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Who an agent is, as one view shows it.

    The traits and ``bias_strength`` lie in [0, 1]. background: in the first person. created_at: of
    the agent, None for one that holds nothing; updated_at: when a part of the profile last changed,
    ``created_at`` if nothing was ever set.
    """

    agent_id: str
    openness: float = UNSAID
    conscientiousness: float = UNSAID
    extraversion: float = UNSAID
    agreeableness: float = UNSAID
    neuroticism: float = UNSAID
    bias_strength: float = UNSAID
    background: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def personality(self) -> dict[str, float]:
        """The traits and the bias strength, by name."""
        return {name: getattr(self, name) for name in NUMBERS}

    @property
    def traits(self) -> list[str]:
        """The traits in words, as Memora 4.3 has them in its prompt.

        >>> Profile(agent_id="ada", openness=0.8, neuroticism=0.4).traits[::4]
        ['very high openness to new ideas', 'moderate emotional sensitivity']
        """
        return [
            f"{next(words for least, words in _DEGREES if getattr(self, name) >= least)} {called}"
            for name, called in zip(TRAITS, _WORDS, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the profile as JSON values, in the form of Memora 6.2."""
        return {
            "agent_id": self.agent_id,
            "personality": self.personality,
            "background": self.background,
            "created_at": self.created_at.isoformat() if self.created_at else None,
            "updated_at": self.updated_at.isoformat() if self.updated_at else None,
        }


def read_profile(agent: str, view: FactView) -> Profile:
    """Return the profile that an agent's facts about itself describe. Cost: 50 us."""
    said: dict[str, Any] = {}
    updated: datetime | None = None
    for name in (*NUMBERS, BACKGROUND):
        version = view.version(_id(name))
        if version is None or not view.is_visible(version):
            continue
        fact = read_fact(view, version)
        if _is_part(name, fact.object):  # else it was removed
            said[name] = fact.object
        updated = fact.recorded[0] if updated is None else max(updated, fact.recorded[0])
    began = from_micros(int(view.data("op_recorded_at")[0])) if view.op else None
    return Profile(agent_id=agent, **said, created_at=began, updated_at=updated or began)


def profile_changes(personality: Mapping[str, Any], background: object) -> list[UpsertEdge]:
    """Return the operations that record parts of a profile; one that is None stays as it is.

    A blank background removes it. Raises `InputError`.
    """
    said: dict[str, Any] = {}
    for name, value in personality.items():
        if value is not None:
            check_number(value, name, 0, 1)
            said[name] = float(value)
    if background is not None:
        said[BACKGROUND] = _checked_background(background)
    return [_own_fact(name, value) for name, value in said.items()]


def _own_fact(name: str, value: Any) -> UpsertEdge:
    """Return the operation that records a part; its id is one that no caller can give."""
    edge = UpsertEdge(SELF, name, value)
    edge.id = edge.given_id = _id(name)
    return edge


def _is_part(name: str, value: object) -> bool:
    """Return whether a value is one that `profile_changes` records for a part, and not removed."""
    if name == BACKGROUND:
        return isinstance(value, str) and len(value) <= MAX_BACKGROUND
    return isinstance(value, float | int) and not isinstance(value, bool) and 0 <= value <= 1


def _checked_background(given: object) -> Text | bool:
    if not isinstance(given, str):
        raise InputError(f"background must be a str, got {type(given).__name__}")
    if not given.strip():
        return False
    check_text(given, BACKGROUND, MAX_BACKGROUND)
    return Text(given.strip())


def _id(name: str) -> str:
    return PROFILE_IDS + name
