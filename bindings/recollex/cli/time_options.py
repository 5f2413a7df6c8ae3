"""Options that name a time, such as ``--since``."""

from datetime import datetime

from recollex.api.iso_times import find_zone, parse_time
from recollex.cli.parser import Arguments
from recollex_engine.clock import to_micros
from recollex_engine.errors import InputError


def span_option(arguments: Arguments) -> tuple[int | None, int | None]:
    """Return ``--since`` and ``--until`` in microseconds. Raises `InputError` for an empty span."""
    since, until = time_option(arguments, "since"), time_option(arguments, "until")
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
    return parse_time(written, find_zone(arguments.zone), name) if written else None
