"""Retains what another program wrote: memories, talks and tables, of any format that is known."""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from itertools import islice
from typing import Any

from recollex.api.agent import Agent
from recollex.api.foreign_files import errors_of
from recollex.api.plurals import counted
from recollex.api.progress import progress_bar, reporting_to
from recollex.files.imports.opening import File, SourceFile, open_source
from recollex.files.imports.reading import FileReading
from recollex.files.jsonl import Line
from recollex.files.line_batches import (
    GONE_HERE,
    admitted,
    batches,
    is_gone,
    store_batch,
    versions_of,
)
from recollex_engine.agents.logbook import GONE, GoneIds
from recollex_engine.domain.checks import check_count, check_flag
from recollex_engine.domain.memory_operations import Retain
from recollex_engine.domain.operations import Operation, UpsertEdge, UpsertEvent
from recollex_engine.domain.statement import MAX_BATCH
from recollex_engine.domain.trust import Stamp
from recollex_engine.domain.trust import stamp as trust_stamp
from recollex_engine.errors import InputError
from recollex_engine.facts.fact_view import FactView

LINES = 128
"""Memories and turns that are retained together, where a caller does not say."""
TALKS = 64
"""Talks whose facts are read between two steps of the progress bar."""
EPISODES = 2_000
"""Entries with facts that are recorded together, where a caller does not say."""


@dataclass(slots=True)
class Ingestion:
    """What `recollex.ingest` did.

    format: of the file. read: memories and turns in it, or its entries where they have facts.
    stored: how many memories were new; the others were there with the same id and text. facts,
    events: how many were new. left_out: what was not kept, or as a note such as
    "[picture]", and how often; also what was forgotten, archived or erased in the agent, and
    recorded times that the clock has not reached, which are kept as metadata. untimed: those of
    ``read`` without a time of their own, for which that of recording stands. columns: of a table,
    what each was taken for.
    """

    format: str
    read: int = 0
    stored: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    untimed: int = 0
    columns: dict[str, str] = field(default_factory=dict)
    facts: int = 0
    events: int = 0


def ingest(
    agent: Agent,
    file: File,
    *,
    format: str | None = None,
    document_id: str | None = None,
    zone: tzinfo = UTC,
    recorded: bool = False,
    stamped: bool = False,
    source: str | None = None,
    trust: str | None = None,
    batch: int | None = None,
    facts: bool = False,
    embed_facts: bool = True,
) -> Ingestion:
    """Retain the memories and turns of a file that another program wrote; return what was done.

    file: its path, or an open stream of text. format: one that docs/imports.md and `recollex ingest
    --help` list; None finds it by the content.

    Times, roles, speakers and ids are kept. A memory without an id gets one that is made of its
    place or its values, except in JSON lines; so reading the file again adds nothing. document_id:
    of turns that name none, else the file's name. zone: of times without an offset. recorded,
    stamped: keep each line's recorded time, and its source and trust. source, trust: of all, as
    for `Agent.retain`. batch: lines that are retained together, all or none: 128, or 2,000 entries
    with facts. A fact without an id of its own that is known already is not recorded again, so
    reading a file again takes no correction back. facts: also let the store's language model
    draw facts from the talks, at the end, as `Agent.extract` does. embed_facts: without it the
    facts of formats with facts are found by their words, not by their meaning; a million facts then
    take less than a third of the space.

    Raises `errors.InputError`, which names the line; the batches before it were retained. Also for
    ``facts`` of a talk in a store without a language model; then nothing was.

    >>> import json, recollex, tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.mkdtemp()
    >>> memory = {"id": "m1", "memory": "Likes tea.", "created_at": "2024-05-04T10:00:00Z"}
    >>> written = Path(folder, "mem0.json").write_text(json.dumps({"results": [memory]}))
    >>> alice = recollex.open(folder + "/memory").agent("alice")
    >>> done = recollex.ingest(alice, folder + "/mem0.json")
    >>> done.format, done.stored, recollex.ingest(alice, folder + "/mem0.json").stored
    ('mem0', 1, 0)
    """
    stamp = _stamp(source, trust, stamped)
    check_flag(facts, "facts")
    check_flag(embed_facts, "embed_facts")
    with errors_of(str(file) if isinstance(file, str | os.PathLike) else "the stream"):
        opened = open_source(file, format, FileReading(document_id or "", zone, recorded, stamped))
        try:
            return store_source(agent, opened, stamp, batch, facts, embed_facts)
        finally:
            opened.close()


def store_source(
    agent: Agent,
    source: SourceFile,
    stamp: dict[str, Any],
    batch: int | None = None,
    facts: bool = False,
    embed_facts: bool = True,
) -> Ingestion:
    """Retain what a source holds, with a progress bar on a terminal; see `ingest`."""
    if batch is None:
        batch = EPISODES if source.episodes is not None else LINES
    check_count(batch, "batch", 1, MAX_BATCH)
    if source.episodes is not None:
        episodes = source.episodes
        if not embed_facts:
            episodes = ([_plain(each) for each in episode] for episode in episodes)
        return store_episodes(agent, source, episodes, stamp, batch)
    if facts:
        from recollex_mind.extraction import model_of

        model_of(agent.engine.writable())
    done = Ingestion(source.row.name, columns=source.reading.columns)
    lines = admitted(agent, source.lines, source.reading.left_out)
    first = next(lines, None)  # an error in the first line makes no store
    if first is not None:
        before = versions_of(agent.stats())
        talks: dict[str, None] = {}
        with progress_bar(source.total, "ingesting", "lines") as progress:
            try:
                for group in batches(_chained(first, lines), batch):
                    with reporting_to(lambda *_: None):  # no second bar
                        done.read += store_batch(agent, group, stamp)
                    if group[0].is_turn:
                        talks[group[0].shared["document_id"]] = None
                    if progress is not None:
                        progress(len(group))
            except InputError as error:
                after = f"; read before it: {counted(done.read, 'memory')}" if done.read else ""
                raise InputError(f"{error}{after}") from error
        done.stored = versions_of(agent.stats()) - before
        if facts:
            done.facts = _extract_facts(agent, list(talks))
    done.left_out = source.reading.left_out
    done.untimed = source.reading.untimed
    done.columns = source.reading.columns
    return done


