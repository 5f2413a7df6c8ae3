"""The subcommands that read: recall, list, agents, stats."""

import dataclasses
import json

import recollex
from recollex.cli.existing_store import existing_agent, existing_store
from recollex.cli.filter_options import filters_of
from recollex.cli.parser import Arguments
from recollex.cli.tables import fields_table, listed_line, recall_table, stage_table, summary_lines
from recollex.cli.terminal import printable, say
from recollex.cli.time_options import time_option


def recall(arguments: Arguments) -> int:
    """Print what an agent recalls; 1 if nothing was found."""
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        found = agent.recall(
            arguments.query,
            thinking_budget=arguments.budget,
            max_tokens=arguments.tokens,
            limit=arguments.limit,
            **filters_of(arguments),
            now=time_option(arguments, "now"),
            as_recorded=time_option(arguments, "as_recorded"),
            as_world=time_option(arguments, "as_world"),
            exact=arguments.exact,
            preset=arguments.preset,
            min_confidence=arguments.min_confidence,
            explain=arguments.explain,
            pack="subgraph" if arguments.pack else None,
        )
        if arguments.json:
            print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
        elif arguments.prompt or arguments.pack:
            print(found.to_prompt())
        else:
            _print_recall(found, arguments)
        return 0 if len(found) else 1


def list_(arguments: Arguments) -> int:
    """Print memories in recorded order; 1 if there are none."""
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        filters = filters_of(arguments)
        if arguments.count:
            count = agent.count(**filters)
            print(json.dumps({"count": count}) if arguments.json else f"{count:,}")
            return 0 if count else 1
        found = agent.list(
            after=arguments.after, limit=arguments.limit, newest=arguments.newest, **filters
        )
        for memory in found:
            print(
                json.dumps(memory.to_dict(), ensure_ascii=False)
                if arguments.json
                else listed_line(memory)
            )
        if not found:
            say(f"{arguments.agent} has no memories like that")
        return 0 if found else 1


def agents(arguments: Arguments) -> int:
    """Print the name of each agent, one a line; 1 if there is none."""
    with existing_store(arguments) as store:
        if store is None:
            return 1
        names = store.agents()
        if not names:
            say(f"{arguments.store} holds no agent yet: recollex retain makes one")
            return 1
        print("\n".join(names))
        return 0


def stats(arguments: Arguments) -> int:
    """Print how much an agent holds."""
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        counts = dataclasses.asdict(agent.stats())
        print(json.dumps(counts, default=str, indent=2) if arguments.json else fields_table(counts))
        return 0


def _print_recall(found: recollex.Recall, arguments: Arguments) -> None:
    if not len(found) and arguments.min_confidence and found.confidence:
        say(f"nothing that is likely to answer {printable(arguments.query)!r}")
    elif not len(found):
        say(f"{arguments.agent} remembers nothing that bears on {printable(arguments.query)!r}")
    else:
        print(recall_table(found, arguments.top, explain=arguments.explain))
    print(f"\n{summary_lines(found)}\n")
    print(stage_table(found.trace))
