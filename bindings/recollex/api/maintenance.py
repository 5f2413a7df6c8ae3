"""Functions for whole agents and stores: doctor, replay, reembed, erase_in_copy."""

import os
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from recollex.api.keys import Key, key_bytes
from recollex.api.progress import progress_bar
from recollex.api.store import open, read_embedder
from recollex_engine.agents import erased_copies, snapshot
from recollex_engine.agents.doctor import Diagnosis, examine_agent, examine_store
from recollex_engine.agents.folder_names import agent_folder, agents_in, kept_name
from recollex_engine.backup.backup import erase_in_backup
from recollex_engine.backup.manifest import is_backup, last_manifest
from recollex_engine.backup.restoring import mend_vectors
from recollex_engine.backup.target import BackupPlace, Target, open_target
from recollex_engine.clock import system_clock
from recollex_engine.domain.checks import MAX_NAME, check_flag, check_text
from recollex_engine.domain.removal import Erasure
from recollex_engine.domain.settings import Settings
from recollex_engine.domain.trust import note
from recollex_engine.errors import (
    CorruptError,
    EncryptionError,
    InputError,
    LockedError,
    ModelError,
    embedder_name,
)
from recollex_engine.models.embedder import Embedder, checked
from recollex_engine.storage.encryption import is_encrypted, open_key
from recollex_engine.storage.lock import absolute
from recollex_engine.writing import reembedding


def replay(
    log: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    agent_id: str = "default",
    embedder: str | os.PathLike[str] | Embedder | None = None,
    key: Key | None = None,
    clamp_times: bool = False,
) -> int:
    """Rebuild an agent from its log, in the store at ``path``; return the number of operations.

    Ids, recorded times, links and all else are as in the log. log: an agent's folder
    (``STORE/agents/NAME``), its log folder, or one file of operations in JSON lines. Vectors are
    read from ``vectors.f16`` beside the log; those that are missing are embedded by ``embedder``.
    key: of an encrypted agent, whose file KEY lies beside the log folder.

    clamp_times: repair an agent that was written to while the clock was ahead. Operations whose
    recorded time the clock has not reached get the present one, in their order; all else stays. The
    new log has a chain of hashes of its own, so it does not continue a backup of the first.

    Raises `errors.CorruptError`, naming file and line, with nothing made.

    >>> import recollex, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with recollex.open(folder + "/a") as store:
    ...     ids = store.agent("alice").retain("Bob likes tea.", id="b1")
    >>> recollex.replay(folder + "/a/agents/alice", folder + "/b", agent_id="alice")
    3

    The three operations are the agent's settings, its model's vocabulary, and the memory.

    >>> with recollex.open(folder + "/b") as store:
    ...     store.agent("alice").get("b1").text
    'Bob likes tea.'
    """
    check_flag(clamp_times, "clamp_times")
    with progress_bar(None, "replaying", "passages") as progress:
        return snapshot.replay(
            Path(log),
            absolute(path),
            agent_id,
            read_embedder(embedder),
            progress,
            key_bytes(key),
            latest=system_clock() if clamp_times else None,
        )


# Moves an agent to another embedding model.
def reembed(
    path: str | os.PathLike[str],
    agent_id: str = "default",
    *,
    embedder: str | os.PathLike[str] | Embedder | None = None,
    threads: int = 1,
    key: Key | None = None,
) -> int:
    """Embed all passages of an agent, in the store at ``path``, again with another model.

    key: of an encrypted agent.

    Returns the number of passages, facts, events, episodes and names of entities that this call
    embedded: fewer than all after an interrupted call, 0 if the vectors are the model's already.
    Facts, events and names come last, after the switch. Until all passages are embedded the old
    vectors are used, other processes may read and write, and a call that was killed is continued by
    the next. Then one operation switches to the new vectors, for cuts of the past as
    well. Processes that read the agent with the old model get `errors.ModelMismatchError` from
    then on.

    Vectors that a caller had given are replaced by the model's. Raises `errors.LockedError` if a
    writer has the agent open when the call ends: close it and call again.

    >>> import recollex, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with recollex.open(folder, embedder=recollex.GivenVectors(8)) as store:
    ...     ids = store.agent("alice").retain("Bob likes tea.", embedding=[1] * 8)
    >>> recollex.reembed(folder, "alice", embedder="all-MiniLM-L6-v2")
    1
    >>> with recollex.open(folder) as store:
    ...     store.agent("alice").recall("Who drinks tea?")[0].text
    'Bob likes tea.'
    """
    loaded = checked(read_embedder(embedder))()
    secret = key_bytes(key)
    agent_id = kept_name(absolute(path), agent_id)
    folder = agent_folder(absolute(path), agent_id)
    cipher = open_key(folder, secret) if folder.is_dir() else None
    made = reembedding.reembed(
        folder,
        agent_id,
        loaded,
        system_clock,
        threads,
        partial(progress_bar, label="embedding", unit="passages"),
    )
    with (
        suppress(LockedError),  # a writer has it open already, and makes its checkpoints itself
        open(path, embedder=loaded) as store,
    ):
        agent = store.agent(agent_id, key=secret)
        with progress_bar(None, "embedding", "facts and events") as progress:
            made += agent.engine.writable().add_surfaces(progress)
        agent.checkpoint()
    del cipher  # an encrypted agent is read as long as it is held
    return made


