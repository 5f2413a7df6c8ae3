"""Moves an agent to another embedding model."""

import os
from contextlib import suppress
from functools import partial

from recollex.api.keys import Key, key_bytes
from recollex.api.progress import progress_bar
from recollex.api.store import open, read_embedder
from recollex_engine.agents.folder_names import agent_folder
from recollex_engine.clock import system_clock
from recollex_engine.errors import LockedError
from recollex_engine.models.embedder import Embedder, checked
from recollex_engine.storage.encryption import open_key
from recollex_engine.storage.lock import absolute
from recollex_engine.writing import reembedding


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
