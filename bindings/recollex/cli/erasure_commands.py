"""The subcommands that change what is kept: amend, forget, erase; audit says who did what when."""

import json
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import recollex
from recollex.api.keys import given_key
from recollex.api.plurals import counted
from recollex.cli.existing_store import existing_agent
from recollex.cli.filter_options import filters_of, json_option
from recollex.cli.parser import Arguments
from recollex.cli.terminal import printable, say, show
from recollex.cli.time_options import span_option, time_option
from recollex_engine.agents import logbook
from recollex_engine.domain.erasure import Erasure
from recollex_engine.domain.schema import CLOSING, ERASE


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
    with existing_agent(arguments, write=True) as agent:
        if agent is None:
            return 1
        agent.amend(arguments.id, **changes, by=arguments.by, why=arguments.why)
    show(arguments, f"{printable(arguments.id)} of {arguments.agent} amended", id=arguments.id)
    return 0


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
                *(arguments.store, folder, arguments.agent),
                by=arguments.by,
                why=arguments.why,
                key=given_key(arguments.key_file),
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


def _said(erasure: Erasure) -> str:
    return (
        f"{counted(erasure.memories, 'memory')} ({counted(erasure.passages, 'passage')}), "
        f"{counted(erasure.facts, 'fact')} and {counted(erasure.events, 'event')}"
    )


def audit(arguments: Arguments) -> int:
    """Print who did what to an agent's memory when, without any of its content."""
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        since, until = span_option(arguments)
        printed = 0
        for line in _audited(logbook.entries(agent.engine, since, until)):
            printed += 1
            print(json.dumps(line, ensure_ascii=False) if arguments.json else _line(line))
        if not printed:
            say(f"none: nothing was done to {arguments.agent} at these times")
        return 0


def _audited(entries: Iterable[recollex.LogEntry]) -> Iterator[dict[str, Any]]:
    """Yield what each transaction did, of one kind by one hand: the number, and no content."""

    def alike(entry: recollex.LogEntry) -> tuple[Any, ...]:
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


def _line(line: dict[str, Any]) -> str:
    parts = [f"{line['op']:>6}  {line['recorded_at']}  {line['kind']:<8}  {line['count']:>6,}"]
    parts += [f"by {printable(line['by'])}"] if line["by"] is not None else []
    parts += [f"({printable(line['why'])})"] if line["why"] is not None else []
    return "  ".join(parts)
