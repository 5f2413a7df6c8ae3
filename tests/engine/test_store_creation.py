import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest

from recollex_engine.agents import store as engine
from recollex_engine.storage import disk


def test_a_store_may_be_made_by_many_threads_at_once(tmp_path: Path) -> None:
    for attempt in range(20):
        barrier = threading.Barrier(8)

        def make(folder: Path, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            engine.create_store(folder)

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(make, [tmp_path / str(attempt)] * 8))
        assert (tmp_path / str(attempt) / "store.json").exists()


@pytest.mark.parametrize("killed", [False, True])
def test_a_store_that_another_process_makes_meanwhile_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    """The other one begins to write when the first one has flushed, and may be killed then."""
    flush, write_at = disk.flush, disk.write_at

    def kill(*_: object) -> None:
        raise KeyboardInterrupt

    def overtaken(fd: int) -> None:
        flush(fd)
        monkeypatch.setattr(disk, "flush", flush)
        if killed:
            monkeypatch.setattr(disk, "write_at", kill)
        with pytest.raises(KeyboardInterrupt) if killed else nullcontext():
            engine.write_store_file(tmp_path / "memory")
        monkeypatch.setattr(disk, "write_at", write_at)

    (tmp_path / "memory").mkdir()
    monkeypatch.setattr(disk, "flush", overtaken)
    engine.write_store_file(tmp_path / "memory")
    assert engine.is_noted(tmp_path / "memory")
