"""A file of a newer format is refused, with the version to install, and stays as it is."""

import struct
import zlib

import orjson
import pytest

import recollex
from recollex_engine.domain.settings import Settings
from recollex_engine.errors import FormatError
from recollex_engine.state.manifest import Manifest, _checksum
from recollex_engine.storage.content_file import read_arrays, write_arrays
from recollex_engine.storage.formats import VERSION, numbers, writer_of
from tests.engine.data.write_store import PieceVectors, unpack
from tests.engine.unchanged_folders import files


def opened(folder, **options):
    return recollex.open(folder, embedder=PieceVectors(), **options)


@pytest.fixture
def today(tmp_path):
    return unpack(tmp_path)


def replaced(name, before, after):
    def change(agent):
        path = agent / name
        data = path.read_bytes()
        assert data.count(before) >= 1
        path.write_bytes(data.replace(before, after, 1))

    return change


def log(agent):
    path = agent / "log" / "00000001.jsonl"
    data = path.read_bytes()
    assert data.startswith(b'{"recollex_log":1,')
    path.write_bytes(data.replace(b'_log":1', b'_log":7', 1))


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
    "log": log,
    "vectors": byte("vectors-2.f16", 8),
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
        store.agent("ann").retain("New.")
        store.agent("ann").recall("Rome")
    assert wanted in str(refused.value)
    changed = {path.name for path in today.rglob("*") if path.is_file() and
               before.get(path) != path.read_bytes()}  # fmt: skip
    assert changed <= {"LOCK", "store.json"}
    if file != "ERASE":  # a reader has no business with it
        with pytest.raises(FormatError), opened(today, read_only=True) as store:
            store.agent("ann").list()
            store.agent("ann").recall("Rome")


def test_the_newest_writer_stays_noted(today):
    said = {"recollex_store": 1, "written_by": "9.1.0"}
    (today / "store.json").write_bytes(orjson.dumps(said))
    with opened(today) as store:
        store.agent("ann").retain("New.")
    assert writer_of(today) == "9.1.0"
    (today / "store.json").write_bytes(b'{"recollex_store":1,"written_by":"0.0.9"}')
    with opened(today) as store:
        store.agent("ann").retain("Newer.")
    assert writer_of(today) == VERSION


@pytest.mark.parametrize("version", ["", "one", "1.x", "1.²", "1." + "9" * 40, "-1"])
def test_what_is_no_version_is_not_repeated(tmp_path, version):
    assert numbers(version) == ()
    (tmp_path / "store.json").write_bytes(orjson.dumps({"written_by": version}))
    assert writer_of(tmp_path) is None


@pytest.mark.parametrize("field", ["format", "analyzer"])
def test_an_agent_of_another_format_or_analysis_is_refused(field):
    payload = Settings("m", 8, "english", 1, "words").to_payload()
    assert Settings.from_payload(payload).to_payload() == payload
    with pytest.raises(FormatError, match="has format 7, this recollex"):
        Settings.from_payload(payload | {field: 7})
