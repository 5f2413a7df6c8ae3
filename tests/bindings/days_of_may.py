"""Days of May 2024, on which the contracts of an agent take place."""

from datetime import UTC, datetime


def day(number: int, hour: int = 0) -> datetime:
    return datetime(2024, 5, number, hour, tzinfo=UTC)
