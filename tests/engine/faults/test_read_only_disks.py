"""A disk that becomes read-only: every public operation says so, and the agent stays readable."""

import builtins
import errno
import io
import os
from datetime import UTC, datetime, timedelta

import pytest

import recollex
from recollex_engine.errors import RecollexError
from tests.engine.faults.small_store import Model, contents, opened, text

NOW = datetime(2026, 5, 4, tzinfo=UTC)
CHANGES = "mkdir rmdir unlink remove rename replace truncate link symlink chmod utime".split()  # noqa: SIM905
make_folder = os.mkdir
OF_DESCRIPTORS = ("pwrite", "write", "ftruncate")


class Disk:
    """Refuses every change below ``root`` while it is read-only, as the system does."""

    def __init__(self, root, patch):
        self.root = str(root)
        self.read_only = False
        self.names = {}
        self.refused = 0
        real_open, real_file = os.open, io.open

        def open_(path, flags, *rest, **options):
            if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
                self.check(path, **options)
            fd = real_open(path, flags, *rest, **options)
            self.names[fd] = path
            return fd

        def open_file(path, mode="r", *rest, **options):
            if set(mode) & set("wax+"):
                self.check(path)
            return real_file(path, mode, *rest, **options)

        patch.setattr(os, "open", open_)
        patch.setattr(io, "open", open_file)
        patch.setattr(builtins, "open", open_file)
        for name in (*CHANGES, *OF_DESCRIPTORS):
            patch.setattr(os, name, self.checking(getattr(os, name)))

    def checking(self, real):
        def call(path, *rest, **options):
            if real is make_folder and os.path.lexists(path):
                return real(path, *rest, **options)  # the system says that it exists
            self.check(self.names.get(path, "") if isinstance(path, int) else path, **options)
            return real(path, *rest, **options)

        return call

    def check(self, path, dir_fd=None, **_):
        if dir_fd is not None:
            path = os.path.join(self.names[dir_fd], path)  # noqa: PTH118
        if self.read_only and not isinstance(path, int) and os.fspath(path).startswith(self.root):
            self.refused += 1
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), os.fspath(path))


@pytest.fixture
def disk(tmp_path, monkeypatch):
    (tmp_path / "disk").mkdir()
    return Disk(tmp_path / "disk", monkeypatch)


def use_transaction(agent):
    with agent.transaction() as draft:
        draft.forget("m1")
        draft.facts.add("Ann", "likes", "ink")


NOTE = {"by": "Ann", "why": "asked"}
WRITES = {
    "retain": lambda agent: agent.retain("One more."),
    "retain_dialogue": lambda agent: agent.retain_dialogue(
        [{"speaker": "Ann", "text": "Tea?", "at": NOW}], document_id="d"
    ),
    "replace": lambda agent: agent.retain("Other words.", id="m2"),
    "correct": lambda agent: agent.correct("m2", "Other words.", by="Ann"),
    "forget": lambda agent: agent.forget("m4"),
    "archive": lambda agent: agent.archive("m5"),
    "erase": lambda agent: agent.erase("m6", **NOTE),
    "erase everything": lambda agent: agent.erase(everything=True, **NOTE),
    "set_retention": lambda agent: agent.set_retention([recollex.Retention(count=5)], **NOTE),
    "expire": lambda agent: agent.expire(),
    "transaction": use_transaction,
    "facts": lambda agent: agent.facts.add("Ann", "likes", "tea"),
    "events": lambda agent: agent.events.add("Ann moved.", participants=["Ann"]),
    "checkpoint": lambda agent: agent.checkpoint(),
}


def fill(agent, first, count):
    agent.retain_many([text(n) for n in range(first, first + count)], id=names(first, count))


def names(first, count):
    return [f"m{n}" for n in range(first, first + count)]


def state(agent):
    asked = [agent.recall(query, exact=True) for query in ("tea ink", "owl", "Memory 7")]
    return contents(agent), [[(each.id, each.score) for each in found] for found in asked]


