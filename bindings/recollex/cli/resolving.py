"""The subcommand resolve-entities: entities that are one become one."""

import json
from contextlib import nullcontext

from recollex.cli.existing_store import existing_agent
from recollex.cli.mind_commands import language_model
from recollex.cli.parser import Arguments
from recollex.cli.terminal import printable, say
from recollex_engine.mind.entity_resolution import EntityMatch


def resolve_entities(arguments: Arguments) -> int:
    """Print the pairs that are one or may be, and make those one that are; 1 without an agent."""
    llm = language_model(arguments)
    with (
        llm or nullcontext(),
        existing_agent(arguments, write=not arguments.preview, llm=llm) as agent,
    ):
        if agent is None:
            return 1
        found = agent.facts.resolve_entities(preview=arguments.preview, by=arguments.by)
    for each in found:
        print(json.dumps(each.to_dict(), ensure_ascii=False) if arguments.json else _line(each))
    if not found:
        say("no two entities of the agent may be one")
    return 0


def _line(match: EntityMatch) -> str:
    means = {True: "is", False: "is not", None: "may be"}[match.same]
    by = "" if match.decided_by is None else f"by {match.decided_by}: "
    how = f"{match.way}, {match.score:.2f}, {by}{match.reason}"
    return printable(f"{match.source} {means} {match.target} ({how})")
