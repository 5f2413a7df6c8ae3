"""The subcommand consolidate: old events become episodes, equal facts become one."""

from datetime import timedelta

from recollex.api.plurals import counted
from recollex.cli.existing_store import existing_agent
from recollex.cli.parser import Arguments
from recollex.cli.terminal import printable, show


def consolidate(arguments: Arguments) -> int:
    """Consolidate an agent's events and facts, or say what would be; 1 if there is no agent."""
    with existing_agent(arguments, write=not arguments.preview) as agent:
        if agent is None:
            return 1
        done = agent.events.consolidate(
            age=timedelta(days=arguments.age_days),
            threshold=arguments.threshold,
            preview=arguments.preview,
            by=arguments.by,
        )
    would = "would be " if arguments.preview else ""
    lines = [
        f"{counted(done.archived, 'event')} of {done.considered:,} {would}archived in "
        f"{counted(len(done.episodes), 'episode')}, {counted(len(done.duplicates), 'fact')} "
        f"{would}closed as duplicates",
        *(f"  {printable(episode.title)}" for episode in done.episodes),
    ]
    show(arguments, "\n".join(lines), **done.to_dict(), preview=arguments.preview)
    return 0
