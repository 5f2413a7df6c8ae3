"""The commands that change what is kept: amend, forget, erase and retention."""

import json
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import recollex
from recollex.api.plurals import counted
from recollex.cli.existing_store import existing_agent, key_of
from recollex.cli.options import (
    add_agent,
    add_filters,
    add_store,
    add_zone,
    count_or_0,
    filters_of,
    json_option,
    number,
    time_option,
)
from recollex.cli.parser import Arguments, Command, Parser
from recollex.cli.terminal import printable, say, show
from recollex_engine.errors import InputError

if TYPE_CHECKING:
    from recollex_engine.domain.removal import Erasure


def _amend_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add("id", help="the memory")
    add_agent(parser)
    add("--tag", action="append", metavar="TAG", help="its tags from now on; may be given again")
    add("--no-tags", action="store_true", help="no tags from now on")
    add("--metadata", metavar="JSON", help='its metadata from now on: {"kind": "mail"}')
    add("--zone", metavar="ZONE", help="where it was said: its dates are read again there")
    add("--valid-until", metavar="TIME", help="when it ceases to be so; never: no end")
    add("--by", metavar="NAME", help="who amends it, for the log")
    add("--why", metavar="TEXT", help="the reason, for the log")


def amend(arguments: Arguments) -> int:
    """Change the tags, metadata or end of validity of a memory."""
    changes: dict[str, Any] = {}
    if arguments.tag is not None or arguments.no_tags:
        changes["tags"] = arguments.tag or []
    if arguments.metadata is not None:
        changes["metadata"] = json_option(arguments.metadata, "--metadata")
    if arguments.valid_until is not None:
        never = arguments.valid_until == "never"
        changes["valid_until"] = None if never else time_option(arguments, "valid_until")
    if arguments.zone is not None:
        changes["zone"] = arguments.zone
    with existing_agent(arguments, write=True) as agent:
        if agent is None:
            return 1
        agent.amend(arguments.id, **changes, by=arguments.by, why=arguments.why)
    show(arguments, f"{printable(arguments.id)} of {arguments.agent} amended", id=arguments.id)
    return 0


def _forget_options(parser: Parser) -> None:
    add = parser.add_argument
    _add_choice(parser)
    add("--by", metavar="NAME", help="who forgets them, for the log")
    add("--why", metavar="TEXT", help="the reason, for the log")


def forget(arguments: Arguments) -> int:
    """Forget memories; 1 if there were none."""
    with existing_agent(arguments, write=True) as agent:
        if agent is None:
            return 1
        forgotten = agent.forget(
            arguments.id, by=arguments.by, why=arguments.why, **filters_of(arguments)
        )
    if not forgotten:
        say(f"{arguments.agent} has no memories like that: nothing forgotten")
        return 1
    said = f"{counted(forgotten, 'memory')} of {arguments.agent} forgotten"
    show(arguments, said, forgotten=forgotten)
    return 0


def _erase_options(parser: Parser) -> None:
    add = parser.add_argument
    _add_choice(parser)
    add("--everything", action="store_true", help="all that the agent holds")
    add("--by", required=True, metavar="NAME", help="who erases them, for the log")
    add("--why", required=True, metavar="TEXT", help="the reason, for the log")
    add(
        "--copy",
        action="append",
        metavar="FOLDER",
        help="a snapshot or backup: erase there, too, all that was ever erased here",
    )
    add("--yes", action="store_true", help="do not ask")


def erase(arguments: Arguments) -> int:
    """Erase memories, once they are shown and confirmed; 1 if nothing was erased."""
    filters: dict[str, Any] = {
        **filters_of(arguments),
        "id": arguments.id,
        "everything": arguments.everything,
        "by": arguments.by,
        "why": arguments.why,
    }
    given = {name: value for name, value in filters.items() if value is not None}
    code = 0
    if not arguments.copy or len(given) > 3 or arguments.everything:  # not of copies alone
        code = _erase(arguments, given)
    if code == 0:
        for folder in arguments.copy or ():
            done = recollex.erase_in_copy(
                arguments.store,
                folder,
                arguments.agent,
                by=arguments.by,
                why=arguments.why,
                key=key_of(arguments),
            )
            said = f"{_said(done)} of {arguments.agent} erased in {folder}"
            show(arguments, said, folder=folder, **done.to_dict())
    return code


def _erase(arguments: Arguments, given: dict[str, Any]) -> int:
    with existing_agent(arguments, write=True) as agent:
        if agent is None:
            return 1
        found = agent.erase(**given, preview=True)
        if not (found.memories or found.facts or found.events or arguments.everything):
            say(f"{arguments.agent} has no memories like that: nothing erased")
            return 1
        if not arguments.yes:
            say(f"{_said(found)} of {arguments.agent} would be erased from every file, for good")
            print("Erase them? [y/N] ", end="", file=sys.stderr, flush=True)
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                say("nothing erased")
                return 1
        done = agent.erase(**given)
    said = f"{_said(done)} of {arguments.agent} erased, by operation {done.op}"
    show(arguments, said, folder=arguments.store, **done.to_dict())
    return 0


