"""Files that cannot be opened or read are errors of recollex, which name the file and a remedy."""

import errno
import os
import shutil
import warnings

import pytest

import recollex
from recollex_engine.errors import AccessError, CorruptError, RecollexError
from tests.engine.faults import flipped_store
from tests.engine.faults.small_store import answers, fill, opened


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("refused") / "store"
    with flipped_store.small_parts():
        flipped_store.make(path)
        yield path


COLUMNS = ("term", "first_row", "closed_by", "ids.heap", "ids.offsets", "ids.index", "text")


def kinds(store):
    """One file of each kind, by its name."""
    found = {}
    for path in sorted(store.rglob("*")):
        is_other = path.parent.name == "columns" and path.name.split("-")[0] not in COLUMNS
        if path.is_file() and path.stat().st_size and not is_other:
            name = path.name.split("-")[0]
            found[name if not name.startswith("0") else f"log{path.suffix}"] = path
    for wanted in ("COMMIT", "MANIFEST", "vectors.f16", "log.jsonl", "hnsw", "postings", "term"):
        assert wanted in found
    return [str(path.relative_to(store)) for path in found.values()]


def use(path, read_only):
    """Everything that a caller may do; only errors of recollex may come out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with flipped_store.opened(path, read_only=read_only) as store:
                store.agents()
                agent = store.agent("a")
                agent.list(limit=1)
                agent.stats()
        except RecollexError as error:
            return error
    return None


def test_a_folder_in_place_of_any_file_is_named(store, tmp_path):
    copy = tmp_path / "store"
    shutil.copytree(store, copy)
    for name in kinds(store):
        path = copy / name
        path.rename(tmp_path / "kept")
        path.mkdir()
        error = use(copy, read_only=True)
        assert error is None or path.name in str(error) or "log" in name, (name, error)
        path.rmdir()
        (tmp_path / "kept").rename(path)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_a_file_that_the_system_refuses_is_named(store, monkeypatch, number):
    real, refused = os.open, []

    def opening(path, *rest, **options):
        if str(path) == refused[0]:
            raise OSError(number, os.strerror(number), str(path))
        return real(path, *rest, **options)

    monkeypatch.setattr(os, "open", opening)
    for name in kinds(store):
        refused[:] = [str(store / name)]
        error = use(store, read_only=True)
        if error is not None:
            assert name in str(error), name
            assert isinstance(error, AccessError if number == errno.EACCES else CorruptError)
            assert ("chown, chmod" if number == errno.EACCES else "copy") in str(error)


def test_a_disk_that_may_not_be_written_is_not_said_to_be_full(tmp_path, monkeypatch):
    path = tmp_path / "store"
    with opened(path) as agent:
        fill(agent, 0, 20)
        held = answers(agent)
        real = os.open

        def refusing(name, flags, *rest, **options):
            if flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
                raise OSError(errno.EROFS, "Read-only file system", str(name))
            return real(name, flags, *rest, **options)

        monkeypatch.setattr(os, "open", refusing)
        with pytest.raises(AccessError, match=r"Read-only file system.*read_only=True"):
            agent.checkpoint()
        monkeypatch.undo()
        assert answers(agent) == held
    monkeypatch.setattr(os, "open", refusing)
    with pytest.raises(AccessError, match=r"store.agents.a"), opened(path):
        pass
    with opened(path, read_only=True) as agent:
        assert answers(agent) == held
    with pytest.raises(AccessError), opened(tmp_path / "new") as agent:
        fill(agent, 0, 1)


def test_a_log_that_is_a_file_is_named(tmp_path):
    path = tmp_path / "store"
    (path / "agents" / "a").mkdir(parents=True)
    (path / "agents" / "a" / "log").write_text("no folder")
    for read_only in (True, False):
        error = CorruptError
        with pytest.raises(error, match="log"), opened(path, read_only=read_only) as agent:
            agent.list()


def test_a_number_beyond_64_bits_in_the_log_is_damage(tmp_path):
    path = tmp_path / "store"
    with opened(path) as agent:
        fill(agent, 0, 3)
    log = next((path / "agents" / "a" / "log").glob("0*"))
    at = log.read_bytes()
    first = at.index(b'"at":', at.index(b"\n"))
    end = at.index(b",", first)
    log.write_bytes(at[: first + 5] + b"9" * 19 + at[end:])
    for read_only in (True, False):
        with pytest.raises(CorruptError, match="log"), opened(path, read_only=read_only) as agent:
            agent.list()
    assert recollex.open(path, embedder=recollex.GivenVectors(32), read_only=True).agents() == ["a"]
