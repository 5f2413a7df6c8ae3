"""Options that several commands share: functions that add them to a parser, and read their values.

Nothing slow is imported here: `recollex --help` answers before numpy could be loaded.
"""

import argparse
from datetime import datetime
from typing import Any

from recollex.api.conditions import CONDITIONS
from recollex.api.foreign_files import parse_json
from recollex.api.iso_times import find_zone, parse_time
from recollex.cli.parser import Arguments, Parser
from recollex_engine.clock import to_micros
from recollex_engine.domain.fields import GIVEN
from recollex_engine.errors import InputError


def add_store(parser: Parser) -> None:
    """Add the argument that names the store, and the option for the key of its agents."""
    parser.add_argument("store", help="the folder of the store; or --store FOLDER")
    add_key_file(parser)


def add_key_file(parser: Parser) -> None:
    """Add the option that names the file of a key."""
    parser.add_argument(
        "--key-file", metavar="FILE", help="key of encrypted agents (RECOLLEX_KEY, if not given)"
    )


def add_agent(parser: Parser, default: str = "default") -> None:
    """Add the option that names the agent."""
    parser.add_argument(
        "--agent", default=default, metavar="NAME", help=f"whose memory ({default})"
    )


def add_zone(parser: Parser) -> None:
    """Add the option that names the zone of times without one."""
    parser.add_argument(
        "--zone",
        default="UTC",
        metavar="ZONE",
        help="zone of times without an offset, as Europe/Paris (UTC)",
    )


def add_stamp(parser: Parser) -> None:
    """Add the options that say where what is written comes from."""
    add = parser.add_argument
    add("--source", metavar="WORD", help="user, assistant, tool, web or a word of your own")
    add("--trust", metavar="LEVEL", help="of a word of your own: user, assistant, tool or web")


def add_fields(parser: Parser) -> None:
    """Add the options for the fields of a memory."""
    for field in GIVEN:
        if field.option:
            more: dict[str, Any] = {}
            if field.form in ("names", "entities"):
                more["action"] = "append"
            metavar = "TIME" if field.form == "moment" else field.metavar
            parser.add_argument(
                field.option, dest=field.name, help=field.help, metavar=metavar, **more
            )


def fields_of(arguments: Arguments) -> dict[str, Any]:
    """Return the fields of a memory that were given."""
    found: dict[str, Any] = {}
    zone = find_zone(arguments.zone or "UTC")
    for field in GIVEN:
        if field.option and (value := getattr(arguments, field.name)) is not None:
            is_time = field.form == "moment"
            found[field.name] = parse_time(value, zone, field.option) if is_time else value
    return found


def add_language(parser: Parser) -> None:
    """Add the option that names the language of new agents."""
    parser.add_argument(
        "--language",
        metavar="NAME",
        help="of a new agent's words: german, arabic, none and others (english)",
    )


def add_embedder(parser: Parser) -> None:
    """Add the option that names the embedding model."""
    parser.add_argument(
        "--embedder",
        metavar="MODEL",
        help="name or folder of the embedding model, then :fp16 for a GPU; given:384 where lines "
        "bring vectors",
    )


def add_llm(parser: Parser, does: str = "answers") -> None:
    """Add the options that name a language model; does: what it does, for the help."""
    add = parser.add_argument
    add("--llm", metavar="NAME", help=f"the language model that {does} (RECOLLEX_LLM_MODEL)")
    add("--llm-url", metavar="URL", help="its endpoint (RECOLLEX_LLM_BASE_URL, or OpenAI's)")


def add_filters(parser: Parser) -> None:
    """Add the options of a filter; the parser has ``--zone`` too."""
    for each in CONDITIONS.values():
        again = each.kind not in ("trust", "time", "metadata")
        parser.add_argument(
            f"--{each.option.replace('_', '-')}",
            action="append" if again else "store",
            metavar=each.value,
            help=f"only if {each.about}" + ("; may be given again" if again else ""),
        )


def filters_of(arguments: Arguments) -> dict[str, Any]:
    """Return the filters that were given, as arguments of the API. Raises `InputError`."""
    found: dict[str, Any] = {}
    for name, each in CONDITIONS.items():
        if each.kind == "time":
            value: Any = time_option(arguments, each.option)
        else:
            value = getattr(arguments, each.option)
            if each.kind == "metadata":
                value = json_option(value, f"--{each.option}")
        if value is not None:
            found[name] = value
    return found


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


def span_option(arguments: Arguments) -> tuple[int | None, int | None]:
    """Return ``--since`` and ``--until`` in microseconds. Raises `InputError` for an empty span."""
    since = time_option(arguments, "since")
    until = time_option(arguments, "until")
    if since is not None and until is not None and since >= until:
        raise InputError(
            f"--since must be earlier than --until, got {since} and {until}: swap them"
        )
    return (
        None if since is None else to_micros(since, "--since"),
        None if until is None else to_micros(until, "--until"),
    )


def time_option(arguments: Arguments, option: str) -> datetime | None:
    """Return the time of an option such as ``since``, in the zone of ``--zone``."""
    written = getattr(arguments, option)
    name = f"--{option.replace('_', '-')}"
    return parse_time(written, find_zone(arguments.zone or "UTC"), name) if written else None


def count(text: str) -> int:
    """Return a whole number of at least 1."""
    return _whole_number(text, least=1)


def count_or_0(text: str) -> int:
    """Return a whole number of at least 0."""
    return _whole_number(text, least=0)


def number(text: str) -> float:
    """Return a number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from None


def _whole_number(text: str, least: int) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < least:
        raise argparse.ArgumentTypeError(
            f"must be a whole number of at least {least}, got {text!r}"
        )
    return int(text)


def host_and_port(given: str, option: str, instead: str = "") -> tuple[str, int]:
    """Return the host and the port of HOST:PORT. Raises `InputError`.

    option: its name, for the message, which ends with ``instead``.

    >>> host_and_port("127.0.0.1:7077", "--listen")
    ('127.0.0.1', 7077)
    """
    host, _, port = given.rpartition(":")
    if not host or "://" in given or not port.isdigit() or int(port) > 65535:
        raise InputError(
            f"{option} must be HOST:PORT, such as 127.0.0.1:7077, got {given!r}{instead}"
        )
    return host, int(port)
