"""Every format that a file of a store ever had opens, and newer ones are refused.

The stores were written by `data/write_store.py` with a revision of its time; the numbers are those
of the last part that changed:

| store | revision | what it has |
|---|---|---|
| postings-1 | 591d3db | posting lists of passages |
| postings-2 | dc97aef | posting lists of memories |
| postings-3 | b981423 | with impact codes |
| postings-4 | 8a5e29b | in parts of 65,536 memories |
| log-2 | dd78a0b | a log that an erasure has rewritten |
| head-1 | b3f74ef | checksums in MANIFEST and COMMIT, HEAD, written_by in store.json |
| encrypted-1 | this file's own | an agent that is encrypted with the key `KEY` |
"""

import struct
import tarfile
import zlib
from pathlib import Path

import numpy as np
import orjson
import pytest

import recollex
from recollex_engine.errors import FormatError
from recollex_engine.state.manifest import Manifest, _checksum
from recollex_engine.state.postings import FORMAT
from recollex_engine.storage.array_file import read_arrays, write_arrays
from recollex_engine.storage.formats import VERSION, numbers, writer_of
from tests.engine.unchanged_folders import files, opens_without_a_change

STORES = sorted(Path(__file__).with_name("data").glob("store-*-[0-9].tar.gz"))
KEY = bytes(range(32))
NAMES = [path.name.removesuffix(".tar.gz").removeprefix("store-") for path in STORES]


def unpacked(archive, target):
    with tarfile.open(archive) as source:
        source.extraction_filter = getattr(tarfile, "data_filter", None)  # from Python 3.11.4 on
        source.extractall(target)
    return target / "store"


@pytest.fixture(params=STORES, ids=NAMES)
def folder(request, tmp_path):
    return unpacked(request.param, tmp_path)


def opened(folder, **options):
    key = KEY if (folder / "agents" / "ann" / "KEY").exists() else None
    return recollex.open(folder, embedder=recollex.GivenVectors(8), key=key, **options)


def holds(ann):
    assert [memory.id for memory in ann.list()] == ["m0", "m2", "m1"]
    assert [memory.text for memory in ann.history("m1")] == [
        "Ben plays the cello.",
        "Ben sold the cello.",
    ]
    assert (ann.get("m2").tags, ann.get("m2").metadata) == (("old",), {"place": 2})
    assert (ann.get("m2").source, ann.get("m2").role) == (None, None)
    assert ann.recall("Rome", query_embedding=np.eye(8)[2], tags=["old"])[0].id == "m2"
    assert ann.recall("cello", query_embedding=np.eye(8)[4])[0].text == "Ben sold the cello."
    assert ann.at(ann.get("m2").recorded_at).list()[-1].id == "m2"
    assert ann.verify().problems == ()


def test_there_is_a_store_of_each():
    postings = {f"postings-{number}" for number in range(1, 5)}
    assert {"encrypted-1", "head-1", "log-2"} | postings == set(NAMES)
    assert sum(path.stat().st_size for path in STORES) < 48_000


def test_it_opens_reads_and_verifies_without_a_change(folder):
    opens_without_a_change(folder, opened, holds)


def test_it_takes_writes_and_its_checkpoint_is_of_today(folder):
    with opened(folder) as store:
        ann = store.agent("ann")
        holds(ann)
        ann.retain("New.", id="new", embedding=np.eye(8)[6], source="user")
        ann.checkpoint()
    assert writer_of(folder) == VERSION
    assert (folder / "agents" / "ann" / "HEAD").exists()
    for path in folder.glob("agents/ann/segment-*/postings-*"):
        assert read_arrays(path)[1]["format"] == FORMAT
    with opened(folder, read_only=True) as store:
        ann = store.agent("ann")
        assert [memory.id for memory in ann.list()] == ["m0", "m2", "m1", "new"]
        assert ann.verify().ok


def test_everything_derived_is_made_again_from_its_log_and_vectors(folder):
    agent = folder / "agents" / "ann"
    for name in ("MANIFEST", "COMMIT", "HEAD"):
        (agent / name).unlink(missing_ok=True)
    for path in sorted(agent.glob("*/**/*"), reverse=True):
        if "log" not in path.relative_to(agent).parts:
            path.unlink()
    with opened(folder) as store:
        holds(store.agent("ann"))


# -- newer ones --------------------------------------------------------------------------------


