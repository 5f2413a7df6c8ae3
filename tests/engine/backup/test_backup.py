"""A store is backed up while it is written, restored as of any time, and verified."""

import random
import threading
from datetime import UTC, datetime, timedelta

import pytest

import recollex
from recollex_engine.backup import agent_backup, backup
from recollex_engine.errors import FormatError, InputError, StoreFullError
from tests.engine.backup.copying import back_up, files_of, said, sweep_at_once
from tests.engine.faults.small_store import answers, contents, fill, opened, text, vectors

BY = {"by": "ann", "why": "asked"}


def test_a_restored_store_is_the_store(path, tmp_path):
    first = back_up(path, tmp_path / "b")
    assert (first.number, first.agents, first.problems) == (1, 1, ())
    assert first.operations == first.new_operations == 41 and first.objects > 10
    restored = recollex.restore(tmp_path / "b", tmp_path / "again")
    assert restored.agents == {"a": 41}
    assert files_of(tmp_path / "again") == files_of(path)
    assert said(tmp_path / "again") == said(path)
    with opened(tmp_path / "again") as agent:
        fill(agent, 40, 3)
        assert agent.verify().ok


def test_a_second_backup_reads_and_writes_what_is_new(path, tmp_path, monkeypatch):
    first = back_up(path, tmp_path / "b")
    again = back_up(path, tmp_path / "b")
    assert (again.number, again.new_operations, again.objects) == (2, 0, 0)
    with opened(path) as agent:
        fill(agent, 40, 2)
        read = []
        real = agent_backup.LogFile.read
        monkeypatch.setattr(
            agent_backup.LogFile, "read", lambda *a: read.append(real(*a)) or real(*a)
        )
        third = back_up(path, tmp_path / "b")
    assert third.new_operations == 2 and third.objects <= 4 < first.objects
    assert sum(map(len, read)) < 25_000  # of a log of 40 kB
    assert recollex.verify_backup(tmp_path / "b").ok
    recollex.restore(tmp_path / "b", tmp_path / "again")
    assert files_of(tmp_path / "again") == files_of(path)
    recollex.restore(tmp_path / "b", tmp_path / "former", number=1)
    assert len(said(tmp_path / "former")[0]) == 40
    assert [(each.number, each.agents) for each in recollex.backups(tmp_path / "b")] == [
        (1, {"a": 41}), (2, {"a": 41}), (3, {"a": 43}),
    ]  # fmt: skip


def test_a_restore_equals_the_cut_at_20_random_times(tmp_path, small):
    rng, times = random.Random(7), []
    start = datetime(2024, 5, 1, tzinfo=UTC)
    given = vectors(3, 60)
    with opened(tmp_path / "store", clock=lambda: datetime(2024, 7, 1, tzinfo=UTC)) as agent:
        for n in range(50):
            at = start + timedelta(hours=n, microseconds=rng.randrange(10**9))
            options = {"recorded_at": at}
            if n % 9 == 5:
                agent.correct(f"m{n - 1}", text(n + 60), embedding=given[n], **BY, **options)
            elif n % 9 == 7:
                agent.archive(f"m{n - 3}", **BY, **options)
            else:
                agent.retain(text(n), id=f"m{n}", embedding=given[n], **options)
            if n % 10 == 0:
                agent.checkpoint()
            if n % 16 == 15:
                back_up(tmp_path / "store", tmp_path / "b")
            times.append(at)
        back_up(tmp_path / "store", tmp_path / "b")
        for number in range(20):
            at = rng.uniform(0, 50) * timedelta(hours=1) + start
            recollex.restore(tmp_path / "b", tmp_path / f"r{number}", at=at)
            with opened(tmp_path / f"r{number}", clock=lambda at=at: at) as then:
                cut = agent.at(at)
                assert contents(then) == contents(cut) and answers(then) == answers(cut)
                assert then.log() == cut.log()
                assert then.verify().ok


