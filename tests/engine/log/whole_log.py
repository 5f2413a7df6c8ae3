"""A log read from a position, and its chain checked from the beginning."""

from collections.abc import Callable, Iterator
from pathlib import Path

from recollex_engine.errors import CorruptError
from recollex_engine.log.files import file_numbers
from recollex_engine.log.format import START, Position
from recollex_engine.log.reader import LogFollower, LogTransaction


class LogReader:
    """Reads a log from any position. It holds no file open between calls; any thread may call."""

    def __init__(self, folder: Path, *, verify: bool = False) -> None:
        self.folder = folder
        self.verify = verify

    def transactions(
        self, start: Position = START, until_op: int | None = None
    ) -> Iterator[LogTransaction]:
        """Yield the transactions after ``start``; see `LogFollower.read_new`."""
        follower = self.follow(start)
        try:
            yield from follower.read_new(until_op)
        finally:
            follower.close()

    def follow(self, start: Position = START) -> LogFollower:
        """Return a follower that starts at ``start``."""
        return LogFollower(self.folder, start, verify=self.verify)


def verify_chain(folder: Path, progress: Callable[[Position], None] | None = None) -> Position:
    """Return the position after the last whole transaction, having rehashed every line before it.

    ``progress`` is called with the position after each transaction. Raises `CorruptError` naming
    file and line. A torn tail is not an error: compare the position with what should be there.
    Cost: about 6 us an operation of 500 bytes.
    """
    numbers = file_numbers(folder)
    if numbers != list(range(1, len(numbers) + 1)):
        raise CorruptError(folder, f"log files 1 to {len(numbers)}", f"files {numbers}")
    follower = LogFollower(folder, verify=True)
    try:
        for _ in follower.read_records():
            if progress is not None:
                progress(follower.position)
    finally:
        follower.close()
    return follower.position
