"""Times and arguments as a language model writes them."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from recollex.api.iso_times import parse_time

Time = Annotated[
    str | None, Field(description="ISO 8601, such as 2024-05-01 or 2024-05-01T09:30+02:00; UTC")
]
Limit = Annotated[int, Field(ge=1, le=1000, description="The most that are returned.")]
Id = Annotated[str, Field(description="The id, as recall shows it at the start of a line.")]
Why = Annotated[str | None, Field(description="The reason, for the history.")]


def moment(written: str | None, what: str) -> datetime | None:
    """Return a time; one without an offset is UTC. Raises `InputError`, which names ``what``.

    >>> moment("2024-05-01", "since").isoformat()
    '2024-05-01T00:00:00+00:00'
    """
    return parse_time(written, UTC, what) if written else None