def test_backups_beside_a_writer_are_prefixes(path, tmp_path):
    stop, failures = threading.Event(), []

    def write(agent):
        n = 100
        while not stop.is_set():
            fill(agent, n, 1)
            n += 1

    with opened(path) as agent:
        thread = threading.Thread(target=write, args=(agent,))
        thread.start()
        try:
            runs = [back_up(path, tmp_path / "b") for _ in range(5)]
        finally:
            stop.set()
            thread.join()
        assert not failures and all(not run.problems for run in runs)
        held = contents(agent)
    for run in runs:
        recollex.restore(tmp_path / "b", tmp_path / f"r{run.number}", number=run.number)
        found, _, problems = said(tmp_path / f"r{run.number}")
        assert problems == () and found == held[: len(found)] and len(found) >= 40


def test_a_backup_in_flight_holds_nothing_that_is_not_acknowledged(path, tmp_path, monkeypatch):
    from recollex_engine.log import durability

    with opened(path) as agent:
        fill(agent, 40, 1)
        seen = []

        def flush(commits, op):
            seen.append(back_up(path, tmp_path / "b").operations)

        monkeypatch.setattr(durability.GroupCommit, "flush", flush)
        fill(agent, 41, 1)
    assert seen[0] == 42


def test_concurrent_backups_are_all_whole(path, tmp_path):
    runs = []
    threads = [
        threading.Thread(target=lambda: runs.append(back_up(path, tmp_path / "b")))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(run.number for run in runs) == [1, 2, 3, 4]
    for number in range(1, 5):
        assert recollex.verify_backup(tmp_path / "b", number=number).ok


def test_an_interrupted_backup_is_completed_by_the_next(path, tmp_path, monkeypatch):
    monkeypatch.setattr("recollex_engine.backup.target._MOST_PENDING", 4)
    real, calls = backup.Objects.add, []

    def add(objects, content, compressed):
        calls.append(content)
        if len(calls) == 9:
            raise KeyboardInterrupt
        return real(objects, content, compressed)

    whole = back_up(path, tmp_path / "other").objects
    monkeypatch.setattr(backup.Objects, "add", add)
    with pytest.raises(KeyboardInterrupt):
        back_up(path, tmp_path / "b")
    with pytest.raises(InputError, match="no complete backup"):
        recollex.backups(tmp_path / "b")
    assert not list((tmp_path / "b").rglob("*.tmp"))
    assert back_up(path, tmp_path / "b").objects == whole - 8
    assert recollex.verify_backup(tmp_path / "b").ok


def test_old_backups_go_and_the_others_stay_whole(path, tmp_path, monkeypatch):
    sweep_at_once(monkeypatch)
    for first in (40, 50, 60):
        back_up(path, tmp_path / "b")
        with opened(path) as agent:
            fill(agent, first, 2)
    back_up(path, tmp_path / "b", keep=2)
    assert [each.number for each in recollex.backups(tmp_path / "b")] == [3, 4]
    for number in (3, 4):
        assert recollex.verify_backup(tmp_path / "b", number=number).ok
    back_up(path, tmp_path / "only", keep=1)
    stored = {p.name for p in (tmp_path / "b/objects").rglob("*") if p.is_file()}
    back_up(path, tmp_path / "b", keep=1)
    kept = {p.name for p in (tmp_path / "b/objects").rglob("*") if p.is_file()}
    assert kept == {p.name for p in (tmp_path / "only/objects").rglob("*") if p.is_file()}
    assert kept < stored
    with pytest.raises(InputError, match="keep must be an int of at least 1, got 0"):
        back_up(path, tmp_path / "b", keep=0)


def test_an_object_that_no_manifest_needs_is_kept_for_a_day(path, tmp_path):
    back_up(path, tmp_path / "b")
    stray = tmp_path / "b/objects/ab" / ("ab" * 32)
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"of a run that goes on")
    back_up(path, tmp_path / "b", keep=1)
    assert stray.exists()


