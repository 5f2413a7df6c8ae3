"""Options that name a time, such as ``--since``."""

from datetime import datetime

from recollex.api.iso_times import find_zone, parse_time
from recollex.cli.parser import Arguments


def time_option(arguments: Arguments, option: str) -> datetime | None:
    """Return the time of an option such as ``since``, in the zone of ``--zone``."""
    written = getattr(arguments, option)
    name = f"--{option.replace('_', '-')}"
    return parse_time(written, find_zone(arguments.zone), name) if written else None
