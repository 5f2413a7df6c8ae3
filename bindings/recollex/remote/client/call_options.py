"""The options of a call: the recorded time that it reads at, and its timeout."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from recollex_engine.clock import Moment, from_micros, to_micros
from recollex_engine.errors import InputError

LONGEST = 365 * 24 * 3600.0
"""Seconds of a timeout, at most."""


@dataclass(frozen=True, slots=True)
class CallOptions:
    """The options of every call of one agent object.

    at: the recorded time that calls read at, None for the present. seconds: the timeout of a
    call, None for the server's own. sent_options: the options as they are sent.
    """

    at: datetime | None = None
    seconds: float | None = None
    sent_options: dict[str, Any] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.seconds is not None:
            check_seconds(self.seconds, "seconds")
        object.__setattr__(self, "sent_options", {} if self.at is None else {"at": self.at})

    @property
    def as_of(self) -> str:
        """The time at which calls see the agent, in words; the empty string for the present."""
        return "" if self.at is None else f" as of {self.at}"

    def at_time(self, as_recorded: Moment) -> "CallOptions":
        """Return the same options as of another time."""
        return replace(self, at=from_micros(to_micros(as_recorded, "as_recorded")))

    def within(self, seconds: float) -> "CallOptions":
        """Return the same options with another timeout."""
        return replace(self, seconds=seconds)


def check_seconds(value: object, name: str) -> None:
    """Raise `InputError` unless ``value`` is a number of seconds in (0, `LONGEST`]."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LONGEST:
        raise InputError(f"{name} must be a number above 0, up to {LONGEST:,.0f}, got {value!r}")
