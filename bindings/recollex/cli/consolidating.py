"""The subcommand consolidate: episodes of old events, one fact of equal ones, observations."""

from contextlib import nullcontext
from datetime import timedelta

from recollex.api.plurals import counted
from recollex.cli.existing_store import existing_agent
from recollex.cli.mind_commands import language_model
from recollex.cli.parser import Arguments
from recollex.cli.terminal import printable, say, show


def consolidate(arguments: Arguments) -> int:
    """Consolidate an agent's events and facts, or say what would be; 1 if there is no agent."""
    llm = None if arguments.preview else language_model(arguments)
    with (
        llm or nullcontext(),
        existing_agent(arguments, write=not arguments.preview, llm=llm) as agent,
    ):
        if agent is None:
            return 1
        done = agent.events.consolidate(
            age=timedelta(days=arguments.age_days),
            threshold=arguments.threshold,
            least_facts=None if arguments.no_observations else arguments.least_facts,
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
    if done.observations or done.unobserved:
        count = len(done.unobserved if arguments.preview else done.observations)
        lines.append(f"{counted(count, 'observation')} {would}made")
        lines += [f"  {printable(each.text)}" for each in done.observations]
    if done.unobserved and not arguments.preview:
        names = f"{counted(len(done.unobserved), 'entity')} without an observation of new facts"
        say(names if llm else f"{names}: --llm NAME, or RECOLLEX_LLM_MODEL, makes them")
    show(arguments, "\n".join(lines), **done.to_dict(), preview=arguments.preview)
    return 0
