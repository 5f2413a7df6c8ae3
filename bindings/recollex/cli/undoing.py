"""The subcommand undo: it takes back what an operation did to facts and events."""

from recollex.api.plurals import counted
from recollex.cli.existing_store import existing_agent
from recollex.cli.parser import Arguments
from recollex.cli.terminal import show


def undo(arguments: Arguments) -> int:
    """Undo an operation on facts or events; 1 if there is no such agent."""
    with existing_agent(arguments, write=True) as agent:
        if agent is None:
            return 1
        records = agent.facts.undo(arguments.op, by=arguments.by, why=arguments.why)
    said = f"operation {arguments.op} undone: {counted(records, 'new record')}"
    show(arguments, said, op=arguments.op, records=records)
    return 0
