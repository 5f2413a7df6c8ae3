"""Which dataclasses travel, and how? Under their names, as maps of their fields.

There is one frozen table: a name in a message is never looked up elsewhere. A class is imported
when the first of its values is sent or received.
"""

import importlib
import types
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, Union, get_args, get_origin, get_type_hints

from recollex_engine.errors import ProtocolError, RecollexError

ARGUMENTS: Mapping[str, str] = types.MappingProxyType(
    {
        "Mention": "recollex_engine.domain.literals",
        "Source": "recollex_engine.domain.literals",
        "Text": "recollex_engine.domain.literals",
        "Packing": "recollex_engine.domain.question",
        "WritePolicy": "recollex_mind.talks.write_policy",
        "Statement": "recollex_engine.domain.statement",
        "Retain": "recollex_engine.domain.memory_operations",
        "Forget": "recollex_engine.domain.memory_operations",
        "Archive": "recollex_engine.domain.memory_operations",
        "Correct": "recollex_engine.domain.memory_operations",
        "UpsertEntity": "recollex_engine.domain.operations",
        "MergeEntity": "recollex_engine.domain.operations",
        "SplitEntity": "recollex_engine.domain.operations",
        "UpsertEdge": "recollex_engine.domain.operations",
        "ArchiveEdge": "recollex_engine.domain.operations",
        "RetroCorrect": "recollex_engine.domain.operations",
        "UpsertEvent": "recollex_engine.domain.operations",
        "Link": "recollex_engine.domain.operations",
        "UpsertEpisode": "recollex_engine.domain.operations",
        "Undo": "recollex_engine.domain.operations",
        "Recall": "recollex_engine.recall.recall",
        "Memory": "recollex_engine.recall.memory",
        "Retention": "recollex_engine.domain.removal",
        "Closure": "recollex_engine.recall.closure",
        "Predecessor": "recollex_engine.recall.closure",
        "Signs": "recollex_engine.ranking.confidence",
        "Trace": "recollex_engine.trace",
        "LogHead": "recollex_engine.agents.log_head",
    }
)
"""Name -> module of the classes that a client may send; a recall is for `Sessions.backfill`."""

RESULTS: Mapping[str, str] = types.MappingProxyType(
    {
        "Closure": "recollex_engine.recall.closure",
        "Predecessor": "recollex_engine.recall.closure",
        "Memory": "recollex_engine.recall.memory",
        "Recall": "recollex_engine.recall.recall",
        "Signs": "recollex_engine.ranking.confidence",
        "Trace": "recollex_engine.trace",
        "Accesses": "recollex_engine.state.accesses",
        "Subgraph": "recollex_engine.recall.subgraph",
        "Hit": "recollex_engine.facts.hits",
        "Beside": "recollex_engine.recall.beside",
        "Fact": "recollex_engine.facts.facts",
        "FactList": "recollex_engine.facts.facts",
        "Conflict": "recollex_engine.facts.facts",
        "DocumentNode": "recollex_engine.facts.provenance",
        "MentionNode": "recollex_engine.facts.provenance",
        "Entity": "recollex_engine.facts.entities",
        "EntityMatch": "recollex_mind.entity_resolution",
        "Event": "recollex_engine.facts.events",
        "EventLink": "recollex_engine.facts.events",
        "Participant": "recollex_engine.facts.events",
        "Episode": "recollex_engine.facts.events",
        "Difference": "recollex_engine.agents.logbook",
        "LogEntry": "recollex_engine.agents.logbook",
        "LogHead": "recollex_engine.agents.log_head",
        "Erasure": "recollex_engine.domain.removal",
        "Expiry": "recollex_engine.domain.removal",
        "Consolidation": "recollex_mind.talks.consolidation",
        "ObservationMade": "recollex_mind.talks.consolidation",
        "EpisodeMade": "recollex_mind.talks.consolidation",
        "Duplicate": "recollex_mind.talks.consolidation",
        "Retention": "recollex_engine.domain.removal",
        "Stats": "recollex_engine.agents.stats",
        "JointRecall": "recollex_engine.recall.joint_recall",
        "AgentSummary": "recollex_engine.agents.summary",
        "Verification": "recollex_engine.agents.verification",
        "HeardTurn": "recollex.api.sessions",
        "Mention": "recollex_engine.domain.literals",
        "Profile": "recollex_mind.profile",
        "Opinion": "recollex_mind.opinions",
        "Extraction": "recollex_mind.jobs",
        "Job": "recollex_mind.jobs",
        "Thought": "recollex_mind.thought",
        "Citation": "recollex_mind.thought",
        "Violation": "recollex_mind.thought",
        "Contexts": "recollex_mind.episodic.contexts",
        "Investigation": "recollex_mind.episodic.investigation",
        "ToolCall": "recollex_mind.episodic.investigation",
    }
)
"""Name -> module of the classes that a server sends."""

