"""How is a store backed up? Its agents one after another, then one manifest for all of them.

A run starts from the newest manifest and writes the next one, under a number that is free. If
another run was faster, it starts again from the manifest of that run; its pieces are there by
then.

How does an erasure reach a backup? The agent is backed up as it is now, for every time.
The log of an erased agent still has all of its past, with holes. So every backup of the target can
have its newest record. Then no manifest names the objects that held what was erased, and they are
removed.
"""

import math
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

import orjson

from recollex_engine.agents.folder_names import agent_folder
from recollex_engine.backup.agent_backup import back_up_agent
from recollex_engine.backup.manifest import (
    MARKER,
    AgentEntry,
    BackupManifest,
    Piece,
    encoded,
    last_manifest,
    manifest_key,
    mark,
    numbers,
    piece_of,
    read_manifest,
    read_record,
)
from recollex_engine.backup.target import Target
from recollex_engine.clock import Clock, from_micros
from recollex_engine.domain.removal import Erasure
from recollex_engine.domain.schema import ERASE
from recollex_engine.errors import (
    CorruptError,
    EncryptionError,
    FormatError,
    InputError,
    LockedError,
    RecollexError,
    StoreFullError,
    TooManyFilesError,
)
from recollex_engine.log.reader import LogFollower
from recollex_engine.state.replica import LOG
from recollex_engine.storage.encryption import is_encrypted

# Which backups and objects are removed? Old manifests, then objects that no manifest needs.
GRACE = 24 * 3600.0
"""Seconds that an object which no manifest needs is kept: a run may be about to name it."""


def check_keep(keep: object) -> None:
    """Raise `InputError` unless ``keep`` is a number of backups that may be kept."""
    if isinstance(keep, bool) or not isinstance(keep, int) or keep < 1:
        raise InputError(f"keep must be an int of at least 1, got {keep!r}")


def prune(target: Target, keep: int) -> None:
    """Remove all but the newest ``keep`` backups, and objects that no other one needs.

    Raises `CorruptError`, with nothing removed, if one of those kept is damaged.
    """
    with target.alone():
        known = numbers(target)
        kept = [read_manifest(target, number) for number in known[-keep:]]
        needed = _needed_by(target, kept)
        target.delete(manifest_key(number) for number in known[:-keep])
        _sweep(target, needed, GRACE)


def replace_agent(target: Target, name: str, entry: AgentEntry) -> None:
    """Give every backup the agent ``name`` as in ``entry``; remove all objects that none needs.

    A former backup that is damaged is removed, because nothing says what it needs. Raises
    `CorruptError` if the newest one is damaged; then no object is removed.
    """
    with target.alone():
        needed: set[str] = set()
        known = numbers(target)
        for number in known:
            try:
                manifest = read_manifest(target, number)
                if manifest.agents.get(name, entry) != entry:
                    manifest = replace(manifest, agents=manifest.agents | {name: entry})
                    target.put(manifest.key, manifest.to_json)
                needed |= _needed_by(target, [manifest])
            except CorruptError:
                if number == known[-1]:
                    raise
                target.delete([manifest_key(number)])
        _sweep(target, needed, -math.inf)


def _needed_by(target: Target, manifests: Iterable[BackupManifest]) -> set[str]:
    """Return the keys of the objects that some backups need. Raises `CorruptError`."""
    needed: set[str] = set()
    for manifest in manifests:
        for entry in manifest.agents.values():
            if entry.record.key not in needed:
                needed.add(entry.record.key)
                needed.update(piece.key for piece in read_record(target, entry).pieces)
    return needed


def _sweep(target: Target, needed: set[str], grace: float) -> None:
    """Remove what is neither needed nor a manifest, and was written ``grace`` seconds ago."""
    manifests = {manifest_key(number) for number in numbers(target)}
    before = time.time() - grace
    unneeded = [
        each.key
        for each in target.keys("")
        if each.key not in needed
        and each.key not in manifests
        and each.key != MARKER
        and each.written_at <= before
    ]
    target.delete(unneeded)


Progress = Callable[[int], None]
"""Called with the number of further bytes that were read."""
AgentEntries = dict[str, AgentEntry]


@dataclass(frozen=True, slots=True)
class BackupRun:
    """What one run of a backup did.

    number: of the backup in its target. taken_at: when the run began. agents, operations: how many
    the backup holds; new_operations: those since the former backup. objects, bytes: what was
    written. gone: agents of the former backup that the store no longer has. problems: one for each
    agent that could not be read; the backup holds its state of the former backup.
    """

    number: int
    taken_at: datetime
    agents: int
    operations: int
    new_operations: int
    objects: int
    bytes: int
    gone: tuple[str, ...]
    problems: tuple[str, ...]


