import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex import Ingestion
from tests.bindings.word_vectors import WordVectors

Ingest = Callable[..., Ingestion]


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[recollex.Agent]:
    with recollex.open(tmp_path / "memory", embedder=WordVectors()) as store:
        yield store.agent("alice")


@pytest.fixture
def ingest(agent: recollex.Agent, tmp_path: Path) -> Ingest:
    """Return a function that writes a file and ingests it twice: the second time adds nothing.

    Of a path, it is the file or the folder there.
    """

    def run(content: Any, name: str = "export.json", **options: Any) -> Ingestion:
        file = content if isinstance(content, Path) else tmp_path / name
        if isinstance(content, Path):
            pass
        elif isinstance(content, bytes):
            file.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content, indent=1)
            file.write_text(text, "utf-8")
        done = recollex.ingest(agent, file, **options)
        held = [memory.to_dict() for memory in agent.list(limit=1000)]
        again = recollex.ingest(agent, file, **options)
        assert (again.stored, again.read, again.left_out) == (0, done.read, done.left_out)
        assert [memory.to_dict() for memory in agent.list(limit=1000)] == held
        return done

    return run
