"""How is a store backed up? Its agents one after another, then one manifest for all of them.

A run starts from the newest manifest and writes the next one, under a number that is free. If
another run was faster, it starts again from the manifest of that run; its pieces are there by
then.
"""

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from recollex_engine.agents.folder_names import agent_folder
from recollex_engine.backup.agent_backup import back_up_agent
from recollex_engine.backup.manifest import (
    AgentEntry,
    BackupManifest,
    mark,
    numbers,
    read_manifest,
)
from recollex_engine.backup.objects import Piece, encoded, piece_of
from recollex_engine.backup.pruning import GRACE, check_keep, prune
from recollex_engine.backup.records import read_record
from recollex_engine.backup.target import Target
from recollex_engine.clock import Clock, from_micros
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
