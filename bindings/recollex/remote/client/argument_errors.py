"""Raises the embedded API's error for an argument that cannot be sent.

A set, an object or a number beyond 64 bits cannot reach the server, which would say what is wrong.
So the method of the embedded API is called here, on an agent that does nothing: a method checks its
arguments before it does anything else.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NoReturn, cast

from recollex.api.agent import Agent
from recollex.remote.client.channel import UnsendableError
from recollex.remote.wire.methods import METHODS
from recollex_engine.agents import agent as engine
from recollex_engine.agents.folder_names import MAX_AGENT
from recollex_engine.clock import system_clock
from recollex_engine.domain.checks import check_text
from recollex_engine.errors import ProtocolError, ReadOnlyError, RecollexError


class _NotThere:
    """Stands in for the engine of an agent; every method raises ``error``."""

    def __init__(self, name: str, error: RecollexError) -> None:
        self.name = name
        self.clock = system_clock
        self._error = error

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        def raise_refusal(*args: Any, **options: Any) -> NoReturn:
            raise self._error

        return raise_refusal


def raise_refusal(
    method: str,
    agent: str | None,
    named: Mapping[str, Any],
    error: UnsendableError | ProtocolError,
) -> NoReturn:
    """Raise the embedded API's error for these arguments, or ``error`` if it accepts them."""
    said = error.__cause__ if isinstance(error, UnsendableError) else error
    assert isinstance(said, RecollexError)
    if agent is not None:
        check_text(agent, "agent_id", MAX_AGENT)
    if agent is not None and method in METHODS and method != "transact":
        here = Agent(cast(engine.Agent, _NotThere(agent, said)))
        METHODS[method].bound(here)(**named)
    raise said


def raise_read_only(agent: str | None, at: datetime) -> NoReturn:
    """Raise the error of a write to a cut."""
    raise ReadOnlyError(
        f"this is agent {agent!r} as of {at}, and the past cannot be changed: write to the agent "
        "itself"
    )
