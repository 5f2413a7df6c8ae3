"""Admission checks: is the call well formed, and may its principal make it?"""

from recollex.api.joint_recalls import agent_ids
from recollex.remote.server.calls import Call
from recollex.remote.wire.methods import JOINT
from recollex_engine.errors import InputError

_LISTS = frozenset({"operations", "queries", "text", "texts", "turns"})
"""Arguments whose work grows with the number of their items."""


def check_call(call: Call, agent: object, max_items: int) -> None:
    """Raise `InputError` or `ForbiddenError` unless a call may be made.

    agent: as the client named it. max_items: of one list in a call.
    """
    method = call.method
    if method.store:
        if agent is not None:
            raise InputError(f"{method.name} is of the store: it names no agent")
        call.principal.check(method.scope, None)
        if method.name == JOINT and "agents" in call.arguments:
            for each in agent_ids(call.arguments["agents"]):
                call.principal.check(method.scope, each)
    else:
        if not isinstance(agent, str):
            raise InputError(f"{method.name} needs an agent's id, got {type(agent).__name__}")
        call.principal.check(method.scope, agent)
    if call.options.at is not None and not method.cut:
        raise InputError(f"{method.name} cannot be asked of the past: leave out at")
    method.check(call.arguments)
    for name in _LISTS.intersection(call.arguments):
        value = call.arguments[name]
        if isinstance(value, list) and len(value) > max_items:
            raise InputError(
                f"{name} may have up to {max_items:,} items in one call, got "
                f"{len(value):,}: send them in several"
            )
