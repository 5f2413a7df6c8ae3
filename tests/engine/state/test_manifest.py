import dataclasses

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.domain.settings import Settings
from recollex_engine.errors import CorruptError, FormatError
from recollex_engine.log.format import Position
from recollex_engine.state.manifest import NAME, GraphEntry, Manifest, SegmentEntry, _checksum

SETTINGS = Settings("given-16", 16, "english", 1, "cl100k_base")
SEGMENT = SegmentEntry(0, 0, 16, "segment-0000/postings-3")
MANIFEST = Manifest(
    3,
    Position(2, 4711, 40, 1_700_000_000_000_000, bytes(range(32))),
    SETTINGS,
    {"id": 40, "text": 2**40},
    {"ids": 40, "terms": 7},
    (SEGMENT, SegmentEntry(1, 16, 20, "segment-0001/postings-3")),
    (GraphEntry("graphs/hnsw-0-12", 0, 12, 128),),
)


def test_what_was_written_is_read(tmp_path):
    assert Manifest.read(tmp_path) is None
    MANIFEST.write(tmp_path)
    assert Manifest.read(tmp_path) == MANIFEST
    later = dataclasses.replace(MANIFEST, generation=4, segments=())
    later.write(tmp_path)
    assert Manifest.read(tmp_path) == later
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


@settings(deadline=None)
@given(cut=st.integers(0, 10_000))
def test_a_part_of_a_manifest_is_never_taken_for_one(tmp_path_factory, cut):
    folder = tmp_path_factory.mktemp("m")
    MANIFEST.write(folder)
    whole = (folder / NAME).read_bytes()
    (folder / NAME).write_bytes(whole[: cut % len(whole)])
    with pytest.raises(CorruptError, match="MANIFEST"):
        Manifest.read(folder)


def test_another_format_says_what_to_do(tmp_path):
    MANIFEST.write(tmp_path)
    values = orjson.loads((tmp_path / NAME).read_bytes())
    values["format"] = 2
    (tmp_path / NAME).write_bytes(orjson.dumps(values))
    with pytest.raises(FormatError, match="format 2"):
        Manifest.read(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"columns": []},
        {"columns": {"text": -1}},
        {"columns": {"text": "7"}},
        {"dictionaries": {"ids": 1.5}},
        {"checksums": {"columns/text": None}},
        {"generation": "3"},
        {"segments": [{"number": 0, "first_row": 0, "end_row": None, "postings": "p"}]},
        {"segments": [{"number": 0, "first_row": 0, "end_row": 1, "postings": 7}]},
        {"graphs": [["hnsw", 0, 1]]},
        {"graphs": [{"path": None, "first_row": 0, "end_row": 1}]},
        {"settings": SETTINGS.to_payload() | {"dimension": "16"}},
        {"settings": SETTINGS.to_payload() | {"language": None}},
    ],
    ids=str,
)
def test_a_field_of_another_type_is_damage_also_with_its_checksum(tmp_path, change):
    MANIFEST.write(tmp_path)
    values = orjson.loads((tmp_path / NAME).read_bytes()) | change
    del values["sha256"]
    (tmp_path / NAME).write_bytes(orjson.dumps(values | {"sha256": _checksum(values)}))
    with pytest.raises(CorruptError, match="the fields of a manifest"):
        Manifest.read(tmp_path)
