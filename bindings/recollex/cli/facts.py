"""The commands about facts and events: apply, facts, undo, and MemoTrace's.

MemoTrace names its commands memowrite, memoread and memosearch. They are subcommands here, and
scripts as well, so that programs written for the paper's commands find them.
"""

import json
import sys
from collections.abc import Iterable
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

import recollex
from recollex.api.foreign_files import parse_json
from recollex.api.iso_times import find_zone, parse_time
from recollex.api.plurals import counted
from recollex.cli.existing_store import agent_to_write, existing_agent, open_store
from recollex.cli.options import (
    add_agent,
    add_embedder,
    add_language,
    add_stamp,
    add_store,
    add_zone,
    count,
    time_option,
)
from recollex.cli.parser import Arguments, Command, Parser, did_you_mean
from recollex.cli.terminal import printable, say, show
from recollex_engine.clock import system_clock
from recollex_engine.errors import InputError, UnknownIdError

if TYPE_CHECKING:
    from recollex_engine.facts.events import Event
    from recollex_engine.facts.facts import Fact


_OPERATIONS = """
each line of the file is an operation, a transaction by itself:
  {"op": "UPSERT_EDGE", "subject": "Alice", "predicate": "works_at", "object": "Google",
   "valid": ["2023-11-06", null], "by": "importer", "why": "her mail of the 6th"}
and the others: RETAIN, CORRECT, ARCHIVE, FORGET, UPSERT_ENTITY, MERGE_ENTITY, SPLIT_ENTITY,
ARCHIVE_EDGE, RETRO_CORRECT, UPSERT_EVENT, LINK, UPSERT_EPISODE. Lines between {"op": "BEGIN"} and
{"op": "COMMIT"} are one transaction: all of them are recorded, at one time, or none. The whole
file is checked first; an operation that is refused then leaves the transactions before it."""


def _apply_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add("file", help="operations, one JSON object a line; - is standard input")
    add_agent(parser)
    add_zone(parser)
    add("--by", metavar="WHO", help="who makes them, where a line does not say")
    add("--why", metavar="REASON", help="why, where a line does not say")
    add_stamp(parser)
    add_language(parser)
    add_embedder(parser)


def apply(arguments: Arguments) -> int:
    """Record a file of operations, one transaction at a time."""
    from recollex.api import dsl
    from recollex_engine.domain.trust import stamp

    locale = _locale(arguments)
    stamped = stamp(arguments.source, arguments.trust)
    where = find_zone(arguments.zone)
    parser = dsl.OperationParser(where, system_clock, lambda: locale, stamped)
    shared = {
        name: given for name in ("by", "why") if (given := getattr(arguments, name)) is not None
    }
    file = arguments.file
    lines = sys.stdin if file == "-" else Path(file).read_text(encoding="utf-8").split("\n")
    try:
        groups = parser.parse_lines(lines)  # an error anywhere in the file creates no store
    except InputError as error:
        raise InputError(f"{file}: {error}") from error
    if not groups:
        say(f"{file} has no operations: nothing recorded")
        return 1
    records = 0
    with open_store(arguments) as store:
        agent = agent_to_write(store, arguments)
        for done, group in enumerate(groups):
            notes = [shared | note for note in group.notes]
            try:
                records += agent.engine.writable().transact(
                    group.operations, notes, group.recorded_at, group.where
                )
            except InputError as error:
                before = f"; recorded before it: {counted(done, 'transaction')}" if done else ""
                raise InputError(f"{file}: {error}{before}") from error
    operations = sum(len(group.operations) for group in groups)
    show(
        arguments,
        f"{counted(operations, 'operation')} in {counted(len(groups), 'transaction')} for "
        f"{arguments.agent}: {counted(records, 'new record')}",
        operations=operations,
        transactions=len(groups),
        records=records,
    )
    return 0


def _locale(arguments: Arguments) -> str:
    """Return the locale of the agent, without making a store if there is none."""
    from recollex_engine.dates.locales import DAY_FIRST

    if not (Path(arguments.store) / "store.json").exists():
        return DAY_FIRST
    with open_store(arguments, read_only=True) as store:
        return store.agent(arguments.agent).engine.locale()


def _memoread_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add("id", help="of a fact, event, episode or memory, or the name of an entity")
    _add_cut(parser)
    add("--history", action="store_true", help="every version of a fact")


def memoread(arguments: Arguments) -> int:
    """Print what an id or a name means in a cut; 1 if the cut does not have it."""
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        cut = _cut(arguments)
        if arguments.history:
            history = agent.facts.history(arguments.id, as_recorded=cut["as_recorded"])
            _print(arguments, {"facts": [_plain(fact) for fact in history]})
            return 0
        found = _read(agent, arguments.id, cut)
        if found is None:
            say(f"{arguments.agent} has nothing that is called {printable(arguments.id)!r} there")
            return 1
        _print(arguments, found)
        return 0


