"""The doctor names what is wrong, mends what follows from the log, and says what does not."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest

import recollex
from recollex_engine.errors import InputError, StoreFullError
from tests.engine.faults.small_store import (
    D,
    Model,
    answers,
    assert_holds,
    contents,
    fill,
    opened,
    text,
)

A = "agents/a"


@pytest.fixture
def path(tmp_path):
    with opened(tmp_path / "store") as agent:
        fill(agent, 0, 300)
        agent.checkpoint()
        fill(agent, 300, 20)
    return tmp_path / "store"


@pytest.fixture
def held(path):
    with opened(path, read_only=True) as agent:
        return contents(agent), answers(agent)


def flip(file, at=None):
    if file.name == "COMMIT":
        at = 0  # the rest of it is numbers: there is no telling which are wrong
    data = bytearray(file.read_bytes())
    data[len(data) // 2 if at is None else at] ^= 4
    file.write_bytes(data)


def plain_log(path):
    (log,) = (path / A / "log").glob("0*")
    if log.suffix == ".gz":
        log.with_suffix("").write_bytes(gzip.decompress(log.read_bytes()))
        log.unlink()
    return path / A / "log/00000001.jsonl"


def of_agent(path, **options):
    store, agent = recollex.doctor(path, "a", **options)
    assert store.agent is None and agent.agent == "a"
    return agent


def test_a_sound_store_is_left_as_it_is(path, held):
    before = {file: file.stat().st_mtime_ns for file in path.rglob("*") if file.is_file()}
    store, agent = recollex.doctor(path)
    assert (agent.operations, agent.memories, agent.found, agent.left) == (321, 320, (), ())
    assert store.found == () and store.ok and agent.ok
    assert before == {file: file.stat().st_mtime_ns for file in path.rglob("*") if file.is_file()}


@pytest.mark.parametrize(
    "victim", ["MANIFEST", "columns/id", "columns/text_offset", "segment-*/*", "COMMIT"]
)
@pytest.mark.parametrize("how", [flip, os.unlink])
def test_what_follows_from_the_log_is_built_again(path, held, victim, how):
    for file in sorted((path / A).glob(victim))[:1]:
        how(file)
    looked = of_agent(path, repair=False)
    if victim != "COMMIT" and (victim, how) != ("MANIFEST", os.unlink):
        assert looked.found and looked.left == looked.found
    mended = of_agent(path)
    assert mended.ok and len(mended.found) == len(looked.found)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with opened(path) as agent:
            assert_holds(agent, held)
    assert of_agent(path).found == ()


def test_a_torn_tail_is_cut_off(path, held):
    log = plain_log(path)
    with log.open("ab") as file:
        file.write(b'{"op":322,"at":')
    assert of_agent(path, repair=False).left == (
        "15 bytes after the last transaction of the log: it was never acknowledged",
    )
    assert of_agent(path).ok and of_agent(path).found == ()
    with opened(path) as agent:
        assert_holds(agent, held)


def test_a_damaged_log_is_named_and_its_beginning_saved(path, held, tmp_path, monkeypatch):
    log = plain_log(path)
    before = log.read_bytes()
    whole = before.index(b'{"op":302,')  # the first transaction has 300 memories
    flip(log, before.index(text(305).encode(), whole) + 3)
    damaged = log.read_bytes()
    found = of_agent(path)
    assert not found.ok and "chain" in found.found[0]
    assert "operations 1 to 301 before that are whole" in found.left[0]
    assert log.read_bytes() == damaged
    saved = of_agent(path, salvage=tmp_path / "saved")
    assert saved.salvaged == 301
    with opened(tmp_path / "saved") as agent:
        assert contents(agent) == held[0][:300] and agent.verify().ok
    with pytest.raises(InputError, match="another folder than the store itself"):
        recollex.doctor(path, salvage=path)


def test_vectors_of_a_model_are_made_again_and_given_ones_are_not(tmp_path):
    with opened(tmp_path / "model", embedder=Model()) as agent:
        agent.retain_many([text(n) for n in range(30)])
        held = contents(agent), answers(agent)
    flip(tmp_path / "model" / A / "vectors.f16")
    assert not of_agent(tmp_path / "model", repair=False, embedder=Model()).ok
    model = Model()
    mended = of_agent(tmp_path / "model", embedder=model)
    assert mended.ok and mended.found and model.embedded
    with opened(tmp_path / "model", embedder=Model()) as agent:
        assert_holds(agent, held)
    with opened(tmp_path / "given") as agent:
        fill(agent, 0, 30)
    flip(tmp_path / "given" / A / "vectors.f16")
    found = of_agent(tmp_path / "given")
    assert not found.ok and "given-32 cannot make them" in " ".join(found.left)


def test_an_erasure_that_was_begun_is_completed(path, monkeypatch):
    from recollex_engine.writing import erasure

    def fail(*_):
        raise KeyboardInterrupt

    with (
        pytest.raises((KeyboardInterrupt, StoreFullError)),
        opened(path) as agent,
        monkeypatch.context() as patched,
    ):
        patched.setattr(erasure, "rewrite_log", fail)
        agent.erase("m3", by="ann", why="asked")
    looked = of_agent(path, repair=False)
    assert not looked.ok
    assert of_agent(path).ok
    with opened(path) as agent:
        assert ("m3", text(3)) not in contents(agent) and agent.verify().ok


def test_an_open_agent_is_looked_at_and_left(path):
    flip(path / A / "columns/id")
    code = f"""
