"""How does an erasure reach a backup? The agent is backed up as it is now, for every time.

The log of an erased agent still has all of its past, with holes. So every backup of the target can
have its newest record. Then no manifest names the objects that held what was erased, and they are
removed.
"""

from pathlib import Path

import orjson

from recollex_engine.backup.backup import AgentEntries, Objects, commit, enter
from recollex_engine.backup.manifest import BackupManifest, last_manifest
from recollex_engine.backup.pruning import replace_agent
from recollex_engine.backup.target import Target
from recollex_engine.clock import Clock, from_micros
from recollex_engine.domain.removal import Erasure
from recollex_engine.domain.schema import ERASE
from recollex_engine.errors import CorruptError, InputError
from recollex_engine.log.reader import LogFollower
from recollex_engine.state.replica import LOG
from recollex_engine.storage.encryption import is_encrypted

_COUNTS = ("memories", "passages", "facts", "events")


def erase_in_backup(
    source: Path, name: str, target: Target, clock: Clock, note: dict[str, str]
) -> Erasure:
    """Take what was erased of the agent in the folder ``source`` out of a backup of it.

    ``note``: who does it, and why, for the new manifest, unless the agent is encrypted. Returns
    what was erased in the agent since the newest backup. Afterwards all backups have the agent as
    it is now; its past is in its log. An interrupted run is completed by the next.

    Raises `InputError` if the target has no such agent, or the agent does not continue what it has.
    Cost: a backup of the agent, and a list of the objects.
    """
    if name not in last_manifest(target).agents:
        raise InputError(f"there is no agent {name!r} in the newest backup in {target.place}")
    objects = Objects(target, None, fresh=False)
    before = 0

    def agents(base: BackupManifest | None) -> AgentEntries:
        nonlocal before
        known = base.agents if base else {}
        before = known[name].op if name in known else 0
        entry = enter(source, known.get(name), objects)
        return known if entry is None else known | {name: entry}

    said = {} if is_encrypted(source) else note  # the log of an encrypted agent has it, sealed
    try:
        manifest, _ = commit(objects, clock, agents, {"agent": name, **said})
    except CorruptError as error:
        raise InputError(
            f"the backup {target.place} is no backup of agent {name!r} in {source}: {error}; or "
            "restore it, erase in what was restored, back that up elsewhere and remove this one"
        ) from error
    replace_agent(target, name, manifest.agents[name])
    return _erased_since(source, before)


def _erased_since(folder: Path, op: int) -> Erasure:
    """Return what the erasures after operation ``op`` erased, and the time of the last one."""
    counts = dict.fromkeys(_COUNTS, 0)
    last = at = None
    follower = LogFollower(folder / LOG)
    try:
        for records, _ in follower.read_records():
            for record in records:
                if record.op > op and record.kind.decode() == ERASE and record.payload:
                    said = orjson.loads(follower.payload_of(record) or b"{}")
                    counts = {each: counts[each] + said.get(each, 0) for each in _COUNTS}
                    last = record.op
                    at = from_micros(record.recorded_at)
    finally:
        follower.close()
    return Erasure(**counts, op=last, recorded_at=at)
