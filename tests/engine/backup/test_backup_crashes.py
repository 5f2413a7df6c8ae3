"""Whatever a crash leaves of a backup, the backups before are whole, and the next run succeeds."""

import random
import shutil

import pytest

import recollex
from recollex_engine.backup import agent_backup
from tests.engine.backup.copying import back_up, sweep_at_once
from tests.engine.faults.small_store import contents, fill, opened
from tests.faults.checking import laid_out
from tests.faults.recorder import recording
from tests.faults.states import states


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(agent_backup, "LOG_BYTES", 4000)
    with opened(tmp_path / "store") as agent:
        fill(agent, 0, 20)
    return tmp_path / "store"


def assert_whole(target, numbers):
    for number in numbers:
        found = recollex.verify_backup(target, number=number)
        assert found.ok, (number, found.problems)


@pytest.mark.parametrize("keep", [None, 1])
def test_the_former_backup_outlives_every_crash(path, tmp_path, keep, monkeypatch):
    sweep_at_once(monkeypatch)
    target = tmp_path / "b"
    back_up(path, target)
    with opened(path) as agent:
        fill(agent, 20, 2)
    with recording(target) as held:
        back_up(path, target, keep=keep)
    seen = set()
    for state in states(held.start, held.events, seed=3, share=0.5):
        files = {name: data for name, data in state.tree.items() if data is not None}
        if hash(frozenset(files.items())) in seen:
            continue
        seen.add(hash(frozenset(files.items())))
        with laid_out(state.tree) as root:
            numbers = [each.number for each in recollex.backups(root)]
            assert numbers[0] == 1 or numbers == [2], state.how
            assert_whole(root, numbers)
            if random.Random(state.at).random() < 0.1:
                back_up(path, root)
                assert_whole(root, [numbers[-1] + 1])
    assert len(seen) > 20


def test_the_first_backup_is_none_until_it_is_whole(path, tmp_path):
    target = tmp_path / "b"
    target.mkdir()
    with recording(target) as held:
        back_up(path, target)
    for state in states(held.start, held.events, seed=4, share=0.3):
        with laid_out(state.tree) as root:
            try:
                numbers = [each.number for each in recollex.backups(root)]
            except recollex.errors.InputError:
                continue
            assert_whole(root, numbers)
            shutil.rmtree(root / "objects")
            back_up(path, root, fresh=True)
            assert_whole(root, numbers)


def test_a_restored_store_is_whole_or_not_there(path, tmp_path):
    back_up(path, tmp_path / "b")
    place = tmp_path / "place"
    place.mkdir()
    with recording(place) as held:
        recollex.restore(tmp_path / "b", place / "r")
    with opened(path, read_only=True) as agent:
        expected = contents(agent)
    seen = set()
    for state in states(held.start, held.events, seed=5):
        files = {name: data for name, data in state.tree.items() if data is not None}
        if hash(frozenset(files.items())) in seen:
            continue
        seen.add(hash(frozenset(files.items())))
        with laid_out(state.tree) as root:
            if (root / "r").exists():
                with opened(root / "r", read_only=True) as agent:
                    assert contents(agent) == expected, state.how
                    assert agent.verify().ok
            elif len(seen) % 10 == 0:
                recollex.restore(tmp_path / "b", root / "r")
    assert len(seen) > 10
