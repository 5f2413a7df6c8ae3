"""The commands retain, recall, list and stats: what is written by hand, and what is read."""

import dataclasses
import json
import sys

import recollex
from recollex.cli.existing_store import agent_to_write, existing_agent, open_store
from recollex.cli.options import (
    add_agent,
    add_embedder,
    add_fields,
    add_filters,
    add_language,
    add_store,
    add_zone,
    count,
    fields_of,
    filters_of,
    number,
    time_option,
)
from recollex.cli.parser import Arguments, Command, Parser
from recollex.cli.terminal import (
    fields_table,
    listed_line,
    printable,
    recall_table,
    say,
    show,
    stage_table,
    summary_lines,
)
from recollex_engine.errors import InputError


def _retain_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add("text", nargs="+", help="each is one memory; - reads one from standard input")
    add_agent(parser)
    add_fields(parser)
    add_language(parser)
    add_embedder(parser)


def retain(arguments: Arguments) -> int:
    """Store each text as one memory and print its id."""
    if arguments.id and len(arguments.text) > 1:
        raise InputError(f"--id names one memory, got {len(arguments.text)} texts")
    texts = [sys.stdin.read() if text == "-" else text for text in arguments.text]
    given = fields_of(arguments)
    with open_store(arguments) as store:
        ids = agent_to_write(store, arguments).retain_many(texts, **given)
    show(arguments, "\n".join(ids), ids=ids)
    return 0


def _recall_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add(
        "query",
        help='a question; "quotes" alone must appear as they are',
    )
    add_agent(parser)
    add("--top", type=count, default=10, metavar="N", help="memories shown (10)")
    add("--json", action="store_true", help="print one JSON object, all memories")
    add("--explain", action="store_true", help="the score in each arm, not the rank alone")
    add(
        "--preset",
        default="default",
        metavar="NAME",
        help="how to rank: default, tempr, memora, satf, memotrace",
    )
    add(
        "--min-confidence",
        type=number,
        metavar="P",
        help="answer only if one is there with this probability, 0 to 1 (0; 0.1 with --prompt)",
    )
    add("--prompt", action="store_true", help="print the text made for a prompt")
    add("--pack", action="store_true", help="pack events, facts and evidence")
    add(
        "--kind",
        action="append",
        metavar="KIND",
        help="what to search: memory (the default), fact, event, episode; may be given again",
    )
    add(
        "--budget",
        type=count,
        default=100,
        metavar="N",
        help="candidates of each arm: the thinking budget (100)",
    )
    add("--tokens", type=count, default=4096, metavar="N", help="at most N tokens (4096)")
    add("--limit", type=count, metavar="N", help="at most N memories (as many as fit)")
    add_zone(parser)
    add("--now", metavar="TIME", help="what 'last week' is counted from (now)")
    add("--as-recorded", metavar="TIME", help="answer as if asked then: nothing told since")
    add_filters(parser)
    add("--exact", action="store_true", help="scan every vector, skip the index")
    add_embedder(parser)


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
            min_confidence=arguments.min_confidence or 0.0,
            explain=arguments.explain,
            pack="subgraph" if arguments.pack else None,
            kinds=tuple(arguments.kind or ("memory",)),
        )
        if arguments.json:
            print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
        elif arguments.prompt or arguments.pack:
            print(text := found.to_prompt(arguments.min_confidence))
            return 0 if text else 1
        elif found.beside is not None:
            _print_hits(found, arguments)
        else:
            _print_recall(found, arguments)
        return 0 if len(found) or (found.beside is not None and found.beside.hits) else 1


def _print_hits(found: "recollex.Recall", arguments: Arguments) -> None:
    """Print what was found of all kinds, best first, one a line."""
    for hit in found.hits[: arguments.top]:
        print(f"{hit.kind:8}{printable(' '.join(hit.text.split()))}")
    if not found.hits:
        say(f"{arguments.agent} has nothing for {printable(arguments.query)!r}")


def _print_recall(found: "recollex.Recall", arguments: Arguments) -> None:
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


def _list_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add("--limit", type=count, default=100, metavar="N", help="at most N (100)")
    add("--after", metavar="ID", help="those after this memory, the last of the page before")
    add("--newest", action="store_true", help="the newest recorded first")
    add("--count", action="store_true", help="only print how many there are")
    add(
        "--values",
        metavar="FIELD",
        help="only print how many have each value of FIELD: "
        "tags, document_id, speakers, roles, network, source or trust",
    )
    add_zone(parser)
    add_filters(parser)
    add("--json", action="store_true", help="print each as one JSON object")


def list_(arguments: Arguments) -> int:
    """Print memories in recorded order; 1 if there are none."""
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        filters = filters_of(arguments)
        if arguments.count:
            many = agent.count(**filters)
            print(json.dumps({"count": many}) if arguments.json else f"{many:,}")
            return 0 if many else 1
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


def _stats_options(parser: Parser) -> None:
    add_store(parser)
    add_agent(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def stats(arguments: Arguments) -> int:
    """Print how much an agent holds."""
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        counts = dataclasses.asdict(agent.stats())
        print(json.dumps(counts, default=str, indent=2) if arguments.json else fields_table(counts))
        return 0


COMMANDS = (
    Command(
        "retain",
        "store one memory or several",
        [
            'retain memory/ "Alice joined Google." --at 2023-11-06 --context call',
            'retain memory/ --agent bob "Tea is better than coffee." --network opinion',
            "retain memory/ - < note.txt",
        ],
        _retain_options,
        retain,
    ),
    Command(
        "recall",
        "find what bears on a question, and say why",
        [
            'recall memory/ "Where does Alice work?"',
            'recall memory/ "what broke last spring" --now 2024-06-01 --explain',
            'recall memory/ "the \\"blue van\\"" --since 2024-01-01 --json',
            'recall memory/ "Where does Alice work?" --as-recorded 2024-05-03',
        ],
        _recall_options,
        recall,
    ),
    Command(
        "list",
        "list or count the memories of an agent, also those that a filter admits",
        [
            "list memory/ --newest --limit 5",
            "list memory/ --document call-7 --json",
            """list memory/ --tag work --where '{"n": {"gt": 2}}' --count""",
            "list memory/ --values tags",
        ],
        _list_options,
        list_,
    ),
    Command(
        "stats",
        "count what an agent holds",
        ["stats memory/", "stats memory/ --agent bob --json"],
        _stats_options,
        stats,
    ),
)
