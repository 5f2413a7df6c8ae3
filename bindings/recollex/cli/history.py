"""The commands for an agent's past: log, audit, diff, snapshot, replay."""

import json
import textwrap
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby
from typing import Any

import recollex
from recollex.api.iso_times import find_zone, parse_time
from recollex.api.plurals import counted
from recollex.cli.existing_store import existing_agent, key_of
from recollex.cli.options import (
    add_agent,
    add_embedder,
    add_key_file,
    add_store,
    add_zone,
    span_option,
)
from recollex.cli.parser import Arguments, Command, Parser, did_you_mean
from recollex.cli.terminal import printable, say, show, terminal_width
from recollex_engine.errors import InputError


def _log_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add_zone(parser)
    add("--since", metavar="TIME", help="only what was recorded at or after this")
    add("--until", metavar="TIME", help="only what was recorded before this")
    add(
        "--op",
        action="append",
        metavar="KIND",
        help="only this kind, as forget; may be given again",
    )
    add("--json", action="store_true", help="print each as one JSON object, with all its record")


def log(arguments: Arguments) -> int:
    """Print the operations of an agent's log, one a line."""
    from recollex_engine.agents import logbook

    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        chosen = None if arguments.op is None else [kind.lower() for kind in arguments.op]
        for kind in chosen or ():
            if kind not in logbook.KINDS:
                hint = did_you_mean(kind, list(logbook.KINDS))
                raise InputError(f"there is no operation {kind!r}{hint}")
        since, until = span_option(arguments)
        printed = 0
        for entry in logbook.entries(agent.engine, since, until, chosen):
            printed += 1
            if arguments.json:
                print(json.dumps(entry.to_dict(), ensure_ascii=False))
            else:
                print(_log_line(entry))
        if not printed:
            what = "operations" if chosen is None else " or ".join(chosen)
            then = "" if since is None and until is None else " at these times"
            say(f"none: the log of {arguments.agent} has no {what}{then}")
        return 0


def _log_line(entry: "recollex.LogEntry") -> str:
    """Return an operation on one line: number, time, kind, what it changed, who and why."""
    parts = [f"{entry.op:>6}  {entry.recorded_at.isoformat()}  {entry.kind:<8}"]
    if entry.ids:
        shown = ", ".join(entry.ids[:3]) + (
            f" and {len(entry.ids) - 3:,} more" if entry.ids[3:] else ""
        )
        parts.append(printable(shown))
    if entry.payload is not None and (said := _said(entry.payload)):
        parts.append(
            printable(json.dumps(textwrap.shorten(said, 60, placeholder="..."), ensure_ascii=False))
        )
    if entry.by is not None:
        parts.append(f"by {printable(entry.by)}")
    if entry.why is not None:
        parts.append(f"({printable(entry.why)})")
    return "  ".join(parts).rstrip()


def _said(payload: dict[str, Any]) -> str | None:
    """Return what an operation records, as a text; None for one that records nothing."""
    if "predicate" in payload:
        ((kind, value),) = payload["object"].items()
        value = value[0] if kind == "entity" else value
        return f"{payload['subject'][0]} {payload['predicate']} {value}"
    if "relation" in payload:
        target = payload["target"]
        return f"{payload['relation']} {target[0] if isinstance(target, list) else target}"
    said: str | None = payload.get("text", payload.get("summary"))
    return said


def _audit_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add_zone(parser)
    add("--since", metavar="TIME", help="only what was recorded at or after this")
    add("--until", metavar="TIME", help="only what was recorded before this")
    add("--json", action="store_true", help="print each as one JSON object")


def audit(arguments: Arguments) -> int:
    """Print who did what to an agent's memory when, without any of its content."""
    from recollex_engine.agents import logbook

    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        since, until = span_option(arguments)
        printed = 0
        for line in _audited(logbook.entries(agent.engine, since, until)):
            printed += 1
            print(json.dumps(line, ensure_ascii=False) if arguments.json else _audit_line(line))
        if not printed:
            say(f"none: nothing was done to {arguments.agent} at these times")
        return 0