@pytest.fixture
def today(tmp_path):
    folder = unpacked(STORES[NAMES.index("head-1")], tmp_path)
    with opened(folder) as store:  # with the columns of today, which may be more
        store.agent("ann").checkpoint()
    return folder


def replaced(name, before, after):
    def change(agent):
        path = agent / name
        data = path.read_bytes()
        assert data.count(before) >= 1
        path.write_bytes(data.replace(before, after, 1))

    return change


def byte(name, at):
    def change(agent):
        path = agent / name
        data = bytearray(path.read_bytes())
        assert data[at] == 1
        data[at] = 7
        path.write_bytes(data)

    return change


def manifest(agent):
    values = orjson.loads((agent / "MANIFEST").read_bytes())
    del values["sha256"]
    values["format"] = 7
    (agent / "MANIFEST").write_bytes(orjson.dumps(values | {"sha256": _checksum(values)}))


def postings(agent):
    [path] = agent.glob("segment-*/postings-*")
    arrays, meta = read_arrays(path)
    write_arrays(path, arrays, meta | {"format": 7})
    found = Manifest.read(agent)
    assert found is not None
    found.checksums.clear()
    found.write(agent)


def head(agent):
    slot = bytearray((agent / "HEAD").read_bytes()[:512])
    slot[8:16] = struct.pack("<Q", 7)
    slot[64:68] = struct.pack("<I", zlib.crc32(slot[:64]))
    (agent / "HEAD").write_bytes(bytes(slot) * 2)


def commit(agent):
    data = bytearray((agent / "COMMIT").read_bytes())
    data[8] = 7
    data[32:40] = struct.pack("<Q", zlib.crc32(data[:16]))
    (agent / "COMMIT").write_bytes(data)


def intent(agent):
    (agent / "ERASE").write_bytes(b'{"version":7}')


NEWER = {
    "store.json": replaced("../../store.json", b'"recollex_store":1', b'"recollex_store":7'),
    "log": replaced("log/00000001.jsonl", b'"recollex_log":2', b'"recollex_log":7'),
    "vectors": byte("vectors.f16", 8),
    "COMMIT": commit,
    "MANIFEST": manifest,
    "postings": postings,
    "HEAD": head,
    "ERASE": intent,
}
"""File -> a change that gives it a format of the future."""


@pytest.mark.parametrize("written_by", [None, "9.1.0"])
@pytest.mark.parametrize("file", NEWER)
def test_a_newer_format_is_refused_with_the_version_to_install(today, file, written_by):
    if written_by is not None:
        said = {"recollex_store": 1, "written_by": written_by}
        (today / "store.json").write_bytes(orjson.dumps(said))
    NEWER[file](today / "agents" / "ann")
    before = files(today)
    wanted = "pip install --upgrade recollex"
    if written_by is not None:
        wanted = "pip install 'recollex>=9.1.0'"
    with (
        pytest.raises(FormatError, match="has format 7, this recollex") as refused,
        opened(today) as store,
    ):
        store.agent("ann").retain("New.", embedding=np.eye(8)[6])
        store.agent("ann").recall("Rome", query_embedding=np.eye(8)[2])
    assert wanted in str(refused.value)
    changed = {path.name for path in today.rglob("*") if path.is_file() and
               before.get(path) != path.read_bytes()}  # fmt: skip
    assert changed <= {"LOCK", "store.json"}
    if file != "ERASE":  # a reader has no business with it
        with pytest.raises(FormatError), opened(today, read_only=True) as store:
            store.agent("ann").list()
            store.agent("ann").recall("Rome", query_embedding=np.eye(8)[2])


def test_the_newest_writer_stays_noted(today):
    said = {"recollex_store": 1, "written_by": "9.1.0"}
    (today / "store.json").write_bytes(orjson.dumps(said))
    with opened(today) as store:
        store.agent("ann").retain("New.", embedding=np.eye(8)[6])
    assert writer_of(today) == "9.1.0"
    (today / "store.json").write_bytes(b'{"recollex_store":1,"written_by":"0.0.9"}')
    with opened(today) as store:
        store.agent("ann").retain("Newer.", embedding=np.eye(8)[6])
    assert writer_of(today) == VERSION


@pytest.mark.parametrize("version", ["", "one", "1.x", "1.²", "1." + "9" * 40, "-1"])
def test_what_is_no_version_is_not_repeated(tmp_path, version):
    assert numbers(version) == ()
    (tmp_path / "store.json").write_bytes(orjson.dumps({"written_by": version}))
    assert writer_of(tmp_path) is None
