import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recollex_engine.agents import store as engine


def test_a_store_may_be_made_by_many_threads_at_once(tmp_path: Path) -> None:
    for attempt in range(20):
        barrier = threading.Barrier(8)

        def make(folder: Path, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            engine.create_store(folder)

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(make, [tmp_path / str(attempt)] * 8))
        assert (tmp_path / str(attempt) / "store.json").exists()


def test_a_store_that_another_process_makes_meanwhile_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_file = engine.replace_file

    def overtaken(path: Path, *parts: bytes) -> None:
        replace_file(path, *parts)
        path.with_name("store.json.tmp").unlink(missing_ok=True)
        raise engine.StoreFullError(f"cannot replace {path.name}: No such file or directory")

    monkeypatch.setattr(engine, "replace_file", overtaken)
    engine.create_store(tmp_path / "memory")
    assert (tmp_path / "memory" / "store.json").exists()
