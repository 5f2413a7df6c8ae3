"""The subcommands that move memories by files: export, import."""

from typing import cast

import recollex
from recollex.api import jsonl
from recollex.api.filters import Filters, read_filter
from recollex.api.memory_files import objects_of
from recollex.api.plurals import counted
from recollex.cli.existing_store import existing_agent, open_store
from recollex.cli.filter_options import filters_of
from recollex.cli.parser import Arguments
from recollex.cli.terminal import say
from recollex_engine.errors import InputError


def export(arguments: Arguments) -> int:
    """Write every memory of an agent, in recorded order."""
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        filters = filters_of(arguments)
        if arguments.output is None:
            if arguments.format == "parquet":
                raise InputError("--format parquet needs --output: it is no text")
            for each in objects_of(agent, read_filter("export", cast(Filters, filters))):
                print(jsonl.dump(each))
            return 0
        kind = arguments.format
        if kind is None and not arguments.output.endswith(".parquet"):
            kind = "jsonl"
        written = recollex.export_memories(agent, arguments.output, format=kind, **filters)
        say(f"{counted(written, 'memory')} written to {arguments.output}")
        return 0


def import_(arguments: Arguments) -> int:
    """Retain the memories of a file that `export` wrote, as they were."""
    with open_store(arguments, durability="interval") as store:
        agent = store.agent(arguments.agent)
        stored = recollex.import_memories(agent, arguments.file, format=arguments.format)
    print(f"{counted(stored, 'memory')} stored for {arguments.agent}")
    return 0
