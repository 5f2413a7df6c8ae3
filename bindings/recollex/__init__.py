"""recollex: a memory engine for AI agents.

>>> import recollex, tempfile
>>> from datetime import UTC, datetime
>>> store = recollex.open(tempfile.mkdtemp())
>>> alice = store.agent("alice")
>>> ids = alice.retain("Alice joined Google in Mountain View.",
...                    event_at=datetime(2023, 11, 6, tzinfo=UTC))
>>> alice.recall("Where does Alice work?")[0].text
'Alice joined Google in Mountain View.'
>>> store.close()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollex.agent import Agent
    from recollex.client.store import connect
    from recollex.reembedding import reembed
    from recollex.replaying import replay
    from recollex.store import Store, open
    from recollex.transaction import Transaction
    from recollex_engine import errors
    from recollex_engine.closure import Closure
    from recollex_engine.difference import Difference
    from recollex_engine.entity_nodes import Entity
    from recollex_engine.episodes import Episode
    from recollex_engine.events import Event
    from recollex_engine.facts import Conflict, Fact, FactList
    from recollex_engine.literals import Mention, Source, Text
    from recollex_engine.logbook import LogEntry
    from recollex_engine.memory import Memory, Recall
    from recollex_engine.models.encoder import Encoder, load_encoder
    from recollex_engine.models.given import GivenVectors
    from recollex_engine.packing import Packing
    from recollex_engine.stats import Stats
    from recollex_engine.subgraph import Subgraph
    from recollex_engine.trace import Trace
    from recollex_engine.triggers import WritePolicy
    from recollex_engine.verification import Verification

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "Closure",
    "Conflict",
    "Difference",
    "Encoder",
    "Entity",
    "Episode",
    "Event",
    "Fact",
    "FactList",
    "GivenVectors",
    "LogEntry",
    "Memory",
    "Mention",
    "Packing",
    "Recall",
    "Source",
    "Stats",
    "Store",
    "Subgraph",
    "Text",
    "Trace",
    "Transaction",
    "Verification",
    "WritePolicy",
    "connect",
    "errors",
    "load_encoder",
    "open",
    "presets",
    "reembed",
    "replay",
]

_HOMES = {
    "Agent": "recollex.agent",
    "Closure": "recollex_engine.closure",
    "Conflict": "recollex_engine.facts",
    "Difference": "recollex_engine.difference",
    "Encoder": "recollex_engine.models.encoder",
    "Entity": "recollex_engine.entity_nodes",
    "Episode": "recollex_engine.episodes",
    "Event": "recollex_engine.events",
    "Fact": "recollex_engine.facts",
    "FactList": "recollex_engine.facts",
    "GivenVectors": "recollex_engine.models.given",
    "LogEntry": "recollex_engine.logbook",
    "Memory": "recollex_engine.memory",
    "Mention": "recollex_engine.literals",
    "Packing": "recollex_engine.packing",
    "Recall": "recollex_engine.memory",
    "Source": "recollex_engine.literals",
    "Stats": "recollex_engine.stats",
    "Store": "recollex.store",
    "Subgraph": "recollex_engine.subgraph",
    "Text": "recollex_engine.literals",
    "Trace": "recollex_engine.trace",
    "Transaction": "recollex.transaction",
    "Verification": "recollex_engine.verification",
    "WritePolicy": "recollex_engine.triggers",
    "connect": "recollex.client.store",
    "load_encoder": "recollex_engine.models.encoder",
    "open": "recollex.store",
    "reembed": "recollex.reembedding",
    "replay": "recollex.replaying",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: `import recollex` loads no kernel, no model."""
    if name == "errors":
        return import_module("recollex_engine.errors")
    if name == "presets":
        return import_module("recollex.presets")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'recollex' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