class Objects:
    """Puts the pieces of one run into a target, each once."""

    def __init__(self, target: Target, progress: Progress | None, *, fresh: bool) -> None:
        self.target = target
        self._fresh = fresh
        self._progress = progress
        self._there: set[Piece] = set()

    def add(self, content: bytes, compressed: bool) -> Piece:
        """Return the piece of a content, which is in the target afterwards."""
        piece = piece_of(content, compressed=compressed)
        if piece not in self._there:
            # What an interrupted run has left is not sent again, if no sweep removes it meanwhile.
            recent = math.inf if self._fresh else time.time() - GRACE / 2
            self.target.put(piece.key, partial(encoded, piece, content), recent)
            self._there.add(piece)
        if self._progress is not None:
            self._progress(len(content))
        return piece

    def forget(self) -> None:
        """Look again in the target before the next time that this piece is left out."""
        self._there.clear()

    @property
    def are_there(self) -> bool:
        """Whether all pieces that were added are in the target: others may be sweeping it."""
        return self.target.has_all(piece.key for piece in self._there)


def back_up(
    path: Path,
    names: list[str],
    target: Target,
    clock: Clock,
    *,
    keep: int | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
    check: Callable[[], None] = lambda: None,
) -> BackupRun:
    """Back up the agents ``names`` of the store at ``path``; writers may write meanwhile.

    keep: afterwards, remove all but the newest ``keep`` backups; None keeps all. fresh: read and
    write everything again, whatever the target holds, also agents that do not continue what it
    holds. check: raises before the backup is written, if ``path`` leads to another folder by then.

    Raises `InputError` for a store without agents or a target with other files, and
    `StoreFullError`; then the earlier backups are unchanged. An agent that cannot be read is a
    problem of the run, and keeps its former state in the backup; if none can be read, its error is
    raised.
    """
    if keep is not None:
        check_keep(keep)
    objects = Objects(target, progress, fresh=fresh)
    if not names:
        raise InputError(f"{path} holds no agent: there is nothing to back up")
    problems: list[str] = []

    def agents(base: BackupManifest | None) -> AgentEntries:
        known = base.agents if base else {}
        found: AgentEntries = {}
        problems.clear()
        first: RecollexError | None = None
        for name in names:
            try:
                entry = enter(agent_folder(path, name), known.get(name), objects, fresh=fresh)
            except (StoreFullError, TooManyFilesError):
                raise
            except (CorruptError, EncryptionError, FormatError, LockedError, OSError) as error:
                problems.append(f"{name}: {error}")
                entry = known.get(name)
                if isinstance(error, RecollexError):
                    first = first or error
            if entry is not None:
                found[name] = entry
        if len(problems) == len(names) and first is not None:
            raise first
        check()
        return found

    manifest, base = commit(objects, clock, agents)
    if keep is not None:
        prune(target, keep)
    known = base.agents if base else {}
    operations = sum(each.op for each in manifest.agents.values())
    before = (known[name].op for name in manifest.agents if name in known)
    return BackupRun(
        manifest.number,
        from_micros(manifest.taken_at),
        len(manifest.agents),
        operations,
        operations - sum(before),
        target.written.objects,
        target.written.size,
        tuple(sorted(known.keys() - manifest.agents.keys())),
        tuple(problems),
    )


def enter(
    folder: Path, former: AgentEntry | None, objects: Objects, *, fresh: bool = False
) -> AgentEntry | None:
    """Return the entry of an agent as it is now; None if it has no operations."""
    known = None
    if former is not None and not fresh:
        with suppress(CorruptError):  # then all of the agent is read again
            known = read_record(objects.target, former)
    record = back_up_agent(folder, known, objects.add, fresh=fresh)
    if record is None:
        return None
    if former is not None and record == known:
        return former
    piece = objects.add(record.to_json(), True)
    return AgentEntry(piece, record.end.op, record.end.recorded_at)


def commit(
    objects: Objects,
    clock: Clock,
    agents: Callable[[BackupManifest | None], AgentEntries],
    note: dict[str, str] | None = None,
) -> tuple[BackupManifest, BackupManifest | None]:
    """Write the next manifest, with what ``agents`` returns for the newest one; return both.

    It is called again if another run has written one meanwhile. ``note``: said in the manifest.
    """
    try:
        return _commit(objects, clock, agents, note or {})
    except BaseException:
        objects.target.discard()
        raise


def _commit(
    objects: Objects,
    clock: Clock,
    agents: Callable[[BackupManifest | None], AgentEntries],
    note: dict[str, str],
) -> tuple[BackupManifest, BackupManifest | None]:
    target = objects.target
    with target.alone():
        mark(target)
    while True:
        known = numbers(target)
        number = known[-1] + 1 if known else 1
        base = None
        if known:
            with suppress(CorruptError, InputError):
                base = read_manifest(target, known[-1])
        taken_at = clock()
        objects.forget()
        manifest = BackupManifest(number, taken_at, agents(base), note)
        target.flush()
        with target.alone():
            if objects.are_there and target.create(manifest.key, manifest.to_json()):
                if numbers(target)[-1] == number:
                    return manifest, base
                target.delete([manifest.key])  # later ones were written, and this number removed


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
