"""Sealed pieces, the file KEY, and files of sealed pages."""

import gc
import os
import sys

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.errors import CorruptError, EncryptionError, FormatError, InputError
from recollex_engine.storage import content_file, encryption
from recollex_engine.storage.column import Column
from recollex_engine.storage.content_file import (
    map_content,
    read_arrays,
    read_content,
    write_arrays,
    write_content,
)
from recollex_engine.storage.dictionary import Dictionary
from recollex_engine.storage.encryption import (
    Cipher,
    bound_to,
    cipher_at,
    cipher_for_writing,
    create_key,
    open_key,
    purpose_of,
    replace_key,
    share_key,
    unlock,
)
from recollex_engine.storage.vectors_file import (
    HEADER_BYTES,
    VectorsReader,
    VectorsWriter,
    open_rows,
    row_bytes,
    seal_rows,
)

FIRST, SECOND = bytes(range(32)), bytes(range(1, 33))


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "agent"
    place.mkdir()
    return place


def flipped(data, at, bit=0):
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


@settings(deadline=None)
@given(st.binary(max_size=200), st.integers(0, 2**40), st.data())
def test_a_piece_opens_at_its_place_alone_and_unchanged_alone(plain, number, data):
    made = Cipher(FIRST)
    purpose, bound = purpose_of(b"log", number), bound_to(number)
    sealed = made.seal(purpose, plain, bound)
    assert len(sealed) == len(plain) + encryption.OVERHEAD
    assert Cipher(FIRST).open(purpose, sealed, bound) == plain
    assert made.open(purpose, sealed, bound_to(number + 1)) is None
    assert made.open(purpose_of(b"vectors", number), sealed, bound) is None
    assert Cipher(SECOND).open(purpose, sealed, bound) is None
    at = data.draw(st.integers(0, len(sealed) - 1))
    assert made.open(purpose, flipped(sealed, at, data.draw(st.integers(0, 7))), bound) is None
    assert made.open(purpose, sealed[:at], bound) is None
    assert made.seal(purpose, plain, bound) != sealed


def test_a_subkey_covers_2_to_the_20_numbers():
    assert purpose_of(b"log", (1 << 20) - 1) == purpose_of(b"log", 0) != purpose_of(b"log", 1 << 20)
    made = Cipher(FIRST)
    for number in range(0, 300 << 20, 1 << 20):  # more than are kept
        purpose = purpose_of(b"log", number)
        assert made.open(purpose, made.seal(purpose, b"x", b""), b"") == b"x"


def test_many_pieces_are_sealed_as_one_by_one():
    made, first = Cipher(FIRST), (1 << 20) - 3
    plain = [os.urandom(n) for n in range(7)]
    sealed = made.seal_each(b"log", first, plain)
    assert made.open_each(b"log", first, sealed) == plain
    for place, (piece, said) in enumerate(zip(sealed, plain, strict=True)):
        number = first + place
        assert made.open(purpose_of(b"log", number), piece, bound_to(number)) == said
    sealed[4] = flipped(sealed[4], 13)
    assert made.open_each(b"log", first, sealed) == [*plain[:4], None, *plain[5:]]
    assert made.open_each(b"log", first + 1, sealed) == [None] * 7
    assert made.seal_each(b"log", 0, []) == made.open_each(b"log", 0, []) == []


def test_a_key_opens_its_agent_alone(folder, tmp_path):
    held = create_key(folder, FIRST)
    other = tmp_path / "other"
    other.mkdir()
    again = create_key(other, FIRST)
    assert not held.is_equal(again)  # each agent has a data key of its own
    assert unlock(folder, FIRST) is held and cipher_at(folder / "log" / "x") is held
    assert cipher_at(tmp_path / "x") is None and cipher_at(other / "x") is again
    for key, said in ((None, "is encrypted: give the key"), (SECOND, "is not the key of")):
        with pytest.raises(EncryptionError, match=said):
            unlock(folder, key)
    with pytest.raises(EncryptionError, match="has no KEY, so it is not encrypted"):
        open_key(tmp_path, FIRST)
    assert open_key(tmp_path, None) is None


def test_an_agent_is_unlocked_as_long_as_its_cipher_is_held(folder):
    held = create_key(folder, FIRST)
    write_content(folder / "MANIFEST", b"secret")
    del held
    gc.collect()
    assert cipher_at(folder / "x") is None
    for write in (
        lambda: write_content(folder / "MANIFEST", b"plain"),
        lambda: write_arrays(folder / "p", {}, {}),
        lambda: VectorsWriter(folder / "vectors.f16", 4),
        lambda: Column("<u4").persist(folder / "c", 0) or extended().persist(folder / "columns"),
        lambda: cipher_for_writing(folder / "log" / "00000001.jsonl"),
    ):
        with pytest.raises(EncryptionError, match="is encrypted: give the key"):
            write()
    for read in (read_content, map_content):
        with pytest.raises(EncryptionError):
            read(folder / "MANIFEST")
    assert sorted(path.name for path in folder.iterdir()) == ["KEY", "MANIFEST"]


