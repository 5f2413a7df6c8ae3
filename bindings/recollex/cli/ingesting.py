"""The subcommand ingest: it stores a file that another program wrote."""

import sys
from contextlib import nullcontext

from recollex.api.foreign_files import errors_of
from recollex.api.iso_times import find_zone
from recollex.api.line_batches import GONE_HERE
from recollex.api.plurals import counted
from recollex.cli.existing_store import agent_to_write, open_store
from recollex.cli.mind_commands import language_model
from recollex.cli.parser import Arguments
from recollex.cli.terminal import printable, say, say_left_out, show
from recollex.imports.ingest import Ingestion, store_source
from recollex.imports.opening import open_source
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
            llm = language_model(arguments) if arguments.facts else None
            with llm or nullcontext(), open_store(arguments, llm=llm) as store:
                done = store_source(
                    agent_to_write(store, arguments, arguments.agent),
                    source,
                    stamp,
                    arguments.batch,
                    arguments.facts,
                )
        finally:
            source.close()
    return _tell(arguments, done)


def _facts(done: Ingestion) -> str:
    """Return what to say of facts and events; "" for a format without them."""
    if done.format not in WITH_FACTS:
        return f", {counted(done.facts, 'fact')}" if done.facts else ""
    entries = counted(done.read, "entry")
    return f", {counted(done.facts, 'fact')} and {counted(done.events, 'event')} of {entries}"


def _tell(arguments: Arguments, done: Ingestion) -> int:
    """Print what was stored, and say what was not; 1 if the file has nothing to store."""
    there = done.read - done.stored
    told = there > 0 and done.format not in WITH_FACTS
    there_too = f", {there:,} there already" if told else ""
    show(
        arguments,
        f"{counted(done.stored, 'memory')} stored for {arguments.agent}{there_too}{_facts(done)}",
        agent=arguments.agent,
        format=done.format,
        read=done.read,
        stored=done.stored,
        left_out=dict(done.left_out),
        untimed=done.untimed,
        columns=done.columns,
        facts=done.facts,
        events=done.events,
    )
    if done.columns:
        columns = ", ".join(f"{name} is {field}" for name, field in done.columns.items())
        say(f"columns: {printable(columns)}")
    if done.untimed:
        say(f"{counted(done.untimed, 'item')} without a time: that of recording stands for it")
    say_left_out(done.left_out)
    if not done.read and GONE_HERE not in done.left_out:
        say(f"{arguments.file} has nothing to store")
        return 1
    return 0
