"""The subcommand `facts`: find or count facts by their parts and times."""

import json
from datetime import tzinfo
from typing import Any

import recollex
from recollex.api.foreign_files import parse_json
from recollex.api.iso_times import find_zone, parse_time
from recollex.cli.existing_store import existing_agent
from recollex.cli.fact_commands import fact_line
from recollex.cli.parser import Arguments, did_you_mean
from recollex.cli.terminal import printable, say
from recollex.cli.time_options import time_option
from recollex_engine.domain.literals import Text
from recollex_engine.domain.time_conditions import OPERATORS, read_period
from recollex_engine.errors import InputError


def facts(arguments: Arguments) -> int:
    """Print the facts that meet all conditions; 1 if there are none."""
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        asked = _conditions(arguments)
        if arguments.count or arguments.distinct is not None:
            count = agent.facts.count(distinct=arguments.distinct, **asked)
            print(json.dumps({"count": count}) if arguments.json else f"{count:,}")
            return 0 if count else 1
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
                else printable(fact_line(said))
            )
        return 0 if len(found) else _nothing(agent, arguments, asked)


def _nothing(agent: recollex.Agent, arguments: Arguments, asked: dict[str, Any]) -> int:
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
