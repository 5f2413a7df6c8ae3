"""Which methods can a client call? All that are in one table, by their names in the protocol.

A method of `recollex.Agent` has its own name ("recall"); a method of a group, such as
`Agent.facts`, has the group's name before it ("facts.history"). Servers and clients accept
no other methods. The rows are those of `recollex.api.methods`, and four more.
"""

import types
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, get_args

from recollex.api.arguments import checked_note
from recollex.api.methods import AGENT, EVENTS, FACTS, JOBS, OPINIONS, PROFILE, SESSIONS, TOOLS
from recollex.api.proxies import Method
from recollex.api.store import Store
from recollex_engine.domain.operations import Operation
from recollex_engine.errors import InputError


class _Transact(Method[..., int]):
    """The row of `transact`, which is a function of this module and no method of an agent."""

    def bound(self, of: Any) -> Callable[..., Any]:
        """Return the function for one agent."""
        return partial(self.function, of)


def transact(
    agent: Any,
    operations: list[Any],
    notes: list[Any],
    recorded_at: int | None = None,
    where: list[str] | None = None,
) -> int:
    """Record the operations of a transaction, when the block of `Agent.transaction` ends.

    operations: records of `recollex_engine.domain.operations`. notes: who makes each operation and
    why. recorded_at: microseconds UTC. where: the name of each operation in errors. Returns the
    number of log records that they made.
    """
    kinds = get_args(Operation)
    if not isinstance(operations, list) or not all(isinstance(each, kinds) for each in operations):
        raise InputError("operations must be a list of records of operations")
    if not isinstance(notes, list) or len(notes) != len(operations):
        raise InputError("notes must have one map an operation")
    said = [checked_note(**{name: note.get(name) for name in ("by", "why")}) for note in notes]
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


def delete_agent(agent: Any) -> None:
    """Delete the agent with all that it holds; see `recollex.Store.delete_agent`."""


def unknown(of: object) -> None:
    """Do nothing: a call of a method that is not in the table is refused before it is done."""


UNKNOWN = Method(unknown)
"""The row of every such method, for the metrics."""

JOINT = "store.recall"
"""The name of `Store.recall` in the protocol."""


class _Joint(Method[..., Any]):
    """The row of `Store.recall`, whose own name is that of `Agent.recall`."""

    def __init__(self) -> None:
        super().__init__(Store.recall, cut=False, store=True)
        self.name = JOINT


_OF_AGENTS: tuple[Method[..., Any], ...] = (
    Method(Store.agents, cut=False, chunks=True, store=True),
    _Joint(),
    Method(delete_agent, "write", deletes=True),
)

METHODS: Mapping[str, Method[..., Any]] = types.MappingProxyType(
    {
        method.name: method
        for method in (
            *_OF_AGENTS,
            *AGENT.values(),
            _Transact(transact, "write", grouped=True),
            *FACTS.values(),
            *EVENTS.values(),
            *SESSIONS.values(),
            *PROFILE.values(),
            *OPINIONS.values(),
            *JOBS.values(),
            *TOOLS.values(),
        )
    }
)
"""Name in the protocol -> method."""


def find_method(name: object) -> Method[..., Any] | None:
    """Return the method of that name in the protocol, None if there is none; a row as it is."""
    if isinstance(name, Method):
        return name
    return METHODS.get(name) if isinstance(name, str) else None


LOCAL: Mapping[str, str] = types.MappingProxyType(
    {
        "at": "a client's object: every call of it has the option `at`",
        "conversation": "a client's object: its steps call `recall` and `retain_dialogue`",
        "transaction": "a client's object: what it gathered goes as `transact` when the block ends",
        "snapshot": "writes a folder where the server runs; run `recollex snapshot` there",
        "backup": "writes where the server runs; run `recollex backup` there, while it serves",
        "facts.view": "the engine's own object, which looks into the store",
        "sessions.write": "the engine's half of `retain_dialogue`, which is in the table",
        "agent": "a client's object: every call names its agent",
        "close_agent": "the server opens and closes agents by itself",
        "close": "ends the connection; the server's store is closed by the server",
    }
)
"""Public method that a client cannot call -> the reason."""
