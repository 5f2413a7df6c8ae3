"""The subcommand about retention rules: it shows, sets and applies them."""

import json
from datetime import timedelta

import recollex
from recollex.api.plurals import counted
from recollex.cli.existing_store import existing_agent
from recollex.cli.parser import Arguments
from recollex.cli.terminal import say
from recollex_engine.errors import InputError


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
            forgotten, erased = counted(done.forgotten, "memory"), counted(done.erased, "version")
            say(f"{forgotten} forgotten, {erased} erased")
        rules = agent.retention()
        for each in rules:
            print(json.dumps(each.to_dict()) if arguments.json else _said(each))
        if not rules:
            say(f"{arguments.agent} has no retention rules: everything is kept")
        return 0 if rules or changes or arguments.apply else 1


def _rule(arguments: Arguments) -> recollex.Retention | None:
    """Return the rule that the options describe; None if they describe none."""
    days, count = arguments.age_days, arguments.count
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


def _said(rule: recollex.Retention) -> str:
    return f"{rule.why}: {'erase' if rule.erase else 'forget'}"
