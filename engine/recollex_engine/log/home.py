"""Where is a log durable that several machines share? In its home, which has one owner at a time.

Without a home a log is durable once its own files are flushed. With one, each flush sends what was
appended since the last one, and nothing counts before the home says that it is durable there:
COMMIT moves after it, so no view shows, and no caller is told of, what another owner may not have.
The files of the folder are not flushed: they can be made again from the home.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from recollex_engine.errors import StoreFullError
from recollex_engine.log.format import Position


class FencedError(StoreFullError):
    """A log has another owner now, or its home did not answer; nothing was acknowledged.

    It poisons the log as a failed flush does. The operations may be in the home or not: only who
    opens the log from there again knows.
    """

    def __init__(self, what: str) -> None:
        super().__init__(None, f"{what}: the operation may have been recorded or not")


@dataclass(frozen=True, slots=True)
class Run:
    """What one flush sends: transactions that follow each other, all of them durable or none.

    first_op: of the first operation. end: the position after the last one, whose file and offset
    mean this folder's. lines: as the log has them, without the headers of files. rows: the bytes
    that the vectors file has for them, encrypted if it is. rewritten: earlier bytes of the log or
    of the vectors are others than those that the home has: it takes the whole folder anew.
    """

    first_op: int
    end: Position
    lines: bytes
    rows: bytes
    rewritten: bool


class LogHome(Protocol):
    """Where the log of one agent is durable, during one ownership."""

    def append(self, run: Run) -> None:
        """Return once a run is durable. Raises `FencedError`, after which nothing more is sent.

        Threads: one call at a time.
        """


class LogHomes(Protocol):
    """The homes of a store's logs."""

    def prepare(self, agent: str, folder: Path) -> LogHome:
        """Make an agent's folder what its home has, before it is opened; return the home.

        The folder is kept if it ends where the home does, and made anew otherwise; there is none
        if the home has nothing. No file of it is open. Raises `FencedError` and `CorruptError`.
        Threads: any number; one at a time of one agent.
        """

    def agents(self) -> list[str]:
        """Return the agents that these homes have, sorted."""

    def delete(self, agent: str) -> None:
        """Remove all of an agent, whose folder was removed; return once nothing is left."""