def extended():
    column = Column("<u4")
    column.extend([1, 2, 3])
    return column


def test_another_key_takes_its_place(folder):
    held = create_key(folder, FIRST)
    write_content(folder / "MANIFEST", b"secret")
    replace_key(folder, FIRST, SECOND)
    with pytest.raises(EncryptionError):
        unlock(folder, FIRST)
    assert unlock(folder, SECOND) is held and bytes(read_content(folder / "MANIFEST")) == b"secret"
    with pytest.raises(EncryptionError):
        replace_key(folder, FIRST, SECOND)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda data: b"", CorruptError),
        (lambda data: b"[]", CorruptError),
        (lambda data: data.replace(b'"wrapped"', b'"wrapper"'), CorruptError),
        (lambda data: data.replace(b'"id":"', b'"id":"x'), CorruptError),
        (lambda data: data.replace(b":1,", b":7,"), FormatError),
        (lambda data: orjson.dumps(orjson.loads(data) | {"id": "00" * 16}), EncryptionError),
        (lambda data: orjson.dumps(orjson.loads(data) | {"wrapped": ""}), EncryptionError),
    ],
)
def test_a_damaged_key_is_named(folder, change, error):
    create_key(folder, FIRST)
    path = folder / "KEY"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(error, match="KEY"):
        unlock(folder, FIRST)


