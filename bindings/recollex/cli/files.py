"""The commands ingest, export and import: memories of files, and files of memories."""

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, cast

import recollex
from recollex.api.foreign_files import errors_of
from recollex.api.iso_times import find_zone
from recollex.api.plurals import counted
from recollex.cli.existing_store import (
    agent_to_write,
    existing_agent,
    language_model,
    open_store,
)
from recollex.cli.options import (
    add_agent,
    add_embedder,
    add_filters,
    add_language,
    add_llm,
    add_stamp,
    add_store,
    add_zone,
    count,
    filters_of,
)
from recollex.cli.parser import Arguments, Command, Parser
from recollex.cli.terminal import printable, say, say_left_out, show
from recollex_engine.errors import InputError

if TYPE_CHECKING:
    from recollex.files.imports.ingest import Ingestion


_FILES = """\
What is left out is counted. Reading a file again stores nothing twice.

each line of jsonl is an object, a memory or a turn of talk:
  {"text": ...}, and any of event_at and entities
  {"speaker": ..., "text": ..., "at": ...}, and perhaps the caption of its picture
  {"role": ..., "content": ...} as chat APIs have it, and perhaps at, name and tool_calls
and any of id, metadata, document_id, context, network, tags, recorded_at. Turns that name no
document get --document, else the file's name. Reading a file again stores nothing twice where its
lines carry ids. A batch is lines of one kind, one document and one recorded_at."""


def _ingest_options(parser: Parser) -> None:
    from recollex.files.imports.formats import formats

    rows = sorted(formats().values(), key=lambda row: row.name)
    listed = "\n".join(f"  {row.name:<10} {row.line()}".replace("`", "") for row in rows)
    parser.epilog = f"{parser.epilog}\nformats, found by the content:\n{listed}\n{_FILES}"
    add = parser.add_argument
    add_store(parser)
    add("file", help="the file to read; - is standard input")
    add_agent(parser)
    add(
        "--format",
        choices=[row.name for row in rows],
        metavar="FORMAT",
        help="one of those listed below (what the content says)",
    )
    add("--document", metavar="ID", help="of turns that name none (file's name)")
    add_zone(parser)
    add_stamp(parser)
    add("--facts", action="store_true", help="also draw facts from talks, by a language model")
    add_llm(parser, "draws the facts")
    add("--stamped", action="store_true", help="keep each line's source and trust")
    add(
        "--recorded",
        action="store_true",
        help="keep each line's recorded_at: later than all that is stored",
    )
    add(
        "--batch",
        type=count,
        metavar="N",
        help="lines stored together, all or none (128; entries with facts 2000)",
    )
    add_language(parser)
    add_embedder(parser)


def ingest(arguments: Arguments) -> int:
    """Store a file in batches; a refused batch leaves the earlier ones stored."""
    from recollex.files.imports.ingest import store_source
    from recollex.files.imports.opening import open_source
    from recollex.files.imports.reading import FileReading

    given = {"source": arguments.source, "trust": arguments.trust}
    stamp = {name: value for name, value in given.items() if value is not None}
    if stamp and arguments.stamped:
        raise InputError("--stamped keeps the source of each line: leave --source and --trust out")
    with errors_of(arguments.file):
        source = open_source(
            sys.stdin if arguments.file == "-" else arguments.file,
            arguments.format,
            FileReading(
                arguments.document or "",
                find_zone(arguments.zone),
                arguments.recorded,
                arguments.stamped,
            ),
        )
        name = source.row.name
        if arguments.format is None and name != "jsonl":
            say(f"{arguments.file} is read as {name}; --format names another format")
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


def _tell(arguments: Arguments, done: "Ingestion") -> int:
    """Print what was stored, and say what was not; 1 if the file has nothing to store."""
    from recollex.files.imports.formats import formats
    from recollex.files.line_batches import GONE_HERE

    there = done.read - done.stored
    told = there > 0 and not formats()[done.format].facts
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


