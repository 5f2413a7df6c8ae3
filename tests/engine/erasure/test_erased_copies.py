"""Erasing in a copy what was erased in the store that it is a copy of."""

import shutil
from datetime import UTC, datetime

import pytest

import recollex
from recollex_engine.errors import InputError
from tests.engine.erasure.traces import assert_gone, unit
from tests.engine.faults.small_store import D, contents, fill, opened, vectors

WORDS = ["anzibarin", "secret-id", "quuxtown"]
BY = {"by": "ben", "why": "as in the store"}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "store"
    with opened(path) as agent:
        fill(agent, 0, 20)
        agent.retain("Zanzibarina is ill.", id="secret-id", embedding=vectors(777, 1)[0])
        agent.facts.add("Zanzibarina", "lives_in", "Quuxtown", evidence=["secret-id"])
        fill(agent, 20, 20)
        agent.checkpoint()
    return path


def erase_in(path, copy):
    given = recollex.GivenVectors(D)
    return recollex.erase_in_copy(path, copy, "a", embedder=given, **BY)


def test_a_copy_loses_what_the_store_lost_and_keeps_its_own(path, tmp_path):
    copy, snapshot = tmp_path / "copy", tmp_path / "snapshot"
    shutil.copytree(path, copy)
    with opened(copy) as agent:
        agent.retain("Only here.", id="own", embedding=vectors(5, 1)[0])
        agent.correct("m3", "Zanzibarina was here.", embedding=vectors(6, 1)[0])
    with opened(path) as agent:
        agent.snapshot(datetime.now(UTC), snapshot)
        fill(agent, 40, 5)
        agent.erase("secret-id", **BY)
        agent.erase(["m3", "m44"], **BY)
        held = contents(agent)
    for place in (copy, snapshot):
        done = erase_in(path, place)
        assert (done.memories, done.facts) == (2 + (place is copy), 1)
        assert erase_in(path, place).op is None  # nothing more
        with opened(place) as agent:
            assert agent.verify().problems == ()
            own = [each for each in contents(agent) if each[0] != "own"]
            assert own == [each for each in held if each in own] and len(own) == 39
            assert len(contents(agent)) == 39 + (place is copy)
            assert [entry.why for entry in agent.log(op="erase")] == ["as in the store"]
        assert_gone(place, WORDS, [unit(vectors(777, 1)[0])])


def test_everything_goes_from_a_copy_that_ends_before(path, tmp_path):
    shutil.copytree(path, tmp_path / "copy")
    with opened(path) as agent:
        agent.erase(everything=True, **BY)
    assert erase_in(path, tmp_path / "copy").memories == 41
    with opened(tmp_path / "copy") as agent:
        assert contents(agent) == [] and len(agent.facts.find()) == 0
    assert_gone(tmp_path / "copy", WORDS)


def test_a_copy_that_went_its_own_way_loses_what_both_had(path, tmp_path):
    shutil.copytree(path, tmp_path / "copy")
    for place in (path, tmp_path / "copy"):
        with opened(place) as agent:
            fill(agent, 60, 3)
    with opened(path) as agent:
        agent.erase(["secret-id", "m61"], **BY)
    assert erase_in(path, tmp_path / "copy").memories == 1
    with opened(tmp_path / "copy") as agent:
        assert agent.get("m61").id == "m61"
        assert agent.verify().problems == ()
    assert_gone(tmp_path / "copy", WORDS)


def test_another_agent_is_no_copy(path, tmp_path):
    with opened(tmp_path / "other") as agent:
        fill(agent, 0, 30)
        for n in range(30, 40):
            fill(agent, n, 1)
        before = contents(agent)
    with opened(path) as agent:
        agent.erase("m3", **BY)
    with pytest.raises(InputError, match="is no copy"):
        erase_in(path, tmp_path / "other")
    with opened(tmp_path / "other") as agent:
        assert contents(agent) == before
    with pytest.raises(InputError, match="no agent"):
        erase_in(path, tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
