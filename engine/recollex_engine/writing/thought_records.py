"""What do the operations `think` and `form` say in the log? Their memories by number."""

from collections.abc import Callable
from typing import Any

from recollex_engine.domain.memory_operations import Form, Think
from recollex_engine.errors import InputError, UnknownIdError
from recollex_engine.state.columns import Columns


def think_record(columns: Columns, operation: Think, agent: str) -> dict[str, Any]:
    """Return the payload of a thought. Raises `UnknownIdError` for a memory that was erased."""
    keys = [columns.dictionary["ids"].get(id) for id in operation.shown]
    if None in keys:
        raise UnknownIdError(operation.shown[keys.index(None)], agent)
    shown = [columns.newest_of(key) for key in keys if key is not None]
    said = {name: value for name, value in vars(operation).items() if value is not None}
    return said | {"shown": shown}


def form_record(columns: Columns, operation: Form, memory: Callable[[str], int]) -> dict[str, Any]:
    """Return the payload of what was formed; ``memory``: the number of one of the transaction.

    Raises `InputError` if a memory that the model was shown was erased meanwhile.
    """
    closed_by = columns.array("closed_by")
    op = columns.array("op")
    if any(closed_by[each] == op[each] for each in operation.shown):
        raise InputError(
            f"a memory that the thought {operation.thought!r} rests on was erased meanwhile: "
            "no opinion is formed from it"
        )
    said = {name: value for name, value in vars(operation).items() if value and name != "shown"}
    if operation.opinions:
        said["opinions"] = list(map(memory, operation.opinions))
    return said
