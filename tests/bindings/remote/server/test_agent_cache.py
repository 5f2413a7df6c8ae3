"""An agent is deleted once the last call that uses it has released it."""

import threading
from pathlib import Path

import recollex
from recollex.remote.server.agent_cache import AgentCache
from recollex.remote.server.calls import Observer

BEGIN = 0.1
"""Seconds after which the other thread waits."""


def test_a_deletion_waits_for_the_calls_that_use_the_agent(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
        cache = AgentCache(store, 4, Observer())
        with cache.using("alice") as alice:
            alice.retain("Ann plays the cello.", embedding=[1.0] * 8)
            deletion = threading.Thread(target=cache.delete, args=("alice",), daemon=True)
            deletion.start()
            deletion.join(BEGIN)
            assert deletion.is_alive() and store.agents() == ["alice"]
        deletion.join(20)
        assert not deletion.is_alive() and store.agents() == []
