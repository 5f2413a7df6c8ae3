"""How does an erasure reach a copy? What is erased in an agent's log is erased in the copy's log.

A snapshot, a backup or a copied folder has the same log up to some operation, so the same memories
have the same numbers. A stub keeps the commitment of its record, which identifies the record in the
copy.
"""

from pathlib import Path

import numpy as np
import orjson

from recollex_engine.agents.agent import Agent, erasing_of
from recollex_engine.domain.removal import Erasure
from recollex_engine.domain.schema import ERASE, HOLE, RETAINING
from recollex_engine.errors import InputError
from recollex_engine.log.reader import LogFollower
from recollex_engine.state.replica import LOG
from recollex_engine.state.view import View
from recollex_engine.writing.erasure_plan import Erasing

_READ = {ERASE, *RETAINING}
"""The kinds of operation whose payload is read."""


def erase_in_copy(source: Path, copy: Agent, note: dict[str, str]) -> Erasure:
    """Erase in ``copy`` what is erased in the log of the agent in the folder ``source``.

    ``note``: who does it, and why. The beginning that both logs share is compared. Later versions
    of memories that are erased there are erased too. If a later part of the source's log erased
    everything, all of the copy is erased. Raises `InputError` if the logs share nothing. Cost:
    reading both logs, and an erasure.
    """
    copy.files.check_writable()
    if not copy.folder.exists():
        raise InputError(f"there is no agent {copy.name!r} in {copy.folder.parent.parent}")
    commitments, tombstones, everything = _read(source)

    def choose(view: View) -> Erasing:
        found, _, _ = _read(copy.folder)
        pairs = enumerate(zip(commitments, found, strict=False))
        most = min(len(commitments), len(found))
        shared = next((place for place, (one, other) in pairs if one != other), most)
        if not shared:
            raise InputError(
                f"agent {copy.name!r} in {copy.folder.parent.parent} is no copy of the agent in "
                f"{source}: their logs begin with different operations"
            )
        if everything > shared:
            return Erasing(everything=True)
        ids = view.of_memories("id")
        ops = view.of_memories("op")
        erased = ids[np.isin(ops, [op for op in tombstones if op <= shared])]
        return erasing_of(view, np.flatnonzero(np.isin(ids, np.unique(erased))))

    return copy.erase_chosen(choose, note)


def _read(folder: Path) -> tuple[list[bytes], list[int], int]:
    """Return a log's commitments, and the operations whose memory is erased.

    The third value is the last operation that erased everything, 0 for none.
    """
    commitments: list[bytes] = []
    tombstones: list[int] = []
    everything = 0
    follower = LogFollower(folder / LOG, verify=True)
    try:
        for records, _ in follower.read_records():
            for record in records:
                commitments.append(record.commitment)
                kind = record.kind.decode()
                payload = (follower.payload_of(record) if kind in _READ else None) or b"{}"
                if kind == ERASE and orjson.loads(payload).get("everything"):
                    everything = record.op
                elif (
                    kind in RETAINING
                    and record.erased is not None
                    and HOLE in orjson.loads(payload)
                ):
                    tombstones.append(record.op)
    finally:
        follower.close()
    return commitments, tombstones, everything
