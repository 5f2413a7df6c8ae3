"""What do the operations `think` and `form` say in the log? Their memories by number."""

from collections.abc import Callable
from typing import Any

from recollex_engine.domain.memory_operations import Form, Think
from recollex_engine.errors import UnknownIdError
from recollex_engine.state.columns import Columns


def think_record(columns: Columns, operation: Think, agent: str) -> dict[str, Any]:
    """Return the payload of a thought. Raises `UnknownIdError` for a memory that was erased."""
    keys = [columns.dictionary["ids"].get(id) for id in operation.shown]
    if None in keys:
        raise UnknownIdError(operation.shown[keys.index(None)], agent)
    shown = [columns.newest_of(key) for key in keys if key is not None]
    said = {name: value for name, value in vars(operation).items() if value is not None}
    return said | {"shown": shown}


def form_record(operation: Form, memory: Callable[[str], int]) -> dict[str, Any]:
    """Return the payload of what was formed; ``memory``: the number of one of the transaction."""
    said = {name: value for name, value in vars(operation).items() if value}
    if operation.opinions:
        said["opinions"] = list(map(memory, operation.opinions))
    return said
