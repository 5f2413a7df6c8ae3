"""Does a log still hold what it held? Its head, kept elsewhere, tells.

The chain of hashes shows that no line was altered, but a log that was cut off, or an older copy
that was put back, has a whole chain too. So an operation and the chain after it are kept outside
the log: in the file HEAD (see `log.format`), which shows a log that was cut off, and by a caller,
which also shows a folder that was put back as a whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from recollex_engine.clock import from_micros
from recollex_engine.errors import InputError
from recollex_engine.log.format import NAME, START, Head, decode_bytes, encode_bytes
from recollex_engine.log.reader import LogFollower
from recollex_engine.writing.writer import Writer

_CHAIN_LENGTH = 43  # 32 bytes in base64, without padding


@dataclass(frozen=True, slots=True)
class LogHead:
    """The end of an agent's log at some time: keep it where the agent's folder is not.

    op: the last operation; 0 if there is none. recorded_at: its recorded time. chain: the hash of
    all operations up to it, as its line in the log has it. ``str(head)`` is "op:chain".
    """

    op: int
    recorded_at: datetime | None
    chain: str

    def __str__(self) -> str:
        return f"{self.op}:{self.chain}"

    @classmethod
    def of(cls, head: Head) -> "LogHead":
        """Return the public form of a head."""
        at = from_micros(head.recorded_at) if head.op else None
        return cls(head.op, at, encode_bytes(head.chain).decode())


def read_head(given: LogHead | str) -> Head:
    """Return the head that a caller kept; raises `InputError` for anything else.

    >>> read_head("12:" + "A" * 43).op
    12
    """
    op, _, chain = str(given).strip().partition(":")
    try:
        found = decode_bytes(chain.encode("ascii"))
        if op.isascii() and op.isdigit() and len(chain) == _CHAIN_LENGTH and len(found) == 32:
            return Head(int(op), 0, found)
    except ValueError:
        pass
    raise InputError(
        "head must be what Agent.head returned, or what recollex head printed, got "
        f"{str(given)[:80]!r}"
    )


def end_of(writer: Writer) -> Head:
    """Return the end of a writer's log, once all of it is on the disk."""
    with writer.lock:
        writer.check_settled()
        position = writer.log.position
    writer.log.sync()
    return Head.of(position)


class HeadCheck:
    """Compares the heads that were kept with the log, transaction by transaction.

    given: the head that a caller kept. The file HEAD is read before the log, which holds its
    operation by then.
    """

    def __init__(self, follower: LogFollower, kept: Head | None, given: Head | None) -> None:
        self._follower = follower
        heads: Mapping[str, Head | None] = {NAME: kept, "the head that was given": given}
        self._heads = {name: head for name, head in heads.items() if head is not None}
        self._wanted = {head.op for head in self._heads.values()}
        self._chains = {START.op: START.chain}

    def note(self) -> None:
        """Take in the transaction after which the follower stands."""
        position = self._follower.position
        if position.op in self._wanted:
            self._chains[position.op] = position.chain

    def problems(self) -> list[str]:
        """Return the differences, after reading on to the last head.

        Raises `CorruptError` for damage there.
        """
        for _ in self._follower.read_records(max(self._wanted, default=0)):
            self.note()
        end = self._follower.position.op
        found = []
        for name, head in self._heads.items():
            chain = self._chains.get(head.op)
            if chain == head.chain:
                continue
            if end < head.op:
                said = f"the log ends at operation {end}: its end was cut off, or an older log was"
                found.append(f"{said} put back, since {name} is of operation {head.op}")
            else:
                has = "no transaction ends there" if chain is None else f"it is {_text(chain)}"
                said = f"{name} has chain {_text(head.chain)} after operation {head.op}"
                found.append(f"{said}, in the log {has}: operations were altered or replaced")
        return found


def _text(chain: bytes) -> str:
    return encode_bytes(chain).decode()