ALL: Mapping[str, str] = types.MappingProxyType({**ARGUMENTS, **RESULTS})

SPECIAL: Mapping[str, str] = types.MappingProxyType(
    dict.fromkeys(("Recall", "Fact", "FactList", "Event"), "recollex.remote.wire.received")
)
"""Records that read the store that made them; `remote.wire.received` encodes and decodes them."""

Restorer = Callable[[Any], Any]


class WireRecord:
    """How one class travels: `fields_of` gives its fields, `build` an object of received fields."""

    def __init__(self, name: str) -> None:
        cls: Any = getattr(importlib.import_module(ALL[name]), name)
        self.name = name
        self._class = cls
        self._names = tuple(field.name for field in fields(cls) if field.init)
        self._known = frozenset(self._names)
        self._values = attrgetter(*self._names) if self._names[1:] else self._only
        hints = get_type_hints(cls)
        self._restorers = {
            name: restorer for name in self._names if (restorer := restorer_of(hints[name]))
        }

    def fields_of(self, value: Any) -> dict[str, Any]:
        """Return the fields of an object of the class."""
        return dict(zip(self._names, self._values(value)))  # noqa: B905 - strict costs 0.2 us

    def _only(self, value: Any) -> tuple[Any, ...]:
        return tuple(getattr(value, name) for name in self._names)

    def build(self, values: dict[str, Any]) -> Any:
        """Return the object of received fields; fields that this version does not know are ignored.

        Raises the error of the class for values that it does not accept.
        """
        given = values
        if values.keys() != self._known:
            given = {name: values[name] for name in self._names if name in values}
        for name, restore in self._restorers.items():
            value = given.get(name)
            if type(value) is list or type(value) is dict:
                given[name] = restore(value)
        return self._class(**given)


@cache
def record(name: str) -> Any:
    """Return the `WireRecord`, or its like, for the class of that name, one of `ALL`."""
    if name in SPECIAL:
        return importlib.import_module(SPECIAL[name]).RECORDS[name]
    return WireRecord(name)


def name_of(given: type) -> str | None:
    """Return the name under which objects of a class travel; None if they are not records."""
    for kind in given.__mro__:
        if ALL.get(kind.__name__) == kind.__module__:
            return kind.__name__
    return None


def read_record(name: object, values: object, allowed: Mapping[str, str]) -> Any:
    """Return the object that was sent as a record.

    Raises `ProtocolError` for a name that is not allowed and for other fields, and the error of the
    class for values that it does not accept.
    """
    if not isinstance(name, str) or name not in allowed or not isinstance(values, dict):
        raise ProtocolError(f"a record must be one of {', '.join(allowed)}, got {str(name)[:80]!r}")
    try:
        return record(name).build(values)
    except RecollexError:
        raise
    except Exception as error:  # missing fields, or fields of another type
        raise ProtocolError(f"a {name} cannot be made of what was sent: {error!r:.200}") from None


def restorer_of(annotation: Any) -> Restorer | None:
    """Return a function that makes the tuples of an annotation again; None if it has no tuples.

    >>> restorer_of(tuple[tuple[str, int], ...])([["a", 1]])
    (('a', 1),)
    """
    origin = get_origin(annotation)
    arguments = get_args(annotation)
    if origin is tuple:
        restore = restorer_of(arguments[0]) if arguments[1:] == (Ellipsis,) else None
        return tuple if restore is None else lambda values: tuple(map(restore, values))
    if origin in (Union, types.UnionType):
        found = [each for each in map(restorer_of, arguments) if each]
        return found[0] if found else None
    if origin is Mapping and (each := restorer_of(arguments[1])) is not None:
        return lambda values: {name: each(value) for name, value in values.items()}
    return None
