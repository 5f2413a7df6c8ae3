"""The subcommands that read: recall, agents, stats."""

import dataclasses
import json

import recollex
from recollex.cli.existing_store import existing_agent, existing_store
from recollex.cli.parser import Arguments
from recollex.cli.tables import fields_table, recall_table, stage_table, summary_lines
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
            networks=arguments.network,
            roles=arguments.role,
            trust=arguments.trust,
            since=time_option(arguments, "since"),
            until=time_option(arguments, "until"),
            tags=arguments.tag,
            entities=arguments.entity,
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
