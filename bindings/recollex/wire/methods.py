"""What can be called from afar? Every method by its name on the wire, in one table.

A method of `recollex.Agent` has its own name ("recall"), one of `Agent.facts`, `events` and
`sessions` has two ("facts.history"). Servers and clients are driven by this table and take nothing
that is not in it.
"""

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from operator import attrgetter
from typing import Any, Literal, get_args

from recollex.api.arguments import noted
from recollex_engine.errors import InputError

Scope = Literal["read", "write"]

HOMES: Mapping[str, tuple[str, str]] = types.MappingProxyType(
    {
        "": ("recollex.api.agent", "Agent"),
        "facts": ("recollex.api.facts", "Facts"),
        "events": ("recollex.api.events", "Events"),
        "sessions": ("recollex.api.sessions", "Sessions"),
    }
)
"""Group -> module and class whose methods it holds; imported when a signature is asked for."""


@dataclass(frozen=True)
class Method:
    """One entry of the table.

    name: on the wire. scope: what a token must allow. cut: whether it may be asked of the past,
    with the option ``at``. parts: whether its result is a list, which may come in parts. pairs:
    whether the items of the list are tuples. new_ids: the argument whose absence makes the agent
    invent an id, so that a client that may have to repeat the call names one itself. store: whether
    it is of the store, and names no agent. grouped: whether it may share a flush with others: it
    writes one transaction, and looks at nothing that only readers see. brief: whether it costs less
    than handing it to another thread, if it is asked of the present.
    """

    name: str
    scope: Scope = "read"
    cut: bool = True
    parts: bool = False
    pairs: bool = False
    new_ids: str | None = None
    store: bool = False
    grouped: bool = False
    brief: bool = False

    @property
    def group(self) -> str:
        """The attribute of an agent that has the method; "" for the agent itself."""
        return self.name.rpartition(".")[0]

    @cached_property
    def apart(self) -> bool:
        """Whether another process may do it, which has opened the store for reading."""
        return self.scope == "read" and not self.store and self.name not in _OF_THE_OWNER

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The method as a function, for its signature and its documentation."""
        if self.name in _RENAMED:
            return _RENAMED[self.name]
        module, home = ("recollex.api.store", "Store") if self.store else HOMES[self.group]
        name = self.name.rpartition(".")[2]
        found: Callable[..., Any] = getattr(getattr(import_module(module), home), name)
        return found

    @cached_property
    def arguments(self) -> frozenset[str]:
        """The names of the arguments that it takes."""
        names = _arguments(self.function)
        if self.name in _OPTIONS_OF:
            names |= _arguments(METHODS[_OPTIONS_OF[self.name]].function)
        return frozenset(names - {"options"})

    @cached_property
    def needed(self) -> frozenset[str]:
        """The names of the arguments that it does not do without."""
        parameters = list(inspect.signature(self.function).parameters.values())[1:]
        return frozenset(
            each.name
            for each in parameters
            if each.default is each.empty and each.kind is not each.VAR_KEYWORD
        )

    def bound(self, of: Any) -> Callable[..., Any]:
        """Return the method of an agent, or of a store."""
        if self.name in _RENAMED:
            found: Callable[..., Any] = self.function.__get__(of)
            return found
        called: Callable[..., Any] = self._looked_up(of)
        return called

    @cached_property
    def _looked_up(self) -> Callable[[Any], Any]:
        return attrgetter(self.name)

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Raise `InputError` for arguments that it does not take, or without one that it needs."""
        if not arguments.keys() <= self.arguments:
            unknown = arguments.keys() - self.arguments
            raise InputError(
                f"{self.name} takes {', '.join(sorted(self.arguments)) or 'no arguments'}, got "
                f"{', '.join(sorted(map(str, unknown)))[:200]}"
            )
        if not arguments.keys() >= self.needed:
            missing = self.needed - arguments.keys()
            raise InputError(f"{self.name} needs {', '.join(sorted(missing))}")


