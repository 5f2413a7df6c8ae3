"""Options that name a time, such as ``--since``."""

from datetime import datetime

from recollex.api.moments import moment, zone
from recollex.cli.parser import Arguments


def time_option(arguments: Arguments, option: str) -> datetime | None:
    """Return the time given with an option such as ``since``, in the zone of ``--zone``."""
    written = getattr(arguments, option)
    name = f"--{option.replace('_', '-')}"
    return moment(written, zone(arguments.zone), name) if written else None
