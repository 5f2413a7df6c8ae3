"""How busy is a server? What is counted at one moment."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Status:
    """What a service is doing now. waiting: calls that no worker has taken; running: those in work.

    keys: answers to keyed writes that are remembered.
    """

    waiting: int
    running: int
    open_agents: int
    keys: int
    stopping: bool