def _read(agent: "recollex.Agent", id: str, cut: dict[str, Any]) -> dict[str, Any] | None:
    """Return the item with this id, or the entity of this name with its facts and events."""
    then = cut["as_recorded"]
    for kind, get in (
        ("fact", agent.facts.get),
        ("event", agent.events.get),
        ("episode", agent.events.get_episode),
    ):
        try:
            return {kind: get(id, **cut).to_dict()}
        except UnknownIdError:
            continue
    try:
        memory = (agent if then is None else agent.at(then)).get(id)
    except UnknownIdError:
        memory = None
    if memory is not None and _holds(memory, cut["as_world"]):
        return {"memory": memory.to_dict()}
    try:
        entity = agent.facts.entity(id, **cut)
    except UnknownIdError:
        return None
    return {"entity": entity.to_dict()} | _about(agent, [id], cut, None)


def _memosearch_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add("query", help="a question; the names in it choose facts and events")
    _add_cut(parser)
    add("--top", type=count, default=10, metavar="N", help="shown of each kind (10)")
    add_embedder(parser)


def memosearch(arguments: Arguments) -> int:
    """Print the facts and events that a question asks for or names, and memories."""
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        cut = _cut(arguments)
        names = _names(agent, arguments.query, cut)
        found: dict[str, Any] = _searched(agent, arguments.query, cut, arguments.top)
        for kind, items in _about(agent, names, cut, arguments.top).items():
            known = {item["id"] for item in found[kind]}
            found[kind] += [item for item in items if item["id"] not in known]
            del found[kind][arguments.top :]
        memories = agent.recall(arguments.query, **cut)[: arguments.top]
        found["memories"] = [memory.to_dict() for memory in memories]
        _print(arguments, found)
        if not any(found.values()):
            question = printable(arguments.query)
            say(f"{arguments.agent} has no facts, events or memories for {question!r}")
        return 0


def _holds(memory: "recollex.Memory", at: datetime | None) -> bool:
    """Return whether a memory's event had begun, and had not ended, at a time of the world."""
    if at is None:
        return True
    return memory.event[0] <= at and (memory.valid_until is None or at < memory.valid_until)


def _names(agent: "recollex.Agent", query: str, cut: dict[str, Any]) -> list[str]:
    """Return the runs of up to four words of a question that are names in the cut."""
    view = agent.facts.view(**cut)
    words = [word.strip('?!.,;:"()') for word in query.split()]
    runs = [" ".join(words[i : i + n]) for n in (4, 3, 2, 1) for i in range(len(words) - n + 1)]
    return list(dict.fromkeys(run for run in runs if run and view.entity(run) is not None))


def _searched(agent: "recollex.Agent", query: str, cut: dict[str, Any], top: int) -> dict[str, Any]:
    """Return the facts and events of a cut that say most of what a question asks for."""
    events = agent.events.search(query, limit=top, **cut)
    facts = agent.facts.search(query, limit=top, **cut)
    return {
        "events": [hit.item.to_dict() for hit in events],
        "facts": [hit.item.to_dict() for hit in facts],
    }


def _about(
    agent: "recollex.Agent",
    names: Iterable[str],
    cut: dict[str, Any],
    top: int | None,
) -> dict[str, Any]:
    """Return the facts and events of a cut that name one of ``names``."""
    facts: dict[str, Fact] = {}
    events: dict[str, Event] = {}
    for name in names:
        for found in (agent.facts.find(subject=name, **cut), agent.facts.find(object=name, **cut)):
            facts |= {fact.id: fact for fact in found}
        events |= {event.id: event for event in agent.events.find(participant=name, **cut)}
    for fact in list(facts):
        events |= {event.id: event for event in agent.events.find(fact=fact, **cut)}
    return {
        "events": [event.to_dict() for event in list(events.values())[:top]],
        "facts": [fact.to_dict() for fact in list(facts.values())[:top]],
    }


def _add_cut(parser: Parser) -> None:
    add_agent(parser)
    add_zone(parser)
    parser.add_argument("--as-recorded", metavar="TIME", help="what was known at this time")
    parser.add_argument("--as-world", metavar="TIME", help="what was true at this time")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _cut(arguments: Arguments) -> dict[str, Any]:
    return {
        "as_recorded": time_option(arguments, "as_recorded"),
        "as_world": time_option(arguments, "as_world"),
    }


def _plain(fact: "Fact") -> dict[str, Any]:
    """Return a version of a fact, without its conflicts: those of a past version are unknown."""
    return {name: value for name, value in fact.to_dict().items() if name != "conflicts"}