def _facts(done: "Ingestion") -> str:
    """Return what to say of facts and events; "" for a format without them."""
    from recollex.files.imports.formats import formats

    if not formats()[done.format].facts:
        return f", {counted(done.facts, 'fact')}" if done.facts else ""
    entries = counted(done.read, "entry")
    return f", {counted(done.facts, 'fact')} and {counted(done.events, 'event')} of {entries}"


def _export_options(parser: Parser) -> None:
    add_store(parser)
    add_agent(parser)
    parser.add_argument("--output", metavar="FILE", help="write here, not to standard output")
    _add_format(parser, "markdown", "mem0", "langchain")
    add_zone(parser)
    add_filters(parser)


def export(arguments: Arguments) -> int:
    """Write every memory of an agent, in recorded order."""
    from recollex.api.filters import Filters, read_filter
    from recollex.files import jsonl
    from recollex.files.memory_files import objects_of

    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        filters = filters_of(arguments)
        if arguments.output is None:
            if arguments.format not in (None, "jsonl"):
                raise InputError(f"--format {arguments.format} needs --output")
            written = 0
            for each in objects_of(agent, read_filter("export", cast(Filters, filters))):
                print(jsonl.dump(each))
                written += 1
            if not written:
                say(f"{arguments.agent} has no memories{' like that' if filters else ''}")
            return 0
        kind = arguments.format
        if kind is None and not arguments.output.endswith(".parquet"):
            kind = "jsonl"
        written = recollex.export_memories(agent, arguments.output, format=kind, **filters)
        if arguments.json:
            show(arguments, "", written=written, file=arguments.output)
        else:
            say(f"{counted(written, 'memory')} written to {arguments.output}")
        return 0


def _import_options(parser: Parser) -> None:
    add_store(parser)
    parser.add_argument("file", help="what `recollex export` wrote: .jsonl or .parquet")
    add_agent(parser)
    _add_format(parser)
    add_language(parser)
    add_embedder(parser)


def import_(arguments: Arguments) -> int:
    """Retain the memories of a file that `export` wrote, as they were."""
    from recollex.files.memory_files import given_dimension

    dimension = given_dimension(arguments.file, arguments.format)
    with open_store(arguments, dimension, durability="interval") as store:
        agent = agent_to_write(store, arguments)
        stored = recollex.import_memories(agent, arguments.file, format=arguments.format)
    show(
        arguments,
        f"{counted(stored, 'memory')} stored for {arguments.agent}",
        stored=stored,
        left_out=dict(stored.left_out),
    )
    say_left_out(stored.left_out)
    return 0


def _add_format(parser: Parser, *others: str) -> None:
    known = ["jsonl", "parquet", *others]
    parser.add_argument(
        "--format",
        choices=known,
        metavar="FORMAT",
        help=f"{', '.join(known[:-1])} or {known[-1]} (what the file's name says)",
    )


COMMANDS = (
    Command(
        "ingest",
        "store a file that another program wrote: talks, memories, tables",
        [
            "ingest memory/ talk.jsonl --document call-7",
            "ingest memory/ conversations.json --agent alice",
            "ingest memory/ notes/",
            "ingest memory/ mails.csv --zone Europe/Paris",
            "export memory/ | recollex ingest copy/ - --recorded",
        ],
        _ingest_options,
        ingest,
    ),
    Command(
        "export",
        "write an agent's memories as JSON lines, Parquet, or for other programs",
        [
            "export memory/ > memories.jsonl",
            "export memory/ --format markdown --output notes/",
            "export memory/ --agent bob --output bob.parquet",
        ],
        _export_options,
        export,
    ),
    Command(
        "import",
        "store the memories of a file that export wrote, as they were",
        ["import copy/ memories.jsonl", "import copy/ bob.parquet --agent bob"],
        _import_options,
        import_,
    ),
)
