"""Which statement would record a memory again?"""

from typing import Any

from recollex_engine.clock import OPEN_END
from recollex_engine.domain.fields import LABELS
from recollex_engine.domain.statement import Statement
from recollex_engine.state.columns import Columns
from recollex_engine.text.names import find_names


def recorded_statement(columns: Columns, memory: int, id: str) -> Statement:
    """Return the statement that would record a memory again."""
    valid_end = int(columns.array("valid_end")[memory])
    labels: dict[str, Any] = {field.key: columns.label_in(field.key, memory) for field in LABELS}
    return Statement(
        columns.text(memory),
        said_at=int(columns.array("said_at")[memory]),
        id=id,
        network=int(columns.array("network")[memory]),
        entities=_given_entities(columns, memory),
        tags=tuple(columns.tags(memory)),
        metadata=columns.metadata(memory),
        valid_until=None if valid_end == OPEN_END else valid_end,
        role=int(columns.array("role")[memory]),
        trust=int(columns.array("trust")[memory]),
        **labels,
    )


def _given_entities(columns: Columns, memory: int) -> tuple[str, ...]:
    """Return the entities of a memory that its text does not name."""
    first, end = columns.array("mention_offset")[memory : memory + 2].tolist()
    entities = columns.array("mention_entity")[first:end].tolist()
    speaker = columns.label_in("speaker", memory)
    found = {columns.entity(name, columns.op) for name in find_names(columns.text(memory), speaker)}
    return tuple(columns.entity_name(entity) for entity in entities if entity not in found)
