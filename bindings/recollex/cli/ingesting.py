"""The subcommand ingest: it stores a file that another program wrote."""

import sys
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from recollex.api.foreign_files import errors_of
from recollex.api.iso_times import find_zone
from recollex.api.jsonl import Line
from recollex.api.line_batches import GONE_HERE
from recollex.api.plurals import counted
from recollex.cli.existing_store import agent_to_write, open_store
from recollex.cli.parser import Arguments
from recollex.cli.terminal import printable, say, say_left_out, show
from recollex.imports.ingest import Ingestion, store_source
from recollex.imports.opening import open_source
from recollex.imports.source import Source
from recollex.imports.text_source import WITH_FACTS
from recollex_engine.errors import InputError


def ingest(arguments: Arguments) -> int:
    """Store a file in batches; a refused batch leaves the earlier ones stored."""
    given = {"source": arguments.source, "trust": arguments.trust}
    stamp = {name: value for name, value in given.items() if value is not None}
    if stamp and arguments.stamped:
        raise InputError("--stamped keeps the source of each line: leave --source and --trust out")
    with errors_of(arguments.file):
        source = open_source(
            sys.stdin if arguments.file == "-" else arguments.file,
            arguments.format,
            find_zone(arguments.zone),
            arguments.document,
            arguments.recorded,
            arguments.stamped,
        )
        if arguments.format is None and source.format != "jsonl":
            say(f"{arguments.file} is read as {source.format}; --format names another format")
        try:
            done = _store(arguments, source, stamp)
        finally:
            source.close()
    return _tell(arguments, done)


def _store(
    arguments: Arguments, source: Source, stamp: dict[str, Any]
) -> list[tuple[str, Ingestion]]:
    """Store the lines for the named agent, those of LoCoMo for an agent of each conversation."""
    apart = source.format == "locomo" and arguments.agent is None
    with open_store(arguments) as store:
        if not apart:
            name = arguments.agent or "default"
            done = store_source(
                agent_to_write(store, arguments, name),
                source,
                source.lines,
                stamp,
                arguments.batch,
                arguments.facts,
            )
            return [(name, done)]
        return [
            (
                name,
                store_source(
                    agent_to_write(store, arguments, name),
                    source,
                    _alone(lines),
                    stamp,
                    arguments.batch,
                    arguments.facts,
                ),
            )
            for name, lines in groupby(source.lines, lambda line: line.shared["document_id"])
        ]


def _facts(done: Ingestion) -> str:
    """Return what to say of facts and events; "" for a format without them."""
    if done.format not in WITH_FACTS:
        return f", {counted(done.facts, 'fact')}" if done.facts else ""
    entries = counted(done.read, "entry")
    return f", {counted(done.facts, 'fact')} and {counted(done.events, 'event')} of {entries}"


def _alone(lines: Iterator[Line]) -> Iterator[Line]:
    """Yield lines of one conversation, with ids that do not name it."""
    for line in lines:
        prefix = f"{line.shared['document_id']}/"
        line.fields["id"] = line.fields["id"].removeprefix(prefix)
        yield line


def _tell(arguments: Arguments, done: list[tuple[str, Ingestion]]) -> int:
    """Print what was stored, and say what was not; 1 if the file has nothing to store."""
    for name, each in done:
        there = each.read - each.stored
        told = there > 0 and each.format not in WITH_FACTS
        there_too = f", {there:,} there already" if told else ""
        show(
            arguments,
            f"{counted(each.stored, 'memory')} stored for {name}{there_too}{_facts(each)}",
            agent=name,
            format=each.format,
            read=each.read,
            stored=each.stored,
            left_out=dict(each.left_out),
            untimed=each.untimed,
            columns=each.columns,
            facts=each.facts,
            events=each.events,
        )
    last = done[-1][1] if done else Ingestion("")
    if last.columns:
        columns = ", ".join(f"{name} is {field}" for name, field in last.columns.items())
        say(f"columns: {printable(columns)}")
    if last.untimed:
        say(f"{counted(last.untimed, 'item')} without a time: that of recording stands for it")
    say_left_out(last.left_out)
    if not any(each.read for _, each in done) and GONE_HERE not in last.left_out:
        say(f"{arguments.file} has nothing to store")
        return 1
    return 0
