"""The options that narrow what a subcommand reads or erases: the filter of the API."""

from typing import Any

from recollex.api.foreign_files import parse_json
from recollex.cli.parser import Arguments, Parser
from recollex.cli.time_options import time_option
from recollex_engine.errors import InputError

_LISTS = {
    "tag": ("tags", "TAG", "only with this tag; with all, if given again"),
    "any_tag": ("any_tags", "TAG", "only with this tag, or one of several"),
    "no_tag": ("no_tags", "TAG", "only without this tag; may be given again"),
    "document": ("document_id", "ID", "only of this document; may be given again"),
    "network": ("network", "NETWORK", "only world, agent or opinion; may be given again"),
    "role": ("roles", "ROLE", "only turns of the user, or assistant, system, tool"),
    "speaker": ("speakers", "NAME", "only what this speaker said; may be given again"),
    "source": ("source", "SOURCE", "only of this source; may be given again"),
    "entity": ("entities", "NAME", "only if it names this; all, if given again"),
}
"""Option -> the argument of the API, the option's value and its help."""
_TIMES = {
    "since": "only what happened at or after this",
    "until": "only what happened before this",
    "recorded_since": "only what was recorded at or after this",
    "recorded_until": "only what was recorded before this",
    "ends_after": "only what is valid for longer than this, or without end",
    "ends_by": "only what ceased to be valid by this time",
    "as_world": "only what was so then, by what is known",
}


def add_filters(parser: Parser) -> None:
    """Add the options of a filter; the parser has ``--zone`` too."""
    add = parser.add_argument
    for option, (_, value, about) in _LISTS.items():
        add(f"--{option.replace('_', '-')}", action="append", metavar=value, help=about)
    add("--trust", help="only what is trusted as user, assistant, tool or web, or more")
    for option, about in _TIMES.items():
        add(f"--{option.replace('_', '-')}", metavar="TIME", help=about)
    add("--where", metavar="JSON", help='metadata: {"kind": "mail", "n": {"gt": 2}}')


def filters_of(arguments: Arguments) -> dict[str, Any]:
    """Return the filters that were given, as arguments of the API. Raises `InputError`."""
    found = {name: getattr(arguments, option) for option, (name, _, _) in _LISTS.items()}
    found |= {name: time_option(arguments, name) for name in _TIMES}
    found |= {"trust": arguments.trust, "where": json_option(arguments.where, "--where")}
    return {name: value for name, value in found.items() if value is not None}


def json_option(written: str | None, name: str) -> Any:
    """Return the JSON object of an option; None if it was not given. Raises `InputError`."""
    if written is None:
        return None
    try:
        return parse_json(written)
    except InputError:
        raise InputError(
            f'{name} must be a JSON object, such as {{"kind": "mail"}}, got {written[:80]!r}'
        ) from None
