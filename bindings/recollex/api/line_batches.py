"""Stores lines of JSON: those that one call can store, together."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from recollex.api.agent import Agent
from recollex.api.jsonl import Line
from recollex_engine.domain.statement import MAX_BATCH
from recollex_engine.errors import InputError

_ABSENT: dict[str, Any] = {"network": "world", "entities": (), "tags": (), "metadata": {}}


def batches(lines: Iterable[Line], size: int) -> Iterator[list[Line]]:
    """Group lines, in order, into batches of up to ``size`` that one call can store.

    Lines of one recorded time are one batch, whatever ``size``: the next one must be later.
    """
    for (_, shared), alike in groupby(lines, key=lambda line: (line.is_turn, line.shared)):
        most = MAX_BATCH if "recorded_at" in shared else size
        batch: list[Line] = []
        for line in alike:
            batch.append(line)
            if len(batch) == most:
                yield batch
                batch = []
        if batch:
            yield batch


def store_batch(agent: Agent, batch: list[Line], stamp: Mapping[str, Any]) -> int:
    """Store lines that `batches` put together in one call, and return how many.

    ``stamp``: the source and trust of all of them, where the lines have none.
    """
    fields, shared = [line.fields for line in batch], batch[0].shared
    try:
        if batch[0].is_turn:
            return len(agent.retain_dialogue(fields, **shared, **stamp))
        columns: dict[str, Any] = {
            name: [line.get(name, _ABSENT.get(name)) for line in fields]
            for name in sorted({name for line in fields for name in line})
        }
        return len(agent.retain_many(columns.pop("text"), **columns, **shared, **stamp))
    except InputError as error:
        raise InputError(f"lines {batch[0].number} to {batch[-1].number}: {error}") from error