def _print(arguments: Arguments, found: dict[str, Any]) -> None:
    if arguments.json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
        return
    for kind, items in found.items():
        for item in items if isinstance(items, list) else [items]:
            print(printable(f"{_ONE.get(kind, kind)}  {_line(kind, item)}"))


_ONE = {"facts": "fact", "events": "event", "memories": "memory"}


def _line(kind: str, item: dict[str, Any]) -> str:
    """Return one item as a line of text."""
    if kind in ("fact", "facts"):
        return _fact_line(item)
    if kind in ("event", "events"):
        names = ", ".join(each["name"] for each in item["participants"])
        parts = [
            item["summary"],
            item["status"],
            _span(item["span"]),
            f"with {names}" if names else "",
            counted(len(item["facts"]), "fact"),
            item["id"],
        ]
    elif kind == "episode":
        events = counted(len(item["events"]), "event")
        parts = [item["title"], _span(item["window"]), events, item["id"]]
    elif kind == "entity":
        parts = [item["name"], ", ".join(item["types"]), ", ".join(item["aliases"])]
    else:
        parts = [item["text"], item["event_at"], item["id"]]
    return " | ".join(part for part in parts if part)


def _fact_line(item: dict[str, Any]) -> str:
    """Return a fact, as `Fact.to_dict` gives it, as a line of text."""
    clash = ", ".join(str(each["object"]) for each in item.get("conflicts", ()))
    parts = [
        f"{item['subject']} {item['predicate']} {item['object']}",
        f"valid {_span(item['valid'])}",
        f"recorded {_span(item['recorded'])}",
        f"evidence {', '.join(item['evidence'])}" if item["evidence"] else "",
        f"why {item['why']}" if item["why"] else "",
        f"conflicts with {clash}" if clash else "",
        item["id"],
    ]
    return " | ".join(part for part in parts if part)


def _span(span: list[str | None]) -> str:
    start, end = (each or "..." for each in span)
    return f"{start} to {end}"


def _facts_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add("--subject", metavar="NAME", help="only facts about this")
    add("--predicate", metavar="NAME", help="only this predicate")
    add("--object", metavar="NAME", help="only this entity as the object")
    add("--literal", metavar="JSON", help="only this literal as the object: 3, true, '\"blue\"'")
    add("--evidence", action="append", metavar="ID", help="only what cites this memory, or several")
    for end, did in (("start", "began"), ("end", "ceased")):
        add(
            f"--{end}",
            action="append",
            metavar="TIME",
            help=f"only what {did} to be true then: 2024, 2024-05 or 2024-05-04, "
            f'also as "lt 2024", with le, eq, ge, gt or "exists true"; all, if given again',
        )
    add("--order-by", default="recorded", metavar="BY", help="recorded (default), start or end")
    add("--descending", action="store_true", help="in the opposite order")
    add("--limit", type=count, default=100, metavar="N", help="at most N (100)")
    add("--offset", type=int, default=0, metavar="N", help="skip the first N")
    add("--count", action="store_true", help="only print how many there are")
    add("--distinct", metavar="PART", help="only print how many subjects, predicates or objects")
    add("--values", metavar="PART", help="only print how many facts have each subject, ...")
    add_zone(parser)
    add("--as-recorded", metavar="TIME", help="what was known at this time")
    add("--as-world", metavar="TIME", help="what was true at this time")
    add("--json", action="store_true", help="print each as one JSON object")


def facts(arguments: Arguments) -> int:
    """Print the facts that meet all conditions; 1 if there are none."""
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        asked = _conditions(arguments)
        if arguments.count or arguments.distinct is not None:
            many = agent.facts.count(distinct=arguments.distinct, **asked)
            print(json.dumps({"count": many}) if arguments.json else f"{many:,}")
            return 0 if many else 1
        if arguments.values is not None:
            counts = agent.facts.value_counts(arguments.values, **asked)
            if arguments.json:
                print(json.dumps(counts, ensure_ascii=False))
            else:
                for value, many in counts.items():
                    print(f"{many:>9,}  {printable(value)}")
            return 0 if counts else _nothing(agent, arguments, asked)
        found = agent.facts.find(
            order_by=arguments.order_by,
            descending=arguments.descending,
            limit=arguments.limit,
            offset=arguments.offset,
            **asked,
        )
        for fact in found:
            said = fact.to_dict()
            print(
                json.dumps(said, ensure_ascii=False)
                if arguments.json
                else printable(_fact_line(said))
            )
        return 0 if len(found) else _nothing(agent, arguments, asked)