@pytest.mark.parametrize("name", WRITES)
def test_a_write_on_a_disk_that_became_read_only(tmp_path, disk, name):
    path, now = tmp_path / "disk" / "s", [NOW]
    with opened(path, embedder=Model(), clock=lambda: now[0]) as agent:
        fill(agent, 0, 12)
        agent.checkpoint()
        fill(agent, 12, 4)
        if name == "expire":
            agent.set_retention([recollex.Retention(age=timedelta(days=1))], **NOTE)
            now[0] += timedelta(days=2)
        held = state(agent)
        disk.read_only = True
        with pytest.raises(RecollexError, match="Read-only file system") as error:
            WRITES[name](agent)
        assert disk.refused
        assert str(disk.root) in str(error.value)
        assert state(agent) == held
        with opened(path, embedder=Model(), read_only=True) as reader:
            assert state(reader) == held
        assert agent.verify().ok
        disk.read_only = False
        fill(agent, 30, 1)
        held = state(agent)
    with opened(path, embedder=Model()) as agent:
        assert state(agent) == held
        assert agent.verify().ok


COPIES = {
    "snapshot": lambda store, place: store.agent("a").snapshot(datetime.now(UTC), place),
    "backup": lambda store, place: store.backup(place),
    "export": lambda store, place: recollex.export_memories(store.agent("a"), f"{place}.jsonl"),
    "replay": lambda store, place: recollex.replay(
        store.path / "agents/a", place, agent_id="b", embedder=Model()
    ),
    "restore": lambda store, place: recollex.restore(store.path.parent / "backup", place),
    "open": lambda store, place: recollex.open(place, embedder=Model()).agent("b").retain("Tea."),
}


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize("target", ["there", "new", "deep/new"])
def test_a_copy_onto_a_read_only_disk(tmp_path, disk, name, target):
    with recollex.open(tmp_path / "s", embedder=Model()) as store:
        agent = store.agent("a")
        agent.retain_many(["Tea is hot.", "Ink is blue."], id=["m0", "m1"])
        store.backup(tmp_path / "backup")
        held = state(agent)
        place = tmp_path / "disk" / target
        if target == "there":
            place.mkdir()
        elif name == "export":
            place.parent.mkdir(exist_ok=True)
        disk.read_only = True
        with pytest.raises(RecollexError, match="Read-only file system") as error:
            COPIES[name](store, place)
        assert str(disk.root) in str(error.value)
        assert state(agent) == held
        disk.read_only = False
        COPIES[name](store, place)
    with recollex.open(tmp_path / "s", embedder=Model()) as store:
        assert state(store.agent("a")) == held


AT_REST = {
    "reembed": lambda path: recollex.reembed(path, "a", embedder=OtherModel()),
    "erase_in_copy": lambda path: recollex.erase_in_copy(
        path.parent.parent / "s", path, "a", **NOTE, embedder=Model()
    ),
    "open": lambda path: recollex.open(path, embedder=Model()).agent("a"),
}


class OtherModel(Model):
    fingerprint = "other"


@pytest.mark.parametrize("name", AT_REST)
def test_work_on_a_store_that_lies_on_a_read_only_disk(tmp_path, disk, name):
    path = tmp_path / "disk" / "copy"
    with opened(tmp_path / "s", embedder=Model()) as agent:
        agent.retain_many(["Tea is hot.", "Ink is blue."], id=["m0", "m1"])
        agent.snapshot(datetime.now(UTC), path)
        agent.erase("m1", **NOTE)
    with opened(path, embedder=Model()) as agent:
        held = state(agent)
    disk.read_only = True
    with pytest.raises(RecollexError, match="Read-only file system") as error:
        AT_REST[name](path)
    assert str(disk.root) in str(error.value)
    with opened(path, embedder=Model(), read_only=True) as agent:
        assert state(agent) == held
        assert agent.verify().ok


def test_the_doctor_of_a_read_only_disk_says_what_it_could_not_mend(tmp_path, disk):
    path = tmp_path / "disk" / "s"
    with opened(path, embedder=Model()) as agent:
        agent.retain_many(["Tea is hot.", "Ink is blue."], id=["m0", "m1"])
        agent.checkpoint()
        held = state(agent)
    (path / "agents" / "a" / "MANIFEST").write_text("{")
    disk.read_only = True
    (_, found) = recollex.doctor(path, embedder=Model())
    assert found.found and any("Read-only file system" in each for each in found.left)
    with (
        pytest.warns(RuntimeWarning, match="manifest"),
        opened(path, embedder=Model(), read_only=True) as agent,
    ):
        assert state(agent) == held