import recollex, sys, warnings
warnings.simplefilter("ignore")
store = recollex.open({str(path)!r}, embedder=recollex.GivenVectors({D}))
agent = store.agent("a"); print("open", flush=True); sys.stdin.read()
"""
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "open\n"
        found = of_agent(path)
        assert not found.ok and f"held by process {child.pid}" in found.left[0]
    finally:
        child.stdin.close()
        child.wait()
        child.stdout.close()
    assert of_agent(path).ok


def test_the_files_of_the_store_itself(path, tmp_path):
    (path / "store.json").unlink()
    assert recollex.doctor(path, repair=False)[0].left == ("store.json is missing",)
    assert recollex.doctor(path)[0].ok
    (path / "store.json").write_text("{")
    assert recollex.doctor(path)[0].ok
    assert json.loads((path / "store.json").read_text())["recollex_store"] == 1
    (path / ".new-xyz").mkdir()
    left = recollex.doctor(path, repair=False)[0].left
    assert "left by a copy that was interrupted" in left[0] and len(left) == 1
    assert recollex.doctor(path)[0].ok and not (path / ".new-xyz").exists()
    with pytest.raises(InputError, match="there is no store"):
        recollex.doctor(tmp_path / "none")
    with pytest.raises(InputError, match="no agent 'z'"):
        recollex.doctor(path, "z")
    assert np.all([each.ok for each in recollex.doctor(path)])
    shutil.rmtree(path)


@pytest.mark.parametrize("how", [flip, os.unlink])
def test_given_vectors_come_from_a_backup(path, held, tmp_path, how, monkeypatch):
    monkeypatch.setattr("recollex_engine.backup.agent_backup.VECTOR_ROWS", 128)
    monkeypatch.setattr("recollex_engine.backup.restoring.VECTOR_ROWS", 128)
    with recollex.open(path, read_only=True) as store:
        store.backup(tmp_path / "b")
    how(path / A / "vectors.f16")
    assert not of_agent(path).ok
    looked = of_agent(path, repair=False, backup=tmp_path / "b")
    assert looked.left[0].endswith("; backup 1 has its operations up to 321")
    kept = (tmp_path / "b/objects").rglob("*")
    victim = max(
        (each for each in kept if len(each.name) == 64), key=lambda each: each.stat().st_size
    )
    whole = victim.read_bytes()
    victim.write_bytes(whole[:-1])
    assert any(victim.name in each for each in of_agent(path, backup=tmp_path / "b").left)
    victim.write_bytes(whole)
    with pytest.raises(InputError, match="there is no backup at"):
        of_agent(path, backup=tmp_path / "none")
    mended = of_agent(path, backup=tmp_path / "b")
    assert mended.ok and mended.found
    with opened(path) as agent:
        assert_holds(agent, held)


def test_a_backup_says_what_it_has_of_a_damaged_log(path, tmp_path):
    with recollex.open(path, read_only=True) as store:
        store.backup(tmp_path / "b")
    log = plain_log(path)
    flip(log, log.read_bytes().index(text(305).encode()) + 3)
    found = of_agent(path, backup=tmp_path / "b")
    assert not found.ok and found.left[0].endswith("; backup 1 has its operations up to 321")
    recollex.restore(tmp_path / "b", tmp_path / "r")
    assert of_agent(tmp_path / "r").operations == 321
