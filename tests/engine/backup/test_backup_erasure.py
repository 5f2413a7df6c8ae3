"""What was erased in a store is taken out of every backup of it."""

import random

import pytest

import recollex
from recollex_engine.backup import agent_backup
from recollex_engine.errors import InputError
from tests.engine.backup.copying import back_up
from tests.engine.erasure.traces import assert_gone, unit
from tests.engine.faults.small_store import D, contents, fill, opened, vectors

BY = {"by": "ben", "why": "as in the store"}
WORDS = ["anzibarin", "secret-id"]


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(agent_backup, "LOG_BYTES", 1000)
    monkeypatch.setattr(agent_backup, "VECTOR_ROWS", 16)
    with opened(tmp_path / "store") as agent:
        fill(agent, 0, 20)
        agent.retain("Zanzibarina is ill.", id="secret-id", embedding=vectors(777, 1)[0])
        fill(agent, 20, 20)
    with recollex.open(tmp_path / "store", embedder=recollex.GivenVectors(D)) as store:
        store.agent("b").retain("Of another agent.", id="b1", embedding=vectors(1, 1)[0])
    return tmp_path / "store"


def is_held(target):
    try:
        assert_gone(target, WORDS, [unit(vectors(777, 1)[0])])
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize("is_backed_up_after", [False, True])
def test_every_backup_loses_what_was_erased(path, tmp_path, is_backed_up_after):
    target = tmp_path / "b"
    back_up(path, target)
    with opened(path) as agent:
        fill(agent, 40, 5)
        back_up(path, target)
        agent.erase("secret-id", **BY)
        held = contents(agent)
    if is_backed_up_after:
        back_up(path, target)
    (target / "objects/ab").mkdir(exist_ok=True)
    (target / "objects/ab/left.tmp").write_bytes(b"Zanzibarina, from a run that was killed")
    assert is_held(target)
    done = recollex.erase_in_copy(path, target, "a", **BY)
    assert done.memories == (0 if is_backed_up_after else 1)
    assert not is_held(target)
    listed = recollex.backups(target)
    assert len(listed) == 3 + is_backed_up_after
    assert listed[-1].note == {"agent": "a", **BY} and listed[0].note == {}
    assert {each.agents["a"] for each in listed} == {48} and listed[0].agents["b"] == 2
    for each in listed:
        assert recollex.verify_backup(target, number=each.number).ok
        recollex.restore(target, tmp_path / f"r{each.number}", number=each.number)
        with opened(tmp_path / f"r{each.number}") as agent:
            assert contents(agent) == held and agent.verify().ok
    assert back_up(path, target).new_operations == 0


def test_the_past_of_an_erased_agent_can_be_restored(path, tmp_path):
    back_up(path, tmp_path / "b")
    with opened(path) as agent:
        then = agent.log()[21].recorded_at
        agent.erase("secret-id", **BY)
        recollex.erase_in_copy(path, tmp_path / "b", "a", **BY)
        recollex.restore(tmp_path / "b", tmp_path / "r", at=then)
        with opened(tmp_path / "r") as restored:
            assert contents(restored) == contents(agent.at(then)) and len(contents(restored)) == 20
            assert restored.verify().ok


def test_an_interrupted_erasure_is_completed_by_the_next(path, tmp_path, monkeypatch):
    from recollex_engine.backup import backup

    back_up(path, tmp_path / "b")
    with opened(path) as agent:
        agent.erase("secret-id", **BY)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(backup, "replace_agent", interrupted)
        with pytest.raises(KeyboardInterrupt):
            recollex.erase_in_copy(path, tmp_path / "b", "a", **BY)
    assert is_held(tmp_path / "b")
    recollex.erase_in_copy(path, tmp_path / "b", "a", **BY)
    assert not is_held(tmp_path / "b")


def test_a_run_whose_objects_were_swept_puts_them_again(path, tmp_path, monkeypatch):
    from recollex_engine.backup import backup

    back_up(path, tmp_path / "b")
    with opened(path) as agent:
        agent.erase("secret-id", **BY)
        fill(agent, 60, 5)
    real, calls = backup.enter, []

    def enter(folder, *args, **options):
        entry = real(folder, *args, **options)
        calls.append(folder.name)
        if calls == ["a"]:  # an erasure ends while this run has put its objects
            recollex.erase_in_copy(path, tmp_path / "b", "a", **BY)
        return entry

    monkeypatch.setattr(backup, "enter", enter)
    run = back_up(path, tmp_path / "b")
    assert calls == ["a", "a", "b", "a", "b"]  # the second is the erasure's
    for each in recollex.backups(tmp_path / "b"):
        assert recollex.verify_backup(tmp_path / "b", number=each.number).ok
    assert run.number == 3


def test_random_erasures_leave_nothing(path, tmp_path):
    rng = random.Random(5)
    with opened(path) as agent:
        ids = [memory.id for memory in agent.list(limit=100)]
        for _ in range(6):
            back_up(path, tmp_path / "b", keep=3)
            chosen = rng.sample(ids, 4)
            gone = [agent.get(id).text for id in chosen]
            agent.erase(chosen, **BY)
            ids = [id for id in ids if id not in chosen]
            recollex.erase_in_copy(path, tmp_path / "b", "a", **BY)
            assert_gone(tmp_path / "b", gone)
            assert recollex.verify_backup(tmp_path / "b").ok


def test_a_backup_of_another_store_is_refused(path, tmp_path):
    with opened(tmp_path / "other") as agent:
        fill(agent, 0, 3)
    back_up(tmp_path / "other", tmp_path / "b")
    with pytest.raises(InputError, match="is no backup of agent 'a'"):
        recollex.erase_in_copy(path, tmp_path / "b", "a", **BY)
    with pytest.raises(InputError, match="no agent 'b' in the newest backup"):
        recollex.erase_in_copy(path, tmp_path / "b", "b", **BY)
    assert [each.number for each in recollex.backups(tmp_path / "b")] == [1]
