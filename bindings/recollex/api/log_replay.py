"""Rebuilds an agent from its log."""

import os
from pathlib import Path

from recollex.api.keys import Key, key_bytes
from recollex.api.progress import progress_bar
from recollex.api.store import read_embedder
from recollex_engine.agents import snapshot
from recollex_engine.clock import system_clock
from recollex_engine.domain.checks import check_flag
from recollex_engine.models.embedder import Embedder
from recollex_engine.storage.lock import absolute


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
