"""An agent is deleted once the last call that uses it has released it."""

import threading
from pathlib import Path
from unicodedata import normalize

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


def test_a_server_opens_an_agent_once_in_each_spelling(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
        cache = AgentCache(store, 4, Observer())
        decomposed = normalize("NFD", "José")
        with cache.using(decomposed) as first, cache.using("José") as second:
            first.retain("Tea.", embedding=[1.0] * 8)
            assert first is second and len(cache) == 1
        cache.delete(decomposed)
        assert len(cache) == 0 and store.agents() == []