def _transact(
    agent: Any,
    operations: list[Any],
    notes: list[Any],
    recorded_at: int | None = None,
    where: list[str] | None = None,
) -> int:
    """Record the operations of a transaction; for the block of `Agent.transaction`.

    operations: records of `recollex_engine.operations`. notes: for each who makes it and why.
    recorded_at: microseconds UTC. where: what each is called in an error. Returns how many records
    they made.
    """
    kinds = get_args(import_module("recollex_engine.domain.operations").Operation)
    if not isinstance(operations, list) or not all(isinstance(each, kinds) for each in operations):
        raise InputError("operations must be a list of records of operations")
    if not isinstance(notes, list) or len(notes) != len(operations):
        raise InputError("notes must have one map an operation")
    said = [noted(**{name: note.get(name) for name in ("by", "why")}) for note in notes]
    if where is not None and (
        not isinstance(where, list)
        or len(where) != len(operations)
        or not all(isinstance(each, str) for each in where)
    ):
        raise InputError("where must be nil or have one str an operation")
    if recorded_at is not None and type(recorded_at) is not int:
        raise InputError("recorded_at must be nil or microseconds")
    count: int = agent.engine.writable().transact(operations, said, recorded_at, where)
    return count


_RENAMED: Mapping[str, Callable[..., Any]] = types.MappingProxyType({"transact": _transact})
_OF_THE_OWNER = frozenset({"stats", "verify", "sessions.short_term", "sessions.working"})
"""Methods that tell of the process that has the store: of what it heard, and of its files."""
_OPTIONS_OF = {"recall_many": "recall", "sessions.recall": "recall"}
"""Methods that take another's arguments as ``options``."""


def _arguments(function: Callable[..., Any]) -> set[str]:
    return set(list(inspect.signature(function).parameters)[1:])


METHODS: Mapping[str, Method] = types.MappingProxyType(
    {
        method.name: method
        for method in (
            Method("agents", cut=False, store=True, parts=True),
            Method("retain", "write", cut=False, new_ids="id", grouped=True),
            Method("retain_dialogue", "write", cut=False, new_ids="turns"),
            Method("recall"),
            Method("recall_many", parts=True),
            Method("get", brief=True),
            Method("list", parts=True),
            Method("history", parts=True),
            Method("log", parts=True),
            Method("diff"),
            Method("stats"),
            Method("verify", cut=False),
            Method("checkpoint", "write", cut=False),
            Method("forget", "write", cut=False, grouped=True),
            Method("archive", "write", cut=False, grouped=True),
            Method("correct", "write", cut=False, grouped=True),
            Method("apply", "write", cut=False, grouped=True),
            Method("transact", "write", cut=False, grouped=True),
            Method("facts.get", brief=True),
            Method("facts.history", parts=True),
            Method("facts.find"),
            Method("facts.snapshot"),
            Method("facts.conflicts", parts=True, pairs=True),
            Method("facts.entity", brief=True),
            Method("facts.entities", parts=True),
            Method("facts.add", "write", cut=False, grouped=True),
            Method("facts.correct", "write", cut=False, grouped=True),
            Method("facts.archive", "write", cut=False, grouped=True),
            Method("facts.add_entity", "write", cut=False, grouped=True),
            Method("facts.merge", "write", cut=False, grouped=True),
            Method("events.get"),
            Method("events.find", parts=True),
            Method("events.get_episode"),
            Method("events.episodes", parts=True),
            Method("events.add", "write", cut=False, grouped=True),
            Method("events.link", "write", cut=False, grouped=True),
            Method("events.add_episode", "write", cut=False, grouped=True),
            Method("sessions.short_term", cut=False, parts=True),
            Method("sessions.working", cut=False, parts=True),
            Method("sessions.end", "write", cut=False),
            Method("sessions.recall", "write", cut=False),
            Method("sessions.backfill", "write", cut=False),
            Method("sessions.forget_expired", "write", cut=False),
        )
    }
)
"""Name on the wire -> method."""

LOCAL: Mapping[str, str] = types.MappingProxyType(
    {
        "at": "a client's object: every call of it has the option `at`",
        "transaction": "a client's object: what it gathered goes as `transact` when the block ends",
        "snapshot": "writes a folder where the server runs; run `recollex snapshot` there",
        "facts.view": "the engine's own object, which looks into the store",
        "sessions.write": "the engine's half of `retain_dialogue`, which is in the table",
        "agent": "a client's object: every call names its agent",
        "close_agent": "the server opens and closes agents by itself",
        "close": "ends the connection; the server's store is closed by the server",
    }
)
"""Public methods that are not called from afar, and why."""
