"""Is an agent of this process? What reads all of an agent at once is not offered over a socket."""

from typing import Any

from recollex.api.agent import Agent
from recollex_engine.errors import InputError


def local_engine(agent: Agent) -> Any:
    """Return the engine's agent. Raises `InputError` for an agent of a client, or for no agent."""
    engine = getattr(agent, "engine", None)
    if engine is None:
        raise InputError(
            f"agent must be an agent of recollex.open, got {type(agent).__name__}: open the store "
            "with read_only=True beside its server"
        )
    return engine
