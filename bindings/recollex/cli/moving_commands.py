"""The subcommands that move memories by files: export, import."""

from typing import cast

import recollex
from recollex.api import jsonl
from recollex.api.filters import Filters, read_filter
from recollex.api.memory_files import given_dimension, objects_of
from recollex.api.plurals import counted
from recollex.cli.existing_store import agent_to_write, existing_agent, open_store
from recollex.cli.filter_options import filters_of
from recollex.cli.parser import Arguments
from recollex.cli.terminal import say, say_left_out, show
from recollex_engine.errors import InputError


def export(arguments: Arguments) -> int:
    """Write every memory of an agent, in recorded order."""
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


def import_(arguments: Arguments) -> int:
    """Retain the memories of a file that `export` wrote, as they were."""
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
