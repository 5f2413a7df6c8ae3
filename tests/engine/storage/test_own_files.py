"""A folder that somebody else made holds links; none of the user's other files changes."""

import fcntl
import os

import pytest

import recollex
from recollex_engine.errors import CorruptError
from recollex_engine.storage.disk import Replacement, open_file, replace_file, unfinished_path
from recollex_engine.storage.unfinished import remove_unfinished_files, remove_unfinished_of
from recollex_engine.writing import checkpoint
from recollex_engine.writing import checkpoint as graphs
from tests.engine.faults.small_store import D, contents, fill, opened

MINE = b"A file of the user, of another folder."


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine"
    path.mkdir()
    (path / "file").write_bytes(MINE)
    return path


def is_unchanged(mine):
    return [each.read_bytes() for each in mine.iterdir()] == [MINE]


def use(path):
    """Open, write, checkpoint, build a graph, erase and close."""
    with opened(path) as agent:
        first = len(contents(agent))
        fill(agent, first, 40)
        agent.checkpoint()
        agent.erase(agent.list(limit=1)[0].id, by="ben", why="x")
        fill(agent, first + 40, 3)
        agent.checkpoint()


@pytest.fixture
def small(monkeypatch):
    """Many kinds of files, of few memories."""
    monkeypatch.setattr(checkpoint, "LOG_BYTES", 3000)
    monkeypatch.setattr(graphs, "GRAPH_ROWS", 32)
    monkeypatch.setattr(graphs, "GRAPH_STEP", 16)


@pytest.fixture
def store(tmp_path, small):
    use(tmp_path / "store")
    return tmp_path / "store"


def files_of(store):
    return [each for each in sorted(store.rglob("*")) if each.is_file()]


def test_links_at_every_fixed_temporary_name_change_nothing(store, mine):
    """Earlier versions wrote to NAME.tmp, whatever it was."""
    for each in files_of(store):
        for end in (".tmp", ".building.tmp"):
            each.with_name(each.name + end).symlink_to(mine / "file")
    use(store)
    assert is_unchanged(mine)


def test_a_link_in_place_of_any_file_is_refused(store, mine):
    for file in files_of(store):
        kept = file.rename(mine.parent / "kept")
        file.symlink_to(mine / "file")
        with pytest.raises(CorruptError, match=r"link|damaged|expected"):
            use(store)
        assert is_unchanged(mine), file
        file.unlink()
        kept.rename(file)
    use(store)


@pytest.mark.parametrize("name", ["log", "columns", "segment-0000", "graphs", "anything"])
def test_a_linked_folder_in_an_agents_folder_is_refused(store, mine, name):
    folder = store / "agents/a" / name
    if folder.exists():
        folder.rename(store / "moved")
    folder.symlink_to(mine)
    with pytest.raises(CorruptError, match="a link or a device"):
        use(store)
    with pytest.raises(CorruptError, match="a link or a device"):
        recollex.reembed(store, "a", embedder=recollex.GivenVectors(D))
    assert is_unchanged(mine)


def test_an_export_writes_through_no_link(store, mine, tmp_path):
    with opened(store) as agent:
        for name in ("out.jsonl", ".out.jsonl.tmp", "out.jsonl.tmp"):
            (tmp_path / name).symlink_to(mine / "file")
        recollex.export_memories(agent, tmp_path / "out.jsonl")
    assert is_unchanged(mine)
    assert not (tmp_path / "out.jsonl").is_symlink()


def test_what_a_dead_process_left_is_removed_and_what_a_live_one_writes_stays(tmp_path, mine):
    path = tmp_path / "folder" / "file"
    path.parent.mkdir()
    left = unfinished_path(path)
    left.write_bytes(b"half")
    unfinished_path(path).symlink_to(mine / "file")
    with Replacement(path) as file:
        file.write(b"tea")
        remove_unfinished_files(tmp_path)
        assert list(path.parent.iterdir()) == [file.path]
        file.take_place()
    assert path.read_bytes() == b"tea" and list(path.parent.iterdir()) == [path]
    unfinished_path(path).write_bytes(b"half")
    unfinished_path(path.with_name("other")).write_bytes(b"of another")
    remove_unfinished_of(path)
    assert len(list(path.parent.iterdir())) == 2
    assert is_unchanged(mine)


def test_a_process_that_is_killed_leaves_nothing_for_the_next_writer(store):
    pid = os.fork()
    if not pid:
        for folder in ("", "log", "columns", "graphs"):
            held = Replacement(store / "agents/a" / folder / "file")
            held.write(b"half")
        os.kill(os.getpid(), 9)
    os.waitpid(pid, 0)
    assert len(list(store.rglob("*.tmp"))) == 4
    with opened(store) as agent:
        assert not list(store.rglob("*.tmp"))
        assert agent.verify().ok


def test_a_new_file_is_written_again_where_another_took_it_for_left(tmp_path, monkeypatch):
    flock, removed = fcntl.flock, []

    def removing(fd, how):
        flock(fd, how)
        if not removed:
            removed.extend(tmp_path.iterdir())
            removed[0].unlink()

    monkeypatch.setattr(fcntl, "flock", removing)
    replace_file(tmp_path / "file", b"tea")
    assert (tmp_path / "file").read_bytes() == b"tea" and removed


def test_a_link_is_read_and_never_written(tmp_path, mine):
    link = tmp_path / "link"
    link.symlink_to(mine / "file")
    os.close(open_file(link, os.O_RDONLY))
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_RDWR | os.O_CREAT, os.O_WRONLY | os.O_TRUNC):
        with pytest.raises(CorruptError, match="symbolic link"):
            open_file(link, flags)
    assert is_unchanged(mine)
