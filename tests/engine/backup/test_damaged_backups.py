"""Damage of a backup or of its store is named, and replaces nothing that is whole."""

import dataclasses
import gzip
import json
import shutil

import pytest

import recollex
from recollex_engine.backup import backup
from recollex_engine.backup.manifest import read_manifest, read_piece
from recollex_engine.backup.target import FolderTarget
from recollex_engine.errors import CorruptError
from tests.engine.backup.copying import back_up, files_of
from tests.engine.faults.small_store import fill, opened, vectors


@pytest.mark.parametrize("how", ["flipped", "lost", "cut"])
def test_damage_is_named_and_a_fresh_backup_mends_it(path, tmp_path, how):
    back_up(path, tmp_path / "b")
    objects = [p for p in sorted((tmp_path / "b/objects").rglob("*")) if p.is_file()]
    for number, victim in enumerate(objects[::4]):
        data = bytearray(victim.read_bytes())
        data[len(data) // 2] ^= 1
        victim.unlink()
        if how == "flipped":
            victim.write_bytes(data)
        elif how == "cut":
            victim.write_bytes(data[: len(data) // 2])
        found = recollex.verify_backup(tmp_path / "b")
        assert not found.ok and any(victim.name in problem for problem in found.problems)
        with pytest.raises(CorruptError, match=victim.name):
            recollex.restore(tmp_path / "b", tmp_path / f"r{number}")
        assert not (tmp_path / f"r{number}").exists()
        back_up(path, tmp_path / "b", fresh=True)
        assert recollex.verify_backup(tmp_path / "b").ok


def test_a_flipped_manifest_is_refused_and_the_former_one_serves(path, tmp_path):
    back_up(path, tmp_path / "b")
    back_up(path, tmp_path / "b")
    manifest = tmp_path / "b/backups/00000002.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"op": 41', b'"op": 40'))
    with pytest.raises(CorruptError, match="checksum"):
        recollex.restore(tmp_path / "b", tmp_path / "r")
    assert recollex.restore(tmp_path / "b", tmp_path / "r", number=1).agents == {"a": 41}
    assert back_up(path, tmp_path / "b").number == 3
    assert recollex.verify_backup(tmp_path / "b").ok


def test_a_store_that_lost_something_does_not_replace_its_backup(path, tmp_path):
    shutil.copytree(path, tmp_path / "older")
    with opened(path) as agent:
        fill(agent, 40, 5)
    back_up(path, tmp_path / "b")
    with pytest.raises(CorruptError, match=r"the 46 operations of the last backup.* 41 operations"):
        back_up(tmp_path / "older", tmp_path / "b")
    with opened(tmp_path / "older") as agent:
        fill(agent, 60, 9)
    with pytest.raises(CorruptError, match="of another history"):
        back_up(tmp_path / "older", tmp_path / "b")
    assert back_up(tmp_path / "older", tmp_path / "b", fresh=True).number == 2
    recollex.restore(tmp_path / "b", tmp_path / "r1", number=1)
    recollex.restore(tmp_path / "b", tmp_path / "r2")
    assert files_of(tmp_path / "r1") == files_of(path)
    assert files_of(tmp_path / "r2") == files_of(tmp_path / "older")


def test_an_agent_that_cannot_be_read_keeps_its_former_state(path, tmp_path):
    with recollex.open(path, embedder=recollex.GivenVectors(32)) as store:
        store.agent("b").retain("Tea.", id="tea", embedding=vectors(1, 1)[0])
    back_up(path, tmp_path / "b")
    with recollex.open(path, embedder=recollex.GivenVectors(32)) as store:
        for name in "ab":
            store.agent(name).retain("More tea.", id="more", embedding=vectors(2, 1)[0])
    log = sorted((path / "agents/b/log").iterdir())[0]
    log.write_bytes(log.read_bytes().replace(b"More tea", b"More ink"))
    run = back_up(path, tmp_path / "b")
    assert run.operations == 42 + 2 and run.new_operations == 1
    assert len(run.problems) == 1 and run.problems[0].startswith("b: ")
    assert recollex.restore(tmp_path / "b", tmp_path / "r", agents="b").agents == {"b": 2}


def test_a_log_that_lost_its_end_is_not_backed_up(path, tmp_path):
    with opened(path) as agent:
        fill(agent, 40, 1)
    log = sorted((path / "agents/a/log").glob("0*"))[-1]
    lines = (
        gzip.decompress(log.read_bytes()) if log.suffix == ".gz" else log.read_bytes()
    ).splitlines(True)
    log.unlink()
    (log.parent / log.name.removesuffix(".gz")).write_bytes(lines[0])
    with pytest.raises(CorruptError, match="operations up to 42"):
        back_up(path, tmp_path / "b")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("settings", {"embedding": "../../../evil"}),
        ("settings", {"dimension": "8"}),
        ("files", [[["../../etc/passwd", 10]]]),
        ("vectors", [["0" * 64, 1 << 60]]),
        ("vectors", 7),
        ("end", []),
    ],
)
def test_a_made_up_record_is_refused(path, tmp_path, field, value):
    back_up(path, tmp_path / "b")
    target = FolderTarget(tmp_path / "b")
    manifest = read_manifest(target, 1)
    record = json.loads(read_piece(target, manifest.agents["a"].record))
    record[field] = record[field] | value if isinstance(value, dict) else value
    objects = backup.Objects(target, None, fresh=True)
    piece = objects.add(json.dumps(record).encode(), True)
    entry = dataclasses.replace(manifest.agents["a"], record=piece)
    made_up = dataclasses.replace(manifest, agents={"a": entry})
    target.put(made_up.key, made_up.to_json)
    target.flush()
    with pytest.raises(CorruptError, match="the record of an agent"):
        recollex.restore(tmp_path / "b", tmp_path / "r")
    assert not recollex.verify_backup(tmp_path / "b").ok
    assert back_up(path, tmp_path / "b").number == 2