def _audited(entries: "Iterable[recollex.LogEntry]") -> Iterator[dict[str, Any]]:
    """Yield what each transaction did, of one kind by one hand: the number, and no content."""
    from recollex_engine.domain.schema import CLOSING, ERASE

    def alike(entry: "recollex.LogEntry") -> tuple[Any, ...]:
        return entry.recorded_at, entry.kind, entry.by, entry.why

    for (at, kind, by, why), group in groupby(entries, alike):
        members = list(group)
        line: dict[str, Any] = {
            "op": members[0].op,
            "recorded_at": at.isoformat(),
            "kind": kind,
            "count": sum(len(each.ids) or 1 if kind in CLOSING else 1 for each in members),
            "by": by,
            "why": why,
        }
        if kind == ERASE:
            said = members[0].payload or {}
            counts = ("memories", "passages", "facts", "events")
            line["erased"] = {name: said.get(name, 0) for name in counts}
            line["count"] = sum(said.get(name, 0) for name in ("memories", "facts", "events"))
        yield line


def _audit_line(line: dict[str, Any]) -> str:
    parts = [f"{line['op']:>6}  {line['recorded_at']}  {line['kind']:<8}  {line['count']:>6,}"]
    parts += [f"by {printable(line['by'])}"] if line["by"] is not None else []
    parts += [f"({printable(line['why'])})"] if line["why"] is not None else []
    return "  ".join(parts)


