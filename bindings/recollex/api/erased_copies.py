"""Erases in copies of a store what was erased in it."""

import os

from recollex.api.keys import Key, key_bytes
from recollex.api.store import open
from recollex_engine.agents import erased_copies
from recollex_engine.agents.folder_names import agent_folder
from recollex_engine.backup.backup import erase_in_backup
from recollex_engine.backup.manifest import is_backup
from recollex_engine.backup.target import BackupPlace, open_target
from recollex_engine.clock import system_clock
from recollex_engine.domain.checks import MAX_NAME, check_text
from recollex_engine.domain.removal import Erasure
from recollex_engine.domain.trust import note
from recollex_engine.errors import InputError
from recollex_engine.models.embedder import Embedder
from recollex_engine.storage.encryption import open_key
from recollex_engine.storage.lock import absolute


def erase_in_copy(
    path: str | os.PathLike[str],
    copy: BackupPlace,
    agent_id: str = "default",
    *,
    by: str,
    why: str,
    embedder: str | os.PathLike[str] | Embedder | None = None,
    key: Key | None = None,
) -> Erasure:
    """Erase in a copy of a store what was ever erased of an agent in the store at ``path``.

    copy: the folder of a snapshot, or of any store with a copy of the agent. What was recorded in
    the copy since is kept, except later versions of erased memories. The copy's log says who did it
    and why, as for `Agent.erase`.

    It may also be a backup that `Store.backup` has made. Then the agent is backed up as it is now,
    with its past, and this state replaces the agent in all backups of the target, so no object
    holds what was erased. The result counts what was erased since the former backup; `backups`
    shows who did it and why. No other process may back up to the same object store meanwhile.

    key: of an encrypted agent, and of its copy.

    Raises `errors.InputError` for a store that has no such agent or another one of that name, and
    `errors.LockedError` if a writer has the copy open; then nothing is erased.

    >>> import recollex, tempfile
    >>> from datetime import UTC, datetime
    >>> folder, copy = tempfile.mkdtemp(), tempfile.mkdtemp()
    >>> with recollex.open(folder) as store:
    ...     alice = store.agent("alice")
    ...     ids = alice.retain_many(["Bob likes tea.", "Bob is ill."], id=["tea", "ill"])
    ...     alice.snapshot(datetime.now(UTC), copy)
    ...     done = alice.erase("ill", by="ann", why="Bob asked for it.")
    >>> recollex.erase_in_copy(folder, copy, "alice", by="ann", why="as in the store").memories
    1
    """
    check_text(by, "by", MAX_NAME)
    check_text(why, "why", MAX_NAME)
    source = agent_folder(absolute(path), agent_id)
    if not source.is_dir():
        raise InputError(f"there is no agent {agent_id!r} in {path}")
    place = open_target(copy)
    secret = key_bytes(key)
    cipher = open_key(source, secret)  # an encrypted agent is read as long as it is held
    if is_backup(place):
        done = erase_in_backup(source, agent_id, place, system_clock, note(by, why))
        del cipher
        return done
    if not isinstance(copy, str | os.PathLike):
        raise InputError(f"there is no backup at {place.place}")
    if not agent_folder(absolute(copy), agent_id).is_dir():
        raise InputError(f"there is no agent {agent_id!r} in {copy}")
    with open(copy, embedder=embedder) as store:
        agent = store.agent(agent_id, key=secret).engine.writable()
        return erased_copies.erase_in_copy(source, agent, note(by, why))
