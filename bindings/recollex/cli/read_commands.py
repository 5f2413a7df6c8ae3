"""The subcommands that read: recall, list, stats."""

import dataclasses
import json

import recollex
from recollex.cli.existing_store import existing_agent
from recollex.cli.filter_options import filters_of
from recollex.cli.parser import Arguments
from recollex.cli.tables import fields_table, listed_line, recall_table, stage_table, summary_lines
from recollex.cli.terminal import printable, say
from recollex.cli.time_options import time_option
from recollex_engine.domain.question import MEMORIES


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
            exact=arguments.exact,
            preset=arguments.preset,
            min_confidence=arguments.min_confidence,
            explain=arguments.explain,
            pack="subgraph" if arguments.pack else None,
            kinds=tuple(arguments.kind or MEMORIES),
        )
        if arguments.json:
            print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
        elif arguments.prompt or arguments.pack:
            print(found.to_prompt())
        elif found.beside is not None:
            _print_hits(found, arguments)
        else:
            _print_recall(found, arguments)
        return 0 if len(found) or (found.beside is not None and found.beside.hits) else 1


def _print_hits(found: recollex.Recall, arguments: Arguments) -> None:
    """Print what was found of all kinds, best first, one a line."""
    for hit in found.hits[: arguments.top]:
        print(f"{hit.kind:8}{printable(' '.join(hit.text.split()))}")
    if not found.hits:
        say(f"{arguments.agent} has nothing for {printable(arguments.query)!r}")


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
        if arguments.values is not None:
            return _print_values(agent.value_counts(arguments.values, **filters), arguments)
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


def _print_values(counts: dict[str, int], arguments: Arguments) -> int:
    """Print the values of a field, one a line; 1 if there are none."""
    if arguments.json:
        print(json.dumps(counts, ensure_ascii=False))
    else:
        for value, many in counts.items():
            print(f"{many:>9,}  {printable(value)}")
    if not counts:
        say(f"no memory of {arguments.agent} like that has {arguments.values}")
    return 0 if counts else 1


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
    elif not len(found) and arguments.min_confidence and found.confidence is None:
        query = printable(arguments.query)
        say(f"how sure an answer to {query!r} is, is not known: leave out --min-confidence")
    elif not len(found) and found.confidence:
        what = f"nothing that bears on {printable(arguments.query)!r}"
        say(f"{what} fits in --tokens {arguments.tokens}: give more")
    elif not len(found):
        among = ", of what the filter admits" if filters_of(arguments) else ""
        query = printable(arguments.query)
        say(f"{arguments.agent} remembers nothing that bears on {query!r}{among}")
    else:
        print(recall_table(found, arguments.top))
    print(f"\n{summary_lines(found)}\n")
    print(stage_table(found.trace))
