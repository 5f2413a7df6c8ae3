"""What of a turn with sensitive parts may be kept? Its statement, masked, for a limited time."""

from dataclasses import replace

from recollex_engine.clock import MICROSECOND
from recollex_engine.domain.statement import Statement
from recollex_mind.talks.sensitive_slots import find_slots, masked
from recollex_mind.talks.write_policy import WritePolicy


def guard(statement: Statement, policy: WritePolicy, now: int) -> Statement | None:
    """Return a turn with its sensitive slots handled, None for a turn that must be ignored.

    A turn that is kept for a limited time has a ``valid_until``, and the kinds of its slots are in
    its metadata under ``write_sensitive``.
    """
    slots = find_slots(statement.text)
    if not slots:
        return statement
    handling = {slot: policy.handling(slot.kind) for slot in slots}
    if "drop" in handling.values():
        return None
    hidden = [slot for slot in slots if handling[slot] == "mask"]
    guarded = replace(statement, text=masked(statement.text, hidden))
    kinds = sorted({slot.kind for slot in slots if handling[slot] == "expire"})
    if not kinds:
        return guarded
    said = now if statement.said_at is None else statement.said_at
    end = said + policy.sensitive_for // MICROSECOND
    if statement.valid_until is not None:
        end = min(end, statement.valid_until)
    return replace(
        guarded, valid_until=end, metadata=statement.metadata | {"write_sensitive": kinds}
    )
