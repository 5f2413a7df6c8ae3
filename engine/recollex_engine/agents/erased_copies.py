"""How does an erasure reach a copy? What is erased in an agent's log is erased in the copy's log.

A snapshot, a backup or a copied folder has the same log up to some operation, so the same memories
have the same numbers. The commitment of a stub tells that a record of the copy is the erased one.
"""

from pathlib import Path

import numpy as np
import orjson

from recollex_engine.agents.agent import Agent
from recollex_engine.agents.erasing import erasing_of
from recollex_engine.domain.erasure import Erasure
from recollex_engine.domain.schema import ERASE, HOLE, RETAINING
from recollex_engine.errors import InputError
from recollex_engine.log.format import Record
from recollex_engine.log.reader import LogFollower
from recollex_engine.state.replica import LOG
from recollex_engine.state.view import View
from recollex_engine.writing.erasure_plan import Erasing


def erase_in_copy(source: Path, copy: Agent, note: dict[str, str]) -> Erasure:
    """Erase in ``copy`` what is erased in the log of the agent in the folder ``source``.

    ``note``: who does it, and why. Later versions of these memories go as well. An erasure of
    everything that is later than the end of the copy
    erases all of it. Raises `InputError` where an erased record has another content in the copy,
    with nothing erased. Cost: reading both logs, and an erasure.
    """
    copy.files.check_writable()
    if not copy.folder.exists():
        raise InputError(f"there is no agent {copy.name!r} in {copy.folder.parent.parent}")
    holes, everything = _read_holes(source)

    def choose(view: View) -> Erasing:
        if everything > view.op:
            return Erasing(everything=True)
        _check(copy, {op: commitment for op, commitment in holes.items() if op <= view.op})
        ids = view.of_memories("id")
        erased = ids[np.isin(view.of_memories("op"), list(holes))]
        return erasing_of(view, np.flatnonzero(np.isin(ids, np.unique(erased))))

    return copy.erase_chosen(choose, note)


def _read_holes(folder: Path) -> tuple[dict[int, bytes], int]:
    """Return {op: commitment} of erased memories, and the last op that erased everything, or 0."""
    holes: dict[int, bytes] = {}
    everything = 0
    for record in _records(folder):
        kind = record.kind.decode()
        if kind == ERASE and record.payload and orjson.loads(record.payload).get("everything"):
            everything = record.op
        elif record.erased is not None and record.payload and HOLE in orjson.loads(record.payload):
            holes[record.op] = record.erased
    return holes, everything


def _check(copy: Agent, holes: dict[int, bytes]) -> None:
    for record in _records(copy.folder):
        if record.op in holes and record.commitment != holes[record.op]:
            raise InputError(
                f"agent {copy.name!r} in {copy.folder.parent.parent} is no copy: its operation "
                f"{record.op} is another than the erased one"
            )


def _records(folder: Path) -> list[Record]:
    """Return the records of an agent's log that hold a memory, or say that some were erased."""
    follower = LogFollower(folder / LOG, verify=True)
    kinds = {kind.encode() for kind in (*RETAINING, ERASE)}
    try:
        return [
            record
            for records, _ in follower.read_records()
            for record in records
            if record.kind in kinds
        ]
    finally:
        follower.close()
