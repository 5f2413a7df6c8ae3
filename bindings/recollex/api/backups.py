"""Restores, verifies and lists backups; `Store.backup` makes them."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollex.api.arguments import one_or_more, optional_micros
from recollex.api.keys import Key, key_bytes
from recollex.api.progress import progress_bar
from recollex_engine.backup import restoring, verification
from recollex_engine.backup.manifest import last_manifest, numbers, read_manifest
from recollex_engine.backup.restoring import Restoration
from recollex_engine.backup.target import BackupPlace, open_target
from recollex_engine.backup.verification import BackupVerification
from recollex_engine.clock import from_micros
from recollex_engine.storage.lock import absolute


@dataclass(frozen=True, slots=True)
class Backup:
    """One backup of those that a target holds.

    number: 1, 2, 3, ... taken_at: when it began. agents: their ids, with the number of operations
    of each. note: if `erase_in_copy` made the backup, the agent, by whom and why; of an encrypted
    agent its log alone says by whom and why.
    """

    number: int
    taken_at: datetime
    agents: dict[str, int]
    note: dict[str, str]


def backups(target: BackupPlace) -> list[Backup]:
    """Return the backups in a folder or object store, oldest first.

    Each is whole by itself: the newest one also holds what the earlier ones do, unless the store
    lost it. Raises `errors.InputError` if there is no backup.

    >>> import recollex, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with recollex.open(folder + "/memory") as store:
    ...     ids = store.agent("alice").retain("Bob likes tea.")
    ...     run = store.backup(folder + "/backup")
    >>> [(backup.number, backup.agents) for backup in recollex.backups(folder + "/backup")]
    [(1, {'alice': 3})]
    """
    place = open_target(target)
    last_manifest(place)
    found = []
    for number in numbers(place):
        manifest = read_manifest(place, number)
        agents = {name: entry.op for name, entry in manifest.agents.items()}
        taken_at = from_micros(manifest.taken_at)
        found.append(Backup(number, taken_at, agents, manifest.note))
    return found


def restore(
    target: BackupPlace,
    path: str | os.PathLike[str],
    *,
    at: datetime | None = None,
    agents: str | Sequence[str] | None = None,
    number: int | None = None,
    key: Key | None = None,
) -> Restoration:
    """Make a store in the folder ``path`` from a backup.

    at: the agents are restored as of this recorded time, by default with all that the backup holds.
    They then answer as `Agent.at` answered in the store, to the bit. agents: only these.
    number: of the backup, the newest one by default; see `backups`. key: of the encrypted agents in
    it, which stay encrypted.

    ``path`` may hold a store that lacks these agents. Every object is checked, and no agent is
    made if one is lost or damaged (`errors.CorruptError`). Raises `errors.InputError` for a time
    that the backup does not reach.

    >>> import recollex, tempfile
    >>> from datetime import UTC, datetime
    >>> folder = tempfile.mkdtemp()
    >>> with recollex.open(folder + "/memory") as store:
    ...     alice = store.agent("alice")
    ...     for day, words in enumerate(["Bob lives in Oslo.", "Bob moved to Rome."], start=1):
    ...         at = datetime(2024, 5, day, tzinfo=UTC)
    ...         ids = alice.retain(words, id="home", recorded_at=at)
    ...     run = store.backup(folder + "/backup")
    >>> first_of_may = datetime(2024, 5, 1, 12, tzinfo=UTC)
    >>> restored = recollex.restore(folder + "/backup", folder + "/may", at=first_of_may)
    >>> with recollex.open(folder + "/may") as store:
    ...     store.agent("alice").get("home").text
    'Bob lives in Oslo.'
    """
    place = open_target(target)
    names = None if agents is None else one_or_more(agents, "agents")
    manifest = restoring.chosen(place, number, names)
    moment = optional_micros(at, "at")
    total = restoring.size_of(place, manifest)
    with progress_bar(total, "restoring", "bytes") as progress:
        return restoring.restore(
            place, manifest, absolute(path), at=moment, progress=progress, key=key_bytes(key)
        )


def verify_backup(target: BackupPlace, *, number: int | None = None) -> BackupVerification:
    """Read all of a backup and return what is lost or damaged, without restoring it.

    Encrypted agents need no key: the hashes are of what is encrypted.

    number: of the backup, the newest one by default; see `backups`.

    >>> import recollex, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with recollex.open(folder + "/memory") as store:
    ...     ids = store.agent("alice").retain("Bob likes tea.")
    ...     run = store.backup(folder + "/backup")
    >>> recollex.verify_backup(folder + "/backup").ok
    True
    """
    place = open_target(target)
    manifest = restoring.chosen(place, number)
    with progress_bar(None, "verifying", "bytes") as progress:
        return verification.verify_backup(place, manifest, progress)
