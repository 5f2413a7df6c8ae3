"""Files that are shortened in place under an open store: an error, not the end of the process."""

import os
import signal
import sys

import pytest

from recollex_engine.errors import CorruptError, RecollexError
from recollex_engine.state import file_sizes
from recollex_engine.state.file_sizes import FileChanges
from tests.engine.faults.small_store import contents, fill, opened, vectors

COUNT = 6000
linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere after a few milliseconds")


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    path = tmp_path_factory.mktemp("shortened") / "store"
    with opened(path, durability="off") as agent:
        fill(agent, 0, COUNT)
        agent.checkpoint()
        fill(agent, COUNT, 3)
    return path


def mapped_files(path):
    """The files of which a reader has pages mapped, by size."""
    with opened(path, read_only=True) as agent:
        contents(agent)
        replica = agent.engine.replica()
        files = [*file_sizes._of_columns(replica), *file_sizes._files_of(replica, replica.indexes)]
        files += file_sizes._vectors_of(replica)
        return [os.path.relpath(name, path) for name, _, _ in files]


def works(agent):
    yield lambda: agent.recall("tea", query_embedding=vectors(7, 1)[0])
    yield lambda: agent.get(f"m{COUNT - 1}").text
    yield lambda: agent.verify()
    if not agent.read_only:
        yield lambda: agent.retain("More tea.", id="more", embedding=vectors(8, 1)[0])
        yield lambda: agent.checkpoint()


def outcome(path, file, size, read_only):
    """Shorten a file in a child that has the store open; return how the child's calls end."""
    pid = os.fork()
    if not pid:
        refused = 99
        try:
            store = opened(path, read_only=read_only)
            agent = store.__enter__()
            agent.read_only = read_only
            agent.recall("tea", query_embedding=vectors(7, 1)[0])
            contents(agent)
            os.truncate(path / file, size)
            refused = 0
            for work in works(agent):
                try:
                    found = work()
                    refused += getattr(found, "ok", True) is False
                except RecollexError:
                    refused += 1
        finally:
            os._exit(refused)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return os.WEXITSTATUS(status)


@linux
@pytest.mark.parametrize("read_only", [True, False])
def test_a_shortened_file_is_an_error_of_every_call(kept, tmp_path, read_only):
    files = mapped_files(kept)
    assert "agents/a/vectors.f16" in files and len(files) >= 5
    for number, file in enumerate(files):
        path = tmp_path / f"{number}"
        os.system(f"cp -r '{kept}' '{path}'")
        size = 0 if number % 2 else (path / file).stat().st_size // 2
        assert outcome(path, file, size, read_only) == (3 if read_only else 5), (file, size)
        os.system(f"rm -r '{path}'")


def test_where_the_system_says_nothing_sizes_are_compared_in_time(kept, tmp_path, monkeypatch):
    monkeypatch.setattr(file_sizes, "SHARE", 1e9)  # each time
    monkeypatch.setattr(FileChanges, "watch", lambda changes, _: setattr(changes, "works", False))
    os.system(f"cp -r '{kept}' '{tmp_path}/store'")
    with opened(tmp_path / "store", read_only=True) as agent:
        held = contents(agent)
        file = tmp_path / "store/agents/a/vectors.f16"
        whole = file.read_bytes()
        os.truncate(file, 100)
        for _ in range(2):
            with pytest.raises(CorruptError, match="shortened while the store was open"):
                contents(agent)
        file.write_bytes(whole)
        assert contents(agent) == held


@linux
def test_changes_of_files_and_of_folders_are_told_once(tmp_path):
    changes = FileChanges()
    folder, file = tmp_path / "folder", tmp_path / "file"
    folder.mkdir()
    (folder / "a").write_bytes(b"tea")
    file.write_bytes(b"tea")
    assert changes.seen() is None
    changes.watch(str(folder))
    changes.watch(str(file))
    assert changes.seen() is None
    os.truncate(folder / "a", 1)
    assert changes.seen() == {str(folder)} and changes.seen() is None
    with file.open("ab") as more:
        more.write(b"cup")
    os.truncate(folder / "a", 0)
    assert changes.seen() == {str(folder), str(file)} and changes.seen() is None


@linux
def test_a_change_is_told_before_the_watching_thread_has_noted_the_path(tmp_path, monkeypatch):
    told = []

    class Noting(dict):
        def __setitem__(self, number, path):
            os.truncate(path, 1)
            told.append(changes.seen())  # as another thread does
            super().__setitem__(number, path)

    changes = FileChanges()
    monkeypatch.setattr(changes, "_watched", Noting())
    (tmp_path / "a").write_bytes(b"tea")
    changes.watch(str(tmp_path / "a"))
    assert told == [set()]  # something, and not what