def test_a_copy_shares_the_key(folder, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    assert share_key(copy, folder) is None
    held = create_key(folder, FIRST)
    shared = share_key(copy, folder)
    assert shared is held and unlock(copy, FIRST) is held
    del held, shared
    gc.collect()
    with pytest.raises(EncryptionError):
        share_key(copy, folder)


def test_without_the_package_the_line_to_install_it_is_said(folder, monkeypatch):
    monkeypatch.setattr(encryption, "_library", None)
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    with pytest.raises(InputError, match=r"pip install 'recollex\[crypto\]'"):
        create_key(folder, FIRST)


# -- files of pages ----------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 100, 256, 257, 1000])
def test_a_file_of_pages_reads_back_and_any_change_is_named(folder, monkeypatch, size):
    monkeypatch.setattr(content_file, "PAGE_BYTES", 256)
    held, path, plain = create_key(folder, FIRST), folder / "MANIFEST", os.urandom(size)
    write_content(path, plain[:10], plain[10:], durable=False)
    assert bytes(read_content(path)) == plain == bytes(map_content(path))
    data = path.read_bytes()
    assert plain[:8] not in data or not size > 8
    for at in range(0, len(data), 1 + len(data) // 60):
        path.write_bytes(flipped(data, at, at % 8))
        with pytest.raises(CorruptError, match="MANIFEST: expected"):
            read_content(path)
    path.write_bytes(data + b"\0")
    with pytest.raises(CorruptError):
        read_content(path)
    path.write_bytes(plain)
    with pytest.raises(CorruptError, match="encrypted as its agent is"):
        read_content(path)
    del held


def test_pages_of_other_places_and_files_are_not_taken(folder, monkeypatch):
    monkeypatch.setattr(content_file, "PAGE_BYTES", 64)
    held = create_key(folder, FIRST)
    paths = [folder / "a", folder / "b"]
    for path in paths:
        write_content(path, b"")
        assert bytes(read_content(path)) == b""
        write_content(path, bytes(192))
    first, second = (path.read_bytes() for path in paths)
    page = (len(first) - 24) // 3
    pages = [first[24 + page * n : 24 + page * (n + 1)] for n in range(3)]
    for data in (
        first[:24] + pages[1] + pages[0] + pages[2],
        first[:24] + pages[0] + pages[0] + pages[2],
        first[:24] + second[24:],
    ):
        paths[0].write_bytes(data)
        with pytest.raises(CorruptError):
            read_content(paths[0])
    del held


def test_arrays_and_dictionaries_read_back(folder):
    held = create_key(folder, FIRST)
    arrays = {"rows": np.arange(1000, dtype=np.uint32), "none": np.empty(0, np.int64)}
    write_arrays(folder / "p", arrays, {"n": 1})
    found, meta = read_arrays(folder / "p")
    assert meta == {"n": 1} and all((found[name] == arrays[name]).all() for name in arrays)
    words = Dictionary()
    home = folder / "columns"
    home.mkdir()
    for generation, end in ((1, 900), (2, 1100), (3, 3000)):
        for number in range(words.count, end):
            words.intern(f"secret{number}")
        words.persist(home, "terms", generation)
        words.adopt(generation)
        again = Dictionary(home, "terms", end, generation)
        assert [again.get(f"secret{n}") for n in (0, end - 1)] == [0, end - 1]
        assert again.string(end // 2) == f"secret{end // 2}"
    assert not any(b"secret" in path.read_bytes() for path in home.iterdir())
    older = Dictionary(home, "terms", 900, 1)  # as a reader of an older manifest opens it
    assert older.get("secret899") == 899 and older.get("secret900") is None
    del held


def test_a_column_that_was_persisted_further_than_the_manifest_says_goes_on(folder):
    held, path = create_key(folder, FIRST), folder / "text"
    for fixed in (True, False):
        column = Column("<u4", fixed=fixed)
        column.extend(range(1000))
        column.persist(path)
        column.extend(range(1000, 1500))
        column.persist(path)
        again = Column("<u4", path, 1200, fixed=fixed)  # of a crash within a later checkpoint
        again.extend(range(7000, 7100))
        again.persist(path)
        expected = [*range(1200), *range(7000, 7100)]
        assert Column("<u4", path, 1300, fixed=fixed).array.tolist() == expected
        with pytest.raises(CorruptError):
            Column("<u4", path, 1301, fixed=fixed)
        path.unlink()
    del held


# -- vectors -----------------------------------------------------------------------------------


def test_rows_that_are_not_authentic_read_as_zeros(folder):
    held, path = create_key(folder, FIRST), folder / "vectors.f16"
    rows = np.random.default_rng(1).normal(size=(3000, 4)).astype(np.float16)
    with VectorsWriter(path, 4) as writer:
        writer.append(rows[:10])
        reader = VectorsReader(path, 4)
        early = reader.rows(10)
        writer.append(rows[10:])
        writer.rewind(2500)
        writer.append(rows[2500:])
        writer.sync()
        assert (reader.rows(3000) == rows).all() and (early == rows[:10]).all()
        assert not reader.rows(3000).flags.writeable
    size = row_bytes(4, sealed=True)
    data = bytearray(path.read_bytes())
    assert len(data) == HEADER_BYTES + 3000 * size
    data[HEADER_BYTES + 5 * size + 3] ^= 4
    moved = data[HEADER_BYTES + 7 * size : HEADER_BYTES + 8 * size]
    data[HEADER_BYTES + 8 * size : HEADER_BYTES + 9 * size] = moved
    path.write_bytes(data)
    found = VectorsReader(path, 4).rows(3000)
    assert np.flatnonzero((found != rows).any(1)).tolist() == [5, 8] and not found[[5, 8]].any()
    assert (open_rows(held, VectorsReader(path, 4).stored(9, 12), 4, 9) == rows[9:12]).all()
    assert not open_rows(held, seal_rows(held, rows[:2], 0), 4, 1).any()
    with pytest.raises(CorruptError, match="3001 rows"):
        VectorsReader(path, 4).rows(3001)
    del held, reader, writer
    gc.collect()
    with pytest.raises(EncryptionError):
        VectorsReader(path, 4).rows(1)


def test_encrypted_files_without_a_key_beside_them_are_damage(folder):
    held = create_key(folder, FIRST)
    write_content(folder / "MANIFEST", b"secret")
    with VectorsWriter(folder / "vectors.f16", 4) as writer:
        writer.append(np.ones((20, 4), np.float16))
    del held, writer
    gc.collect()
    (folder / "KEY").unlink()
    for read in (
        lambda: read_content(folder / "MANIFEST"),
        lambda: map_content(folder / "MANIFEST"),
        lambda: VectorsReader(folder / "vectors.f16", 4).rows(1),
    ):
        with pytest.raises(CorruptError, match="expected the file KEY of the agent"):
            read()


def test_plain_rows_of_an_encrypted_agent_are_damage(folder):
    with VectorsWriter(folder / "vectors.f16", 4) as writer:
        writer.append(np.ones((20, 4), np.float16))
    held = create_key(folder, FIRST)
    assert not VectorsReader(folder / "vectors.f16", 4).has_header()
    with pytest.raises(CorruptError, match="encrypted rows, found plain ones"):
        VectorsReader(folder / "vectors.f16", 4).rows(1)
    assert encryption.is_encrypted(folder)
    del held