def _diff_options(parser: Parser) -> None:
    add_store(parser)
    parser.add_argument("earlier", metavar="T1", help="a recorded time: 2024-05-01, or with a time")
    parser.add_argument("later", metavar="T2", nargs="?", help="a later one (now)")
    add_agent(parser)
    add_zone(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def diff(arguments: Arguments) -> int:
    """Print the memories, facts and events that began or ended between two times."""
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        found = agent.diff(
            _moment(arguments, "earlier", "T1"),
            _moment(arguments, "later", "T2") if arguments.later else None,
        )
        if arguments.json:
            print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
        else:
            _print_memories(found)
            _print_facts(found)
        if not found:
            say(f"nothing changed in what {arguments.agent} knew between these times")
        return 0


def _print_memories(found: "recollex.Difference") -> None:
    for sign, memories in (("-", found.closed), ("+", found.added)):
        for memory in memories:
            print(_change(sign, memory))


def _print_facts(found: "recollex.Difference") -> None:
    """Print facts and events that began (+) or ended (-), one a line."""
    for sign, facts in (("-", found.closed_facts), ("+", found.added_facts)):
        for fact in facts:
            at = fact.recorded[1] if sign == "-" and fact.recorded[1] else fact.recorded[0]
            said = f"{fact.subject} {fact.predicate} {fact.object}"
            who = fact.closed_by if sign == "-" else fact.by
            why = fact.closed_why if sign == "-" else fact.why
            print(_one_line(sign, at, "fact", fact.id, said, who, why))
    for sign, events in (("-", found.closed_events), ("+", found.added_events)):
        for event in events:
            print(_one_line(sign, event.recorded[0], "event", event.id, event.summary, None, None))


def _one_line(
    sign: str,
    at: datetime,
    kind: str,
    id: str,
    said: str,
    by: str | None,
    why: str | None,
) -> str:
    parts = [f"{kind} {id}", said]
    parts += [f"by {by}"] if by is not None else []
    parts += [f"({why})"] if why is not None else []
    return f"{sign} {at.isoformat()}  " + "  ".join(map(printable, parts))


def _change(sign: str, memory: "recollex.Memory") -> str:
    """Return a memory that began (+) or ended (-), and how it ended."""
    closed = memory.closed
    at = memory.recorded_at if closed is None or sign == "+" else closed.at
    head = f"{sign} {at.isoformat()}  {printable(memory.id)}"
    if sign == "-" and closed is not None:
        head += f"  {closed.how}"
        head += f" by {printable(closed.by)}" if closed.by is not None else ""
        head += f" ({printable(closed.why)})" if closed.why is not None else ""
    text = textwrap.shorten(printable(memory.text), 3 * terminal_width(), placeholder=" ...")
    return (
        head
        + "\n"
        + textwrap.fill(text, terminal_width(), initial_indent="    ", subsequent_indent="    ")
    )


def _snapshot_options(parser: Parser) -> None:
    add_store(parser)
    parser.add_argument("time", metavar="T", help="a recorded time: 2024-05-01, or with a time")
    parser.add_argument("folder", metavar="DIR", help="the new store: not there yet, or empty")
    add_agent(parser)
    add_zone(parser)


def snapshot(arguments: Arguments) -> int:
    """Create a store that holds an agent as of a time."""
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        then = _moment(arguments, "time", "T")
        agent.snapshot(then, arguments.folder)
        counts = agent.at(then).stats()
        show(
            arguments,
            f"{arguments.agent} as of {then.isoformat()} is in {arguments.folder}: "
            f"{counted(counts.operations, 'operation')}, {counted(counts.memories, 'memory')}",
            folder=arguments.folder,
            operations=counts.operations,
            memories=counts.memories,
        )
        return 0


def _moment(arguments: Arguments, option: str, name: str) -> datetime:
    return parse_time(getattr(arguments, option), find_zone(arguments.zone), name)


def _replay_options(parser: Parser) -> None:
    add = parser.add_argument
    add("log", metavar="LOG", help="STORE/agents/NAME, its log folder, or one file of a log")
    add("folder", metavar="DIR", help="the new store: not there yet, or empty")
    add("--agent", default="default", metavar="NAME", help="what to call the agent (default)")
    add(
        "--clamp-times",
        action="store_true",
        help="give operations of a clock that was ahead the present as their recorded time",
    )
    add_key_file(parser)
    add_embedder(parser)


def replay(arguments: Arguments) -> int:
    """Rebuild an agent from its log."""
    operations = recollex.replay(
        arguments.log,
        arguments.folder,
        agent_id=arguments.agent,
        embedder=arguments.embedder,
        key=key_of(arguments),
        clamp_times=arguments.clamp_times,
    )
    said = (
        f"{counted(operations, 'operation')} replayed for {arguments.agent} in {arguments.folder}"
    )
    show(arguments, said, folder=arguments.folder, operations=operations)
    return 0


COMMANDS = (
    Command(
        "log",
        "list what was done to an agent's memory: when, by whom and why",
        [
            "log memory/",
            "log memory/ --op forget --op retro_correct --since 2024-05-01",
            "log memory/ --json > log.jsonl",
        ],
        _log_options,
        log,
    ),
    Command(
        "audit",
        "list who did what to an agent's memory, and when, without its content",
        ["audit memory/", "audit memory/ --since 2024-05-01 --json"],
        _audit_options,
        audit,
    ),
    Command(
        "diff",
        "show what changed in what was known between two times",
        ["diff memory/ 2024-05-01 2024-06-01", "diff memory/ 2024-05-01T18:00 --zone Europe/Paris"],
        _diff_options,
        diff,
    ),
    Command(
        "snapshot",
        "make a store that holds an agent as of a time",
        ["snapshot memory/ 2024-05-01 may/", "snapshot memory/ 2024-05-01 may/ --agent bob"],
        _snapshot_options,
        snapshot,
    ),
    Command(
        "replay",
        "rebuild an agent from its log, with the vectors beside it or new ones",
        [
            "replay memory/agents/default rebuilt/",
            "replay saved/00000001.jsonl rebuilt/ --agent bob",
        ],
        _replay_options,
        replay,
    ),
)
