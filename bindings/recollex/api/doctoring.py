"""Finds what is wrong with a store, and mends what its log can mend."""

import os
from contextlib import suppress
from dataclasses import replace
from functools import partial

from recollex.api.keys import Key, key_bytes
from recollex.api.progress import progress_bar
from recollex.api.store import read_embedder
from recollex_engine.agents.doctor import Diagnosis, examine_agent, examine_store
from recollex_engine.agents.folder_names import agent_folder, agents_in
from recollex_engine.backup.manifest import last_manifest
from recollex_engine.backup.restoring import mend_vectors
from recollex_engine.backup.target import BackupPlace, Target, open_target
from recollex_engine.domain.settings import Settings
from recollex_engine.errors import (
    CorruptError,
    EncryptionError,
    InputError,
    LockedError,
    ModelError,
    embedder_name,
)
from recollex_engine.models.embedder import Embedder
from recollex_engine.storage.encryption import is_encrypted, open_key
from recollex_engine.storage.lock import absolute


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
    names = agents_in(place) if agent_id is None else [agent_id]
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