def test_an_erasure_and_a_move_are_read_from_the_beginning(path, tmp_path):
    back_up(path, tmp_path / "b")
    with opened(path) as agent:
        agent.erase("m3", **BY)
        fill(agent, 40, 1)
    run = back_up(path, tmp_path / "b")
    assert run.new_operations == 2
    recollex.restore(tmp_path / "b", tmp_path / "r")
    assert files_of(tmp_path / "r") == files_of(path) and said(tmp_path / "r")[2] == ()
    recollex.reembed(path, "a", embedder=recollex.GivenVectors(32))


def test_what_is_no_backup_is_refused(path, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter").write_text("mine")
    with pytest.raises(InputError, match=r"holds other files \(letter\)"):
        back_up(path, tmp_path / "mine")
    with pytest.raises(InputError, match="holds other files"):
        back_up(path, path)
    for use in (recollex.backups, recollex.verify_backup):
        with pytest.raises(InputError, match="there is no backup at"):
            use(tmp_path / "mine")
    with pytest.raises(InputError, match="is a file"):
        back_up(path, tmp_path / "mine/letter")
    with pytest.raises(InputError, match="is empty"):
        back_up(path, "")
    with pytest.raises(InputError, match="holds no agent"):
        back_up(tmp_path / "none", tmp_path / "b")
    back_up(path, tmp_path / "b")
    with pytest.raises(InputError, match=r"there is no backup 7 in .*, only 1"):
        recollex.restore(tmp_path / "b", tmp_path / "r", number=7)
    with pytest.raises(InputError, match="has no agent 'bob', only a"):
        recollex.restore(tmp_path / "b", tmp_path / "r", agents=["bob"])
    with pytest.raises(InputError, match="has an agent 'a' already"):
        recollex.restore(tmp_path / "b", path)
    with pytest.raises(InputError, match="knows nothing after"):
        recollex.restore(tmp_path / "b", tmp_path / "r", at=datetime(2999, 1, 1, tzinfo=UTC))
    (tmp_path / "b/RECOLLEX_BACKUP").write_text('{"recollex_backup": 2}')
    with pytest.raises(FormatError, match="has format 2, this recollex"):
        recollex.backups(tmp_path / "b")
    assert not (tmp_path / "r").exists()


def test_a_full_disk_leaves_the_former_backup(path, tmp_path, monkeypatch):
    import errno

    from recollex_engine.storage import disk

    back_up(path, tmp_path / "b")
    with opened(path) as agent:
        fill(agent, 40, 3)
    real, left = disk.os.pwrite, [2000]

    def pwrite(fd, data, offset):
        left[0] -= len(data)
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(fd, data, offset)

    monkeypatch.setattr(disk.os, "pwrite", pwrite)
    with pytest.raises(StoreFullError, match="free space and retry"):
        back_up(path, tmp_path / "b")
    monkeypatch.undo()
    assert [each.number for each in recollex.backups(tmp_path / "b")] == [1]
    assert recollex.verify_backup(tmp_path / "b").ok
    assert not list((tmp_path / "b").rglob("*.tmp"))
    assert back_up(path, tmp_path / "b").operations == 44


def test_a_target_that_cannot_be_written_is_refused(path, tmp_path, monkeypatch):
    import errno

    from recollex_engine.backup import target

    def refused(path, **_):
        raise PermissionError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(target, "make_folder", refused)
    with pytest.raises(InputError, match=r"cannot be written to .Read-only file system.: give"):
        back_up(path, tmp_path / "b")


def test_a_backup_is_for_its_owner_alone(path, tmp_path):
    back_up(path, tmp_path / "deep/b")
    recollex.restore(tmp_path / "deep/b", tmp_path / "r")
    with opened(path) as agent:
        agent.snapshot(agent.log()[-1].recorded_at, tmp_path / "s")
    for place in (tmp_path / "deep/b", tmp_path / "r", tmp_path / "s"):
        for each in (place, *place.rglob("*")):
            assert each.stat().st_mode & 0o777 == (0o700 if each.is_dir() else 0o600), each