def _said(erasure: "Erasure") -> str:
    return (
        f"{counted(erasure.memories, 'memory')} ({counted(erasure.passages, 'passage')}), "
        f"{counted(erasure.facts, 'fact')} and {counted(erasure.events, 'event')}"
    )


def _add_choice(parser: Parser) -> None:
    """Add the store, the agent, and what chooses its memories: ids or a filter."""
    add_store(parser)
    add_agent(parser)
    parser.add_argument(
        "--id", action="append", metavar="ID", help="this memory; may be given again"
    )
    add_zone(parser)
    add_filters(parser)


def _retention_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add("--age-days", type=number, metavar="N", help="forget what was recorded more days ago")
    add("--count", type=count_or_0, metavar="N", help="forget all but the newest N")
    add("--network", metavar="NETWORK", help="of world, agent or opinion alone")
    add("--erase", action="store_true", help="--apply also takes it out of every file, for good")
    add("--add", action="store_true", help="keep the other rules, which are replaced otherwise")
    add("--none", action="store_true", help="keep everything from now on")
    add("--apply", action="store_true", help="forget and erase now what is due")
    add("--by", metavar="NAME", help="who sets the rules, for the log")
    add("--why", metavar="TEXT", help="the reason, for the log")
    add("--json", action="store_true", help="print each rule as one JSON object")


def retention(arguments: Arguments) -> int:
    """Set the rules if some are given, apply them if asked, and print them; 1 if there are none."""
    rule = _rule(arguments)
    changes = rule is not None or arguments.none
    with existing_agent(arguments, write=changes or arguments.apply) as agent:
        if agent is None:
            return 1
        if changes:
            kept = agent.retention() if arguments.add else ()
            new = [*kept, rule] if rule is not None else []
            agent.set_retention(new, by=arguments.by, why=arguments.why)
        if arguments.apply:
            done = agent.expire()
            forgotten = counted(done.forgotten, "memory")
            erased = counted(done.erased, "version")
            say(f"{forgotten} forgotten, {erased} erased")
        rules = agent.retention()
        for each in rules:
            print(json.dumps(each.to_dict()) if arguments.json else _rule_line(each))
        if not rules:
            say(f"{arguments.agent} has no retention rules: everything is kept")
        return 0 if rules or changes or arguments.apply else 1


def _rule(arguments: Arguments) -> "recollex.Retention | None":
    """Return the rule that the options describe; None if they describe none."""
    days = arguments.age_days
    count = arguments.count
    if days is None and count is None:
        if arguments.network or arguments.erase or arguments.add:
            raise InputError("a rule needs --age-days or --count")
        return None
    if arguments.none:
        raise InputError("--none goes without a rule")
    if days is not None and not 0 < days <= 366_000:
        raise InputError(f"--age-days must lie in (0, 366000], got {days:g}")
    return recollex.Retention(
        network=arguments.network,
        age=None if days is None else timedelta(days=days),
        count=count,
        erase=arguments.erase,
    )


def _rule_line(rule: "recollex.Retention") -> str:
    return f"{rule.why}: {'erase' if rule.erase else 'forget'}"


COMMANDS = (
    Command(
        "amend",
        "change the tags, metadata or end of validity of a memory",
        [
            "amend memory/ lead --tag done --by alice",
            """amend memory/ lead --metadata '{"n": 2}' --valid-until 2024-06-01""",
        ],
        _amend_options,
        amend,
    ),
    Command(
        "forget",
        "forget memories: only the past still shows them",
        [
            'forget memory/ --id lead --by alice --why "Carol left."',
            "forget memory/ --tag draft --until 2024-01-01",
        ],
        _forget_options,
        forget,
    ),
    Command(
        "erase",
        "take memories out of every file of an agent, for good",
        [
            'erase memory/ --id lead --by alice --why "Carol asked for it."',
            'erase memory/ --document call-7 --by alice --why "kept for a year" --yes',
            'erase memory/ --copy may/ --by alice --why "as in memory/"',
        ],
        _erase_options,
        erase,
    ),
    Command(
        "retention",
        "show, set or apply the rules by which an agent forgets",
        [
            "retention memory/",
            'retention memory/ --age-days 365 --count 10000 --by ann --why "policy 7"',
            "retention memory/ --network opinion --age-days 30 --erase --add --by ann",
            "retention memory/ --none --by ann",
            "retention memory/ --apply",
        ],
        _retention_options,
        retention,
    ),
)
