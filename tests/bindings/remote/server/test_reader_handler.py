"""What a reader process answers about an agent that is deleted and made again meanwhile."""

from pathlib import Path
from typing import Any

import recollex
from recollex.remote.server.reader_process import RequestHandler
from recollex.remote.wire.codec import decode
from tests.bindings.word_vectors import WordVectors


def count(handler: RequestHandler, agent: str) -> Any:
    number, failure, chunks, result, trace = handler.handle([7, "count", agent, {}, None, 0, 0])
    assert (number, failure, chunks, trace) == (7, None, [], None)
    return decode(result)


def test_a_new_agent_of_a_deleted_ones_name_is_read(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        store.agent("ann").retain_many(["Ann is here.", "Ann likes tea."])
        handler = RequestHandler(
            ["tests.bindings.remote.server.reader_openers:words", {"path": str(tmp_path)}, 4]
        )
        assert count(handler, "ann") == 2
        store.delete_agent("ann")
        assert count(handler, "ann") == 0
        store.agent("ann").retain("A new Ann.")
        assert count(handler, "ann") == 1
        store.delete_agent("ann")
        store.agent("ann").retain_many(["Once", "more", "Ann."])
        assert count(handler, "ann") == 3