def _extract_facts(agent: Agent, talks: list[str]) -> int:
    """Draw facts from talks; return how many: of memories, and of the graph."""
    before = agent.stats().facts
    drawn = 0
    with progress_bar(len(talks), "drawing facts", "talks") as progress:
        for first in range(0, len(talks), TALKS):
            some = talks[first : first + TALKS]
            drawn += len(agent.extract(document_id=some).facts)
            if progress is not None:
                progress(len(some))
    return drawn + agent.stats().facts - before


def store_episodes(
    agent: Agent,
    source: SourceFile,
    episodes: Iterator[list[Operation]],
    stamp: dict[str, Any],
    batch: int,
) -> Ingestion:
    """Record the operations of a source's entries, in transactions of ``batch`` entries."""
    done = Ingestion(source.row.name)
    note = {"by": f"ingest {source.row.name}"}
    stamped = trust_stamp(stamp.get("source"), stamp.get("trust"))
    before = None
    with progress_bar(source.total, "ingesting", "entries") as progress:
        while group := list(islice(episodes, batch)):  # an error in the first entry makes no store
            if before is None:
                before = agent.stats()
                gone = GoneIds(agent.log(op=GONE))
            known = agent.facts.view()
            operations = []
            for operation in (each for episode in group for each in episode):
                kept = _without_gone(agent, known, gone, operation)
                if kept is None:
                    source.reading.skip(GONE_HERE)
                elif not _is_known(known, kept):
                    operations.append(_stamped(kept, stamped))
            with reporting_to(lambda *_: None):  # no second bar
                try:
                    agent.engine.writable().transact(operations, [note] * len(operations))
                except InputError as error:
                    first = done.read + 1
                    last = done.read + len(group)
                    raise InputError(f"entries {first:,} to {last:,}: {error}") from error
            done.read += len(group)
            if progress is not None:
                progress(len(group))
    if before is not None:
        after = agent.stats()
        done.stored = versions_of(after) - versions_of(before)
        done.facts = after.facts - before.facts
        done.events = after.events - before.events
    done.left_out = source.reading.left_out
    done.untimed = source.reading.untimed
    done.columns = source.reading.columns
    return done


def _plain(operation: Operation) -> Operation:
    return replace(operation, embed=False) if isinstance(operation, UpsertEdge) else operation


def _without_gone(
    agent: Agent, view: FactView, gone: GoneIds, operation: Operation
) -> Operation | None:
    """Return an operation without what was taken away here and is not there again; None if it was.

    A fact that was archived or taken back counts as such, one whose evidence is all gone, and an
    event whose facts are.
    """
    if isinstance(operation, Retain):
        return None if is_gone(agent, gone, operation.id) else operation
    if isinstance(operation, UpsertEdge):
        evidence = tuple(id for id in operation.evidence if not is_gone(agent, gone, id))
        if _is_closed(view, gone, "fact", operation.id) or (operation.evidence and not evidence):
            return None
        return (
            operation if evidence == operation.evidence else replace(operation, evidence=evidence)
        )
    if isinstance(operation, UpsertEvent):
        facts = tuple(id for id in operation.facts if not _is_closed(view, gone, "fact", id))
        if _is_closed(view, gone, "event", operation.id) or (operation.facts and not facts):
            return None
        return operation if facts == operation.facts else replace(operation, facts=facts)
    return operation


def _is_closed(view: FactView, gone: GoneIds, kind: str, id: str) -> bool:
    """Return whether a fact or an event is closed, or was erased."""
    version = view.version(id, kind)
    return gone.was_erased(kind, id) if version is None else not view.is_open(version, kind)


def _is_known(view: FactView, operation: Operation) -> bool:
    """Return whether a fact is known by the id of its content, also one that was closed."""
    if not isinstance(operation, UpsertEdge) or operation.given_id is not None:
        return False
    return view.version(operation.id) is not None


def _stamped(operation: Operation, stamped: Stamp) -> Operation:
    if not isinstance(operation, Retain) or stamped[0] is None:
        return operation
    return replace(
        operation, statement=replace(operation.statement, source=stamped[0], trust=stamped[1])
    )


def _stamp(source: str | None, trust: str | None, stamped: bool) -> dict[str, Any]:
    given = {"source": source, "trust": trust}
    found = {name: value for name, value in given.items() if value is not None}
    if found and stamped:
        raise InputError("stamped keeps the source of each line: leave source and trust out")
    return found


def _chained(first: Line, rest: Iterator[Line]) -> Iterator[Line]:
    yield first
    yield from rest
