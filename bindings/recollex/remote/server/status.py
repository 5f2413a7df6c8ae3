"""How busy a server is, at one moment."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """What a service is doing now.

    waiting: calls that no worker has taken. running: calls that a worker is doing. keys: remembered
    answers to keyed writes.
    """

    waiting: int
    running: int
    open_agents: int
    keys: int
    stopping: bool