# Erases in copies of a store what was erased in it.
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
    agent_id = kept_name(absolute(path), agent_id)
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


# Finds what is wrong with a store, and mends what its log can mend.
def doctor(
    path: str | os.PathLike[str],
    agent_id: str | None = None,
    *,
    repair: bool = True,
    salvage: str | os.PathLike[str] | None = None,
    backup: BackupPlace | None = None,
    embedder: str | os.PathLike[str] | Embedder | None = None,
    key: Key | None = None,
) -> list[Diagnosis]:
    """Return what is wrong with the store at ``path``, and mend what follows from its log.

    The first diagnosis is of the store itself, then one for each agent, or for ``agent_id``.
    Columns, indexes, a torn tail, an erasure that was begun and the vectors of a model are built
    again. A damaged log is not changed: the diagnosis says up to where it is whole.

    repair: False only looks. salvage: a folder for a new store; the part of a damaged log before
    the damage is copied to it. backup: a backup of the store. Damaged vectors that a caller gave
    are taken from it, and the diagnosis says how much it has of a damaged log. embedder: the model
    that embeds texts whose vectors are damaged, by default the one that the agent names; it is
    loaded only then.
    key: of the encrypted agents; one with another key is only named.

    An agent that a writer has open is examined, but not mended.

    >>> import recollex, tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.mkdtemp()
    >>> with recollex.open(folder) as store:
    ...     ids = store.agent("alice").retain("Bob likes tea.")
    ...     store.agent("alice").checkpoint()
    >>> Path(folder, "agents/alice/MANIFEST").write_text("{")
    1
    >>> [(each.agent, len(each.found), each.ok) for each in recollex.doctor(folder)]
    [(None, 0, True), ('alice', 1, True)]
    """
    place = absolute(path)
    target = None if salvage is None else absolute(salvage)
    if target is not None and target.absolute() == place.absolute():
        raise InputError(f"salvage must be another folder than the store itself, {path}")
    source = None if backup is None else open_target(backup)
    if source is not None:
        last_manifest(source)  # or there is no backup
    secret = key_bytes(key)
    diagnoses = [examine_store(place, repair=repair)]
    names = agents_in(place) if agent_id is None else [kept_name(place, agent_id)]
    for name in names:
        if name not in agents_in(place):
            raise InputError(f"there is no agent {name!r} in {path}")
        folder = agent_folder(place, name)
        cipher = None
        if is_encrypted(folder):
            with suppress(EncryptionError, CorruptError):  # the diagnosis says so
                cipher = open_key(folder, secret)
        with progress_bar(None, f"examining {name}", "passages") as progress:
            examine = partial(
                examine_agent,
                place,
                name,
                lambda settings: _load(settings, embedder),
                salvage=target,
                progress=progress,
                key=secret if is_encrypted(folder) else None,
            )
            found = examine(repair=repair)
            if not found.ok and source is not None:
                try:
                    if repair and mend_vectors(folder, name, source):
                        found = replace(examine(repair=True), found=found.found)
                except LockedError:  # the diagnosis says so
                    pass
                except CorruptError as error:  # of the log, which the diagnosis says, or the backup
                    if str(error) not in found.found:
                        found = replace(found, left=(*found.left, str(error)))
                left = tuple(f"{each}{_known(source, name)}" for each in found.left)
                found = replace(found, left=left)
            diagnoses.append(found)
        del cipher  # an encrypted agent is read as long as it is held
    return diagnoses


def _known(source: Target, name: str) -> str:
    """Return the end of a sentence that says what a backup has of an agent."""
    manifest = last_manifest(source)
    entry = manifest.agents.get(name)
    if entry is None:
        return f"; backup {manifest.number} has no such agent"
    return f"; backup {manifest.number} has its operations up to {entry.op}"


def _load(settings: Settings, given: object) -> Embedder:
    if given is None and settings.model.startswith("given-"):
        raise ModelError(
            "the caller gave the vectors, and the log does not hold them: put "
            f"{settings.vectors_file} back, for instance from a backup"
        )
    return read_embedder(embedder_name(settings.model) if given is None else given)()
