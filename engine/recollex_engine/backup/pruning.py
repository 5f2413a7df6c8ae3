"""Which backups and objects are removed? Old manifests, then objects that no manifest needs."""

import math
import time
from collections.abc import Iterable
from dataclasses import replace

from recollex_engine.backup.manifest import (
    MARKER,
    AgentEntry,
    BackupManifest,
    manifest_key,
    numbers,
    read_manifest,
)
from recollex_engine.backup.records import read_record
from recollex_engine.backup.target import Target
from recollex_engine.errors import CorruptError, InputError

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