def _nothing(agent: "recollex.Agent", arguments: Arguments, asked: dict[str, Any]) -> int:
    """Say that no fact meets the conditions, and which of their names no fact has at all."""
    cut = {name: asked[name] for name in ("as_recorded", "as_world")}
    hint = ""
    for part in ("subject", "predicate", "object"):
        name = asked.get(part)
        if isinstance(name, str) and not agent.facts.count(**{part: name}, **cut):
            known = [str(each) for each in agent.facts.value_counts(part, **cut)]
            hint = f", none with the {part} {name!r}{did_you_mean(name, known)}" if known else ""
            break
    say(printable(f"{arguments.agent} has no facts like that{hint}"))
    return 1


def _conditions(arguments: Arguments) -> dict[str, Any]:
    """Return the conditions that were given, as arguments of the API. Raises `InputError`."""
    from recollex_engine.domain.literals import Text

    found: dict[str, Any] = {
        name: getattr(arguments, name)
        for name in ("subject", "predicate", "object", "evidence")
        if getattr(arguments, name) is not None
    }
    if arguments.literal is not None:
        if arguments.object is not None:
            raise InputError("--object names an entity and --literal a literal: give one of them")
        try:
            value = parse_json(arguments.literal)
        except InputError:
            raise InputError(
                f"--literal must be JSON, such as 3 or '\"blue\"', got {arguments.literal[:80]!r}"
            ) from None
        found["object"] = Text(value) if isinstance(value, str) else value
    zone = find_zone(arguments.zone)
    for end in ("start", "end"):
        if (given := getattr(arguments, end)) is not None:
            found[end] = _condition(given, zone, f"--{end}")
    found |= {name: time_option(arguments, name) for name in ("as_recorded", "as_world")}
    return found


def _condition(given: list[str], zone: tzinfo, name: str) -> dict[str, Any]:
    """Return the operators of an option that may be given several times."""
    from recollex_engine.domain.intervals import OPERATORS, read_period

    found: dict[str, Any] = {}
    for written in given:
        first, _, rest = written.partition(" ")
        operator, operand = (first, rest.strip()) if first in OPERATORS else ("eq", written)
        if rest and first.isalpha() and first not in OPERATORS:
            raise InputError(f"{name} has no operator {first!r:.80}, only {', '.join(OPERATORS)}")
        if operator in found:
            raise InputError(f"{name} has {operator} twice: {written!r}")
        if operator == "exists":
            if operand not in ("true", "false"):
                raise InputError(f'{name} must be "exists true" or "exists false", got {written!r}')
            found[operator] = operand == "true"
        else:
            is_moment = read_period(operand, name) is None
            found[operator] = parse_time(operand, zone, name) if is_moment else operand
    return found


def _undo_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add("op", type=count, help="the number of the operation, as `recollex log` shows it")
    add_agent(parser)
    add("--by", metavar="WHO", help="who undoes it, for the log")
    add("--why", metavar="REASON", help="why, for the log")


def undo(arguments: Arguments) -> int:
    """Undo an operation on facts or events; 1 if there is no such agent."""
    with existing_agent(arguments, write=True) as agent:
        if agent is None:
            return 1
        records = agent.facts.undo(arguments.op, by=arguments.by, why=arguments.why)
    said = f"operation {arguments.op} undone: {counted(records, 'new record')}"
    show(arguments, said, op=arguments.op, records=records)
    return 0


COMMANDS = (
    Command(
        "apply",
        "record facts, events and memories from a file of operations",
        [
            "apply memory/ operations.jsonl --by importer",
            "apply memory/ - --agent bob < operations.jsonl",
        ],
        _apply_options,
        apply,
        _OPERATIONS,
    ),
    Command(
        "memowrite",
        "the same as apply, under MemoTrace's name",
        ["memowrite memory/ operations.jsonl"],
        _apply_options,
        apply,
    ),
    Command(
        "memoread",
        "show a fact, event, episode, memory or entity as of a cut",
        [
            'memoread memory/ "Alice" --as-world 2023-05-03',
            "memoread memory/ 22515a9e-4f62-5e5e-84dd-0bf6a649c1e1 --history",
        ],
        _memoread_options,
        memoread,
    ),
    Command(
        "memosearch",
        "find facts, events and memories that bear on a question",
        ['memosearch memory/ "Where did Alice work?" --as-recorded 2023-05-03'],
        _memosearch_options,
        memosearch,
    ),
    Command(
        "facts",
        "find or count facts by subject, predicate, object, start and end",
        [
            "facts memory/ --subject Alice --predicate works_at",
            'facts memory/ --start "ge 2023" --end "lt 2024-06" --order-by start --limit 5',
            "facts memory/ --object Google --distinct subject",
            "facts memory/ --values predicate --as-recorded 2024-05-03",
        ],
        _facts_options,
        facts,
    ),
    Command(
        "undo",
        "record facts and events again as they were before an operation",
        ['undo memory/ 412 --by ann --why "She only stayed a week."', "undo memory/ 7 --agent bob"],
        _undo_options,
        undo,
    ),
)
