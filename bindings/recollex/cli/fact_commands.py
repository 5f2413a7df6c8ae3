"""The subcommands for facts and events: apply, and memowrite, memoread, memosearch.

MemoTrace names its commands memowrite, memoread and memosearch. They are subcommands here, and
scripts as well, so that programs written for the paper's commands find them.
"""

import json
import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import recollex
from recollex.api import dsl
from recollex.api.iso_times import find_zone
from recollex.api.plurals import counted
from recollex.cli.existing_store import agent_to_write, existing_agent, open_store
from recollex.cli.parser import Arguments
from recollex.cli.terminal import printable, say, show
from recollex.cli.time_options import time_option
from recollex_engine.clock import system_clock
from recollex_engine.dates.locales import DAY_FIRST
from recollex_engine.domain.trust import stamp
from recollex_engine.errors import InputError, UnknownIdError
from recollex_engine.facts.events import Event
from recollex_engine.facts.facts import Fact


def apply(arguments: Arguments) -> int:
    """Record a file of operations, one transaction at a time."""
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


memowrite = apply


def _locale(arguments: Arguments) -> str:
    """Return the locale of the agent, without making a store if there is none."""
    if not (Path(arguments.store) / "store.json").exists():
        return DAY_FIRST
    with open_store(arguments, read_only=True) as store:
        return store.agent(arguments.agent).engine.locale()


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


def _read(agent: recollex.Agent, id: str, cut: dict[str, Any]) -> dict[str, Any] | None:
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


def _holds(memory: recollex.Memory, at: datetime | None) -> bool:
    """Return whether a memory's event had begun, and had not ended, at a time of the world."""
    if at is None:
        return True
    return memory.event[0] <= at and (memory.valid_until is None or at < memory.valid_until)


def _names(agent: recollex.Agent, query: str, cut: dict[str, Any]) -> list[str]:
    """Return the runs of up to four words of a question that are names in the cut."""
    view = agent.facts.view(**cut)
    words = [word.strip('?!.,;:"()') for word in query.split()]
    runs = [" ".join(words[i : i + n]) for n in (4, 3, 2, 1) for i in range(len(words) - n + 1)]
    return list(dict.fromkeys(run for run in runs if run and view.entity(run) is not None))


def _searched(agent: recollex.Agent, query: str, cut: dict[str, Any], top: int) -> dict[str, Any]:
    """Return the facts and events of a cut that say most of what a question asks for."""
    events = agent.events.search(query, limit=top, **cut)
    facts = agent.facts.search(query, limit=top, **cut)
    return {
        "events": [hit.item.to_dict() for hit in events],
        "facts": [hit.item.to_dict() for hit in facts],
    }


def _about(
    agent: recollex.Agent,
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


def _cut(arguments: Arguments) -> dict[str, Any]:
    return {
        "as_recorded": time_option(arguments, "as_recorded"),
        "as_world": time_option(arguments, "as_world"),
    }


def _plain(fact: Fact) -> dict[str, Any]:
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
        return fact_line(item)
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


def fact_line(item: dict[str, Any]) -> str:
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
