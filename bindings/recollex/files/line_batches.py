"""Stores lines of JSON: those that an agent admits, as many together as one call can store."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

from recollex.api.agent import Agent
from recollex.files.jsonl import Line
from recollex_engine.agents.logbook import GONE, GoneIds
from recollex_engine.agents.stats import Stats
from recollex_engine.clock import DRIFT, system_clock, to_micros
from recollex_engine.domain.statement import MAX_BATCH
from recollex_engine.errors import InputError, UnknownIdError

GONE_HERE = "forgotten, archived or erased here"
AHEAD = "recorded time beyond the clock, kept as metadata"
_ABSENT: dict[str, Any] = {"network": "world", "entities": (), "tags": (), "metadata": {}}


def is_gone(agent: Agent, gone: GoneIds, id: str) -> bool:
    """Return whether an id was forgotten, archived or erased, and was not retained again."""
    if id not in gone:
        return False
    try:
        return agent.get(id).closed is not None
    except UnknownIdError:
        return True


def admitted(agent: Agent, lines: Iterable[Line], left_out: Counter[str]) -> Iterator[Line]:
    """Yield the lines that an agent takes; what was done to the others is counted in ``left_out``.

    A line whose id was forgotten, archived or erased is left out: only a `retain` of the caller
    brings it back. A line whose recorded time the clock has not reached has it as metadata, and is
    recorded now; so it comes last, and is held in memory until then.
    """
    engine = getattr(agent, "engine", None)  # an agent of a client has none
    clock = system_clock if engine is None else engine.clock
    gone: GoneIds | None = None
    held: list[Line] = []
    for line in lines:
        if (id := line.fields.get("id")) is not None:
            if gone is None:
                gone = GoneIds(agent.log(op=GONE))
            if is_gone(agent, gone, id):
                left_out[GONE_HERE] += 1
                continue
        at = line.shared.get("recorded_at")
        if at is not None and to_micros(at, "recorded_at") > clock() + DRIFT:
            left_out[AHEAD] += 1
            shared = {name: each for name, each in line.shared.items() if name != "recorded_at"}
            metadata = {"recorded_at": at.isoformat()} | line.fields.get("metadata", {})
            held.append(replace(line, fields=line.fields | {"metadata": metadata}, shared=shared))
            continue
        yield line
    yield from held


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


def versions_of(stats: Stats) -> int:
    """Return how many versions of memories an agent has recorded."""
    return stats.memories + stats.forgotten + stats.archived


def store_batch(agent: Agent, batch: list[Line], stamp: Mapping[str, Any]) -> int:
    """Store lines that `batches` put together in one call, and return how many.

    ``stamp``: the source and trust of all of them, where the lines have none.
    """
    fields = [line.fields for line in batch]
    shared = batch[0].shared
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
