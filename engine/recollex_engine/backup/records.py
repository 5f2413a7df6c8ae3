"""Reads the records of agents, which are objects of a backup."""

from recollex_engine.backup.manifest import AgentEntry, AgentRecord
from recollex_engine.backup.objects import read_piece
from recollex_engine.backup.target import Target
from recollex_engine.errors import CorruptError


def read_record(target: Target, entry: AgentEntry) -> AgentRecord:
    """Return the record of an agent. Raises `CorruptError` if it is lost or damaged."""
    data = read_piece(target, entry.record)
    try:
        return AgentRecord.from_json(data)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        where = f"{target.place}/{entry.record.key}"
        raise CorruptError(where, "the record of an agent", repr(error)) from error
